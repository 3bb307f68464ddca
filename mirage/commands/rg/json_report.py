"""rg --json: one message a line."""
from __future__ import annotations

import base64
import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.commands.rg.report import Line, Report

NO_TIME = {"secs": 0, "nanos": 0, "human": "0.000000s"}


def text_of(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(data).decode()}


def emit(report: Report, kind: str, body: dict[str, Any]) -> None:
    line = json.dumps({"type": kind, "data": body}, ensure_ascii=False, separators=(",", ":"))
    report.stats["printed"] += len(line) + 1
    report.proc.stdout.write(line.encode() + b"\n")


def print_json(report: Report, shown: str, data: bytes, lines: list[Line]) -> None:
    """begin, match and context messages, end."""
    if not lines:
        return
    path = text_of(shown.encode("utf-8", "surrogateescape"))
    before = report.stats["printed"]
    emit(report, "begin", {"path": path})
    number, counted = 1, 0
    for kind, start, end, line in _messages(report, data, lines):
        number += data.count(b"\n", counted, start)
        counted = start
        body = {"path": path, "lines": text_of(data[start:end]), "line_number": number, "absolute_offset": start,
                "submatches": [{"match": text_of(data[s[0][0]:s[0][1]]), "start": s[0][0] - start,
                                "end": s[0][1] - start} for s in (line.matches if line is not None else [])]}
        emit(report, kind, body)
    count = sum(len(line.matches) for line in lines)
    emit(report, "end", {"path": path, "binary_offset": None, "stats": {
        "elapsed": NO_TIME, "searches": 1, "searches_with_match": 1, "bytes_searched": len(data),
        "bytes_printed": report.stats["printed"] - before, "matched_lines": len(lines), "matches": count}})


def _messages(report: Report, data: bytes, lines: list[Line]) -> list[tuple[str, int, int, Line | None]]:
    s = report.s
    out: list[tuple[str, int, int, Line | None]] = []
    printed = 0
    for i, line in enumerate(lines):
        begin = line.start
        for _ in range(s.before):
            if begin <= printed:
                break
            begin = data.rfind(b"\n", 0, begin - 1) + 1 if begin else 0
        while begin < line.start:
            end = data.find(b"\n", begin) + 1
            out.append(("context", begin, end, None))
            begin = end
        out.append(("match", line.start, line.end, line))
        printed = line.end
        following = lines[i + 1].start if i + 1 < len(lines) else len(data)
        for _ in range(s.after):
            if printed >= following:
                break
            end = data.find(b"\n", printed) + 1 or len(data)
            out.append(("context", printed, end, None))
            printed = end
    return out


def summary(report: Report) -> None:
    s = report.stats
    emit(report, "summary", {"elapsed_total": NO_TIME, "stats": {
        "bytes_printed": s["printed"], "bytes_searched": s["bytes"], "elapsed": NO_TIME,
        "matched_lines": s["matched_lines"], "matches": s["matches"], "searches": s["searched"],
        "searches_with_match": s["files"]}})
