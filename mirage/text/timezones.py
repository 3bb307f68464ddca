"""Time zones by the text of $TZ: names of the zone database, and POSIX rules such as EST5EDT,M3.2.0,M11.1.0."""
from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_POSIX = re.compile(r"([A-Za-z]{3,}|<[A-Za-z0-9+-]+>)([-+]?[0-9]{1,3}(?::[0-9]{1,2}){0,2})"
                    r"(?:([A-Za-z]{3,}|<[A-Za-z0-9+-]+>)([-+]?[0-9]{1,3}(?::[0-9]{1,2}){0,2})?(?:,(.+))?)?\Z")
_RULE = re.compile(r"(?:M([0-9]{1,2})\.([1-5])\.([0-6])|(J?)([0-9]{1,3}))(?:/([-+]?[0-9]{1,3}(?::[0-9]{1,2}){0,2}))?\Z")
_cache: dict[str, tzinfo] = {}


def find(name: str) -> tzinfo:
    """The zone that TZ=`name` selects; UTC for an empty or unknown name, as the C library does."""
    zone = _cache.get(name)
    if zone is None:
        if len(_cache) > 256:
            _cache.clear()
        zone = _cache[name] = _find(name)
    return zone


def _find(name: str) -> tzinfo:
    name = name.removeprefix(":")
    if name in ("", "UTC", "UTC0", "GMT0", "Z"):
        return UTC if name != "GMT0" else timezone(timedelta(0), "GMT")
    posix = _POSIX.match(name)
    if posix:
        zone = _posix_zone(posix)
        if zone is not None:
            return zone
    if re.fullmatch(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*", name):
        from zoneinfo import ZoneInfo
        try:
            return ZoneInfo(name)
        except (OSError, ValueError, LookupError):
            pass
    letters = re.match(r"[A-Za-z]{3,}", name)
    return timezone(timedelta(0), letters[0]) if letters and "/" not in name else UTC


def _seconds(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    parts = [int(p) for p in text.lstrip("+-").split(":")]
    return sign * sum(p * f for p, f in zip(parts, (3600, 60, 1)))


def _posix_zone(found: re.Match[str]) -> tzinfo | None:
    standard = timedelta(seconds=-_seconds(found[2]))
    if abs(standard) >= timedelta(hours=24):
        return None
    name = found[1].strip("<>")
    if not found[3]:
        return timezone(standard, name)
    daylight = timedelta(seconds=-_seconds(found[4])) if found[4] else standard + timedelta(hours=1)
    rules = (found[5] or "M3.2.0,M11.1.0").split(",")
    parsed = [_RULE.match(rule) for rule in rules]
    if len(parsed) != 2 or parsed[0] is None or parsed[1] is None:
        return None
    return PosixZone(name, standard, found[3].strip("<>"), daylight, parsed[0], parsed[1])


class PosixZone(tzinfo):
    """Standard and daylight time with the yearly rules of POSIX."""

    def __init__(self, name: str, standard: timedelta, dst_name: str, daylight: timedelta,
                 start: re.Match[str], end: re.Match[str]) -> None:
        self.names = (name, dst_name)
        self.offsets = (standard, daylight)
        self.rules = (start, end)

    def _switch(self, year: int, which: int) -> datetime:
        """Local time (of the offset before) of the switch to daylight (0) or standard time (1)."""
        rule = self.rules[which]
        if rule[1]:
            month, week, day = int(rule[1]), int(rule[2]), int(rule[3])
            first = datetime(year, month, 1)
            at = first + timedelta(days=(day - (first.weekday() + 1) % 7) % 7 + 7 * (week - 1))
            while at.month != month:
                at -= timedelta(days=7)
        else:
            number = int(rule[5])
            leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
            if rule[4]:
                number -= 1 if not (leap and number >= 60) else 0
            at = datetime(year, 1, 1) + timedelta(days=number)
        return at + timedelta(seconds=_seconds(rule[6]) if rule[6] else 7200)

    def _is_daylight(self, utc: datetime) -> bool:
        year = (utc + self.offsets[0]).year
        start = self._switch(year, 0) - self.offsets[0]
        end = self._switch(year, 1) - self.offsets[1]
        return start <= utc < end if start < end else not end <= utc < start

    def fromutc(self, dt: datetime) -> datetime:
        dst = self._is_daylight(dt.replace(tzinfo=None))
        local = dt + self.offsets[dst]
        repeated = not dst and self._is_daylight((local - self.offsets[1]).replace(tzinfo=None))
        return local.replace(fold=1 if repeated else 0)

    def _dst_of(self, dt: datetime | None) -> bool:
        if dt is None:
            return False
        naive = dt.replace(tzinfo=None, fold=0)
        as_dst = self._is_daylight(naive - self.offsets[1])
        as_standard = self._is_daylight(naive - self.offsets[0])
        if as_dst and not as_standard:
            return not dt.fold
        return as_dst

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return self.offsets[self._dst_of(dt)]

    def dst(self, dt: datetime | None) -> timedelta:
        return self.offsets[1] - self.offsets[0] if self._dst_of(dt) else timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return self.names[self._dst_of(dt)]
