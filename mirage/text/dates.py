"""Dates as people write them: the language of GNU `date -d` and `touch -d` (gnulib's parse_datetime)."""
from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from mirage.text import timezones

NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ("JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER",
           "NOVEMBER", "DECEMBER")
_DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")
_UNITS = {"YEAR": ("year", 1), "MONTH": ("month", 1), "FORTNIGHT": ("day", 14), "WEEK": ("day", 7), "DAY": ("day", 1),
          "HOUR": ("hour", 1), "MINUTE": ("minute", 1), "MIN": ("minute", 1), "SECOND": ("second", 1),
          "SEC": ("second", 1)}
_ORDINALS = {"LAST": -1, "THIS": 0, "NEXT": 1, "FIRST": 1, "THIRD": 3, "FOURTH": 4, "FIFTH": 5, "SIXTH": 6,
             "SEVENTH": 7, "EIGHTH": 8, "NINTH": 9, "TENTH": 10, "ELEVENTH": 11, "TWELFTH": 12}
_SHIFTS = {"TOMORROW": ("day", 1), "YESTERDAY": ("day", -1), "TODAY": ("day", 0), "NOW": ("second", 0)}
_ZONES = {"GMT": 0, "UT": 0, "UTC": 0, "WET": 0, "ART": -180, "BRT": -180, "NST": -210, "AST": -240, "CLT": -240,
          "EST": -300, "CST": -360, "MST": -420, "PST": -480, "AKST": -540, "HST": -600, "HAST": -600, "SST": -720,
          "WAT": 60, "CET": 60, "MET": 60, "MEZ": 60, "EET": 120, "CAT": 120, "SAST": 120, "EAT": 180, "MSK": 180,
          "IST": 330, "SGT": 480, "KST": 540, "JST": 540, "GST": 600, "NZST": 720}
_SUMMER = {"WEST": 60, "BST": 60, "BRST": -120, "NDT": -150, "ADT": -180, "CLST": -180, "EDT": -240, "CDT": -300,
           "MDT": -360, "PDT": -420, "AKDT": -480, "HADT": -540, "CEST": 120, "MEST": 120, "MESZ": 120, "EEST": 180,
           "MSD": 240, "NZDT": 780}
_TOKEN = re.compile(r"[ \t\n\r\v\f]*(?:([-+]?)[ \t\n]*([0-9]+)(?:[.,]([0-9]+))?|([A-Za-z][A-Za-z.]*)|(.))", re.DOTALL)
_AT = re.compile(r"@[ \t]*([-+]?)([0-9]+)(?:[.,]([0-9]+))?[ \t\n]*\Z")


class Token:
    """`kind` is n (unsigned number), s (signed number), w (word, upper case) or the character itself."""

    __slots__ = ("digits", "fraction", "kind", "text", "value")

    def __init__(self, kind: str, text: str, value: int = 0, digits: int = 0, fraction: str | None = None) -> None:
        self.kind = kind
        self.text = text
        self.value = value
        self.digits = digits
        self.fraction = fraction


def _tokens(text: str) -> list[Token]:
    out: list[Token] = []
    i = 0
    while i < len(text):
        found = _TOKEN.match(text, i)
        if found is None:
            break
        sign, digits, fraction, word, char = found.groups()
        i = found.end()
        if digits is not None:
            if len(digits) > 18:
                raise ValueError(text)
            value = -int(digits) if sign == "-" else int(digits)
            if fraction is not None and not _decimal_fits(out, sign):
                i -= len(fraction) + 1
                fraction = None
            out.append(Token("s" if sign else "n", digits, value, len(digits), fraction))
        elif word is not None:
            out.append(Token("w", word.upper()))
        elif char == "(":
            depth = 1
            while i < len(text) and depth:
                depth += {"(": 1, ")": -1}.get(text[i], 0)
                i += 1
        elif char not in "-+ \t\n\r\v\f":
            out.append(Token(char, char))
    return out


def _decimal_fits(before: list[Token], sign: str) -> bool:
    """A fraction is read after `:SS`, or at the start of a relative item; `1.2` elsewhere is an error later."""
    return not before or bool(sign) or before[-1].kind in (":", "w", "n", "s")


class _Parser:
    def __init__(self, text: str, now: datetime, now_ns: int) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.text = text
        self.now_ns = now_ns
        self.year: int | None = None
        self.year_digits = 0
        self.month = now.month
        self.day = now.day
        self.clock = (now.hour, now.minute, now.second, now_ns)
        self.dates = self.times = self.days = self.zones = 0
        self.weekday = self.weekday_ordinal = 0
        self.offset: int | None = None
        self.daylight_name = False
        self.relative: dict[str, int] = {}

    def fail(self) -> ValueError:
        return ValueError(self.text)

    def peek(self, ahead: int = 0) -> Token | None:
        n = self.at + ahead
        return self.tokens[n] if n < len(self.tokens) else None

    def kinds(self, pattern: str) -> bool:
        """Do the next tokens have these kinds? m: month name, u: unit, any other letter: itself."""
        for ahead, kind in enumerate(pattern):
            token = self.peek(ahead)
            if token is None:
                return False
            if kind == "m":
                if _month(token) is None:
                    return False
            elif kind == "u":
                if _unit(token) is None:
                    return False
            elif kind == "d":
                if _weekday(token) is None:
                    return False
            elif token.kind != kind:
                return False
        return True

    def run(self) -> None:
        while self.at < len(self.tokens):
            if not (self.time() or self.date() or self.relative_item() or self.weekday_item() or self.zone_item()
                    or self.number()):
                raise self.fail()
        if self.times > 1 or self.dates > 1 or self.days > 1 or self.zones > 1:
            raise self.fail()

    # ---- times

    def time(self) -> bool:
        first = self.peek()
        assert first is not None
        if first.kind == "w" and first.text == "T" and self.dates and self.kinds_after_t():
            self.at += 1
            first = self.peek()
            assert first is not None
        if first.kind != "n" or first.fraction is not None:
            return False
        following = self.peek(1)
        if following is not None and following.kind == "w" and (half := _meridian(following)) is not None:
            self.at += 2
            self.set_time(first.value, 0, 0, 0, half)
            return True
        if not self.kinds("n:n"):
            return False
        minute = self.tokens[self.at + 2]
        self.at += 3
        second, nanos = 0, 0
        if minute.fraction is not None:
            raise self.fail()
        if self.kinds(":n"):
            token = self.tokens[self.at + 1]
            second, nanos = token.value, _nanoseconds(token.fraction)
            self.at += 2
        following = self.peek()
        half = None
        if following is not None and following.kind == "w" and (half := _meridian(following)) is not None:
            self.at += 1
        elif following is not None and following.kind == "s":
            self.zone_offset(0)
        self.set_time(first.value, minute.value, second, nanos, half)
        return True

    def kinds_after_t(self) -> bool:
        following, colon = self.peek(1), self.peek(2)
        return following is not None and following.kind == "n" and colon is not None and colon.kind == ":"

    def set_time(self, hour: int, minute: int, second: int, nanos: int, half: str | None) -> None:
        if half is not None:
            if not 1 <= hour <= 12:
                raise self.fail()
            hour = hour % 12 + (12 if half == "P" else 0)
        if not (hour <= 23 and minute <= 59 and second <= 59):
            raise self.fail()
        self.clock = (hour, minute, second, nanos)
        self.times += 1

    def zone_offset(self, base: int) -> None:
        """A signed number as +hh, +hhmm or +hh:mm."""
        token = self.tokens[self.at]
        self.at += 1
        size = abs(token.value)
        minutes = size * 60 if token.digits <= 2 else size // 100 * 60 + size % 100
        if self.kinds(":n"):
            minutes = size * 60 + self.tokens[self.at + 1].value
            self.at += 2
        if minutes > 24 * 60:
            raise self.fail()
        sign = -1 if token.value < 0 else 1
        self.offset = base + sign * minutes
        self.zones += 1

    # ---- dates

    def date(self) -> bool:
        t = self.tokens[self.at:]
        if self.kinds("n/n"):
            if self.kinds("n/n/n"):
                a, b, c = t[0], t[2], t[4]
                self.at += 5
                if a.digits >= 4:
                    self.set_date(a.value, a.digits, b.value, c.value)
                else:
                    self.set_date(c.value, c.digits, a.value, b.value)
            else:
                self.at += 3
                self.set_date(None, 0, t[0].value, t[2].value)
            return True
        if self.kinds("nss") and t[1].value <= 0 and t[2].value <= 0 and t[0].fraction is None:
            self.at += 3
            self.set_date(t[0].value, t[0].digits, -t[1].value, -t[2].value)
            return True
        if self.kinds("nms"):
            self.at += 3
            self.set_date(-t[2].value, t[2].digits, _month(t[1]), t[0].value)
            return True
        if self.kinds("mss"):
            self.at += 3
            self.set_date(-t[2].value, t[2].digits, _month(t[0]), -t[1].value)
            return True
        if self.kinds("mn") and not self.kinds("mn:"):
            if self.kinds("mn,n"):
                self.at += 4
                self.set_date(t[3].value, t[3].digits, _month(t[0]), t[1].value)
            else:
                self.at += 2
                self.set_date(None, 0, _month(t[0]), t[1].value)
            return True
        if self.kinds("nm"):
            if self.kinds("nmn") and not self.kinds("nmn:") and not self.meridian_follows(3):
                self.at += 3
                self.set_date(t[2].value, t[2].digits, _month(t[1]), t[0].value)
            else:
                self.at += 2
                self.set_date(None, 0, _month(t[1]), t[0].value)
            return True
        return False

    def meridian_follows(self, ahead: int) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind == "w" and _meridian(token) is not None

    def set_date(self, year: int | None, digits: int, month: int | None, day: int) -> None:
        assert month is not None
        if year is not None:
            self.year, self.year_digits = year, digits
        self.month, self.day = month, day
        self.dates += 1

    # ---- relative items, weekdays, zones, numbers

    def relative_item(self) -> bool:
        token = self.peek()
        assert token is not None
        count: int | None = None
        nanos = 0
        used = 1
        unit = _unit(token)
        if token.kind == "w" and token.text in _SHIFTS:
            name, amount = _SHIFTS[token.text]
            self.at += 1
            self.add(name, amount)
            return True
        if unit is not None:
            count = 1
        elif token.kind in "ns" and self.peek(1) is not None:
            unit = _unit(self.tokens[self.at + 1])
            count, used = token.value, 2
            if unit is not None and token.fraction is not None:
                if unit[0] != "second":
                    raise self.fail()
                nanos = _nanoseconds(token.fraction)
                if token.value < 0:
                    nanos = -nanos
        elif token.kind == "w" and token.text in _ORDINALS and self.peek(1) is not None:
            unit = _unit(self.tokens[self.at + 1])
            count, used = _ORDINALS[token.text], 2
        if unit is None or count is None:
            return False
        self.at += used
        following = self.peek()
        sign = 1
        if following is not None and following.kind == "w" and following.text in ("AGO", "HENCE"):
            sign = -1 if following.text == "AGO" else 1
            self.at += 1
        self.add(unit[0], sign * count * unit[1])
        if nanos:
            self.add("nanosecond", sign * nanos)
        return True

    def add(self, unit: str, amount: int) -> None:
        self.relative[unit] = self.relative.get(unit, 0) + amount

    def weekday_item(self) -> bool:
        token = self.peek()
        assert token is not None
        day = _weekday(token)
        if day is not None:
            self.at += 1
            if self.kinds(","):
                self.at += 1
            ordinal = 0
        elif token.kind == "w" and token.text in _ORDINALS and self.peek(1) is not None:
            day, ordinal = _weekday(self.tokens[self.at + 1]), _ORDINALS[token.text]
            self.at += 2 if day is not None else 0
        elif token.kind == "n" and self.peek(1) is not None:
            day, ordinal = _weekday(self.tokens[self.at + 1]), token.value
            self.at += 2 if day is not None else 0
        else:
            return False
        if day is None:
            return False
        self.weekday, self.weekday_ordinal = day, ordinal
        self.days += 1
        return True

    def zone_item(self) -> bool:
        token = self.peek()
        assert token is not None
        if token.kind != "w":
            return False
        name = token.text.replace(".", "")
        if name in _ZONES:
            self.at += 1
            following = self.peek()
            if following is not None and following.kind == "s" and self._unit_after() is None:
                self.zone_offset(_ZONES[name])
                return True
            dst = following is not None and following.kind == "w" and following.text == "DST"
            self.at += dst
            self.offset = _ZONES[name] + (60 if dst else 0)
        elif name in _SUMMER:
            self.at += 1
            self.offset = _SUMMER[name]
        elif len(name) == 1 and name not in "JT":
            self.at += 1
            self.offset = military(name) * 60
        else:
            return False
        self.zones += 1
        return True

    def _unit_after(self) -> tuple[str, int] | None:
        token = self.peek(1)
        return _unit(token) if token is not None else None

    def number(self) -> bool:
        token = self.peek()
        assert token is not None
        if token.kind == "," and self.at:
            self.at += 1
            return True
        if token.kind != "n" or token.fraction is not None:
            return False
        self.at += 1
        if self.dates and self.year is None and not self.relative and (self.times or token.digits > 2):
            self.year, self.year_digits = token.value, token.digits
        elif token.digits > 4:
            self.set_date(token.value // 10000, token.digits - 4, token.value // 100 % 100, token.value % 100)
        else:
            hour, minute = (token.value, 0) if token.digits <= 2 else divmod(token.value, 100)
            self.set_time(hour, minute, 0, 0, None)
        return True


def military(letter: str) -> int:
    """Hours east of Greenwich of a one-letter zone."""
    if letter == "Z":
        return 0
    index = "ABCDEFGHIKLM".find(letter)
    if index >= 0:
        return index + 1
    return -("NOPQRSTUVWXY".index(letter) + 1)


def _nanoseconds(fraction: str | None) -> int:
    return int(fraction[:9].ljust(9, "0")) if fraction else 0


def _month(token: Token) -> int | None:
    if token.kind != "w":
        return None
    word = token.text.rstrip(".")
    if word == "SEPT":
        return 9
    for number, name in enumerate(_MONTHS, 1):
        if word == name or len(word) == 3 and name.startswith(word):
            return number
    return None


def _weekday(token: Token) -> int | None:
    if token.kind != "w":
        return None
    word = token.text.rstrip(".")
    word = {"TUES": "TUE", "WEDNES": "WED", "THUR": "THU", "THURS": "THU"}.get(word, word)
    for number, name in enumerate(_DAYS):
        if word == name or len(word) == 3 and name.startswith(word):
            return number
    return None


def _unit(token: Token) -> tuple[str, int] | None:
    if token.kind != "w":
        return None
    return _UNITS.get(token.text) or _UNITS.get(token.text.removesuffix("S"))


def _meridian(token: Token) -> str | None:
    return {"AM": "A", "A.M.": "A", "PM": "P", "P.M.": "P"}.get(token.text)


def parse(text: str, now_ns: int, zone: tzinfo) -> int:
    """Nanoseconds since the epoch of a text, seen at `now_ns` in `zone`; ValueError when it is no date."""
    prefix = re.match(r'[ \t]*TZ="((?:[^"\\]|\\.)*)"', text)
    if prefix:
        zone = timezones.find(re.sub(r"\\(.)", r"\1", prefix[1]))
        text = text[prefix.end():]
    stamp = _AT.match(text.strip())
    if stamp:
        value = int(stamp[2]) * NS + _nanoseconds(stamp[3])
        if len(stamp[2]) > 17:
            raise ValueError(text)
        return -value if stamp[1] == "-" else value
    try:
        now = (_EPOCH + timedelta(seconds=now_ns // NS)).astimezone(zone)
        parser = _Parser(text, now, now_ns % NS)
        parser.run()
        return _resolve(parser, now, zone)
    except OverflowError as e:
        raise ValueError(text) from e


def _resolve(p: _Parser, now: datetime, zone: tzinfo) -> int:
    year = now.year
    if p.year is not None:
        year = p.year
        if p.year_digits <= 2:
            year += 2000 if year < 69 else 1900
    if p.times or p.relative and not p.dates and not p.days:
        hour, minute, second, nanos = p.clock
    else:
        hour = minute = second = nanos = 0
    if p.offset is not None:
        zone = timezone(timedelta(minutes=p.offset))
        if not p.dates and not p.times:
            now = now.astimezone(zone)
            if p.relative and not p.days:
                hour, minute, second = now.hour, now.minute, now.second
            p.day, p.month = now.day, now.month
    when = datetime(year, p.month, p.day) + timedelta(hours=hour, minutes=minute, seconds=second)
    _check(when, zone)
    if p.days and not p.dates:
        weekday = (when.weekday() + 1) % 7
        ordinal = p.weekday_ordinal - (0 < p.weekday_ordinal and weekday != p.weekday)
        when += timedelta(days=(p.weekday - weekday + 7) % 7 + 7 * ordinal)
    r = p.relative
    if r.get("year") or r.get("month") or r.get("day"):
        months = when.year * 12 + when.month - 1 + r.get("year", 0) * 12 + r.get("month", 0)
        start = datetime(months // 12, months % 12 + 1, 1)
        when = start + timedelta(days=when.day - 1 + r.get("day", 0), hours=when.hour, minutes=when.minute,
                                 seconds=when.second)
    keep_fold = now.fold if r and not (p.dates or p.days or p.times) and when == now.replace(tzinfo=None) else 0
    seconds = (when.replace(tzinfo=zone, fold=keep_fold) - _EPOCH) // timedelta(seconds=1)
    seconds += r.get("hour", 0) * 3600 + r.get("minute", 0) * 60 + r.get("second", 0)
    return seconds * NS + nanos + r.get("nanosecond", 0)


def _check(when: datetime, zone: tzinfo) -> None:
    """A local time that the zone skips is no time."""
    aware = when.replace(tzinfo=zone)
    if aware.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != when:
        raise ValueError(str(when))
