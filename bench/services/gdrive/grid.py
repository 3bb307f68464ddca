"""Spreadsheets of the simulator: cells, A1 notation, a few formulas, values and batchUpdate."""
from __future__ import annotations

import copy
import re
from datetime import date, datetime, timedelta
from typing import Any

A1 = re.compile(r"\$?([A-Z]{1,3})?\$?([0-9]+)?(?::\$?([A-Z]{1,3})?\$?([0-9]+)?)?")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
CALL = re.compile(r"(SUM|AVERAGE|MIN|MAX|COUNT|COUNTA)\(([^()]*)\)", re.IGNORECASE)
CELL = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)")
EPOCH = datetime(1899, 12, 30)
Cell = dict[str, Any]
Range = tuple[int, int, int, int]                            # first row, first column, behind the last row and column


class SheetError(Exception):
    """An error of the API: HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def column_name(number: int) -> str:
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def column_number(name: str) -> int:
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - 64
    return number - 1


class Tab:
    """One sheet: `rows` are lists of cells, each empty or with userEnteredValue, effectiveValue, formattedValue."""

    def __init__(self, id: int, title: str, index: int, rows: int = 1000, columns: int = 26) -> None:
        self.properties: dict[str, Any] = {
            "sheetId": id, "title": title, "index": index, "sheetType": "GRID",
            "gridProperties": {"rowCount": rows, "columnCount": columns}}
        self.rows: list[list[Cell]] = []

    @property
    def title(self) -> str:
        return str(self.properties["title"])

    def cell(self, row: int, column: int) -> Cell:
        return self.rows[row][column] if row < len(self.rows) and column < len(self.rows[row]) else {}

    def put(self, row: int, column: int, cell: Cell) -> None:
        grid = self.properties["gridProperties"]
        grid["rowCount"], grid["columnCount"] = max(grid["rowCount"], row + 1), max(grid["columnCount"], column + 1)
        while len(self.rows) <= row:
            self.rows.append([])
        line = self.rows[row]
        while len(line) <= column:
            line.append({})
        line[column] = cell

    def enter(self, row: int, column: int, value: Any, parsed: bool = True) -> None:
        """What a user types into a cell; `parsed` False: texts stay texts."""
        self.put(row, column, entered(value, parsed))

    def compute(self) -> None:
        """Values of all formulas."""
        for _ in range(3):
            for line in self.rows:
                for cell in line:
                    formula = cell.get("userEnteredValue", {}).get("formulaValue")
                    if formula is not None:
                        cell.update(self._value(formula))

    def _value(self, formula: str) -> Cell:
        text = CALL.sub(lambda m: repr(self._aggregate(m.group(1).upper(), m.group(2))), formula[1:])
        text = CELL.sub(lambda m: repr(self._number(int(m.group(2)) - 1, column_number(m.group(1)))), text)
        if not re.fullmatch(r"[-+*/(). 0-9e]+", text):
            return {
                "effectiveValue": {"errorValue": {"type": "NAME", "message": "unknown"}},
                "formattedValue": "#NAME?",
            }
        try:
            number = float(_arithmetic(text))
        except (ZeroDivisionError, ValueError, IndexError):
            return {"effectiveValue": {"errorValue": {"type": "DIVIDE_BY_ZERO"}}, "formattedValue": "#DIV/0!"}
        return {"effectiveValue": {"numberValue": number}, "formattedValue": shown(number)}

    def _number(self, row: int, column: int) -> float:
        return float(self.cell(row, column).get("effectiveValue", {}).get("numberValue", 0))

    def _aggregate(self, name: str, text: str) -> float:
        found: list[float] = []
        filled = 0
        for part in text.split(","):
            top, left, bottom, right = self.range(part.strip())
            for row in range(top, min(bottom, len(self.rows))):
                for column in range(left, right):
                    value = self.cell(row, column).get("effectiveValue", {})
                    filled += bool(value)
                    if "numberValue" in value:
                        found.append(value["numberValue"])
        if name == "COUNTA":
            return filled
        if name == "COUNT":
            return len(found)
        if name == "AVERAGE":
            return sum(found) / len(found) if found else 0.0
        return {"SUM": sum(found), "MIN": min(found, default=0), "MAX": max(found, default=0)}[name]

    def range(self, text: str) -> Range:
        """A range of A1 notation without a tab; open ends go to the end of the grid."""
        grid = self.properties["gridProperties"]
        match = A1.fullmatch(text.upper())
        if match is None or not text:
            raise SheetError(400, f"Unable to parse range: {text}")
        c1, r1, c2, r2 = match.groups()
        single = ":" not in text
        top, left = int(r1) - 1 if r1 else 0, column_number(c1) if c1 else 0
        bottom = int(r2) if r2 else top + 1 if single and r1 else grid["rowCount"]
        right = column_number(c2) + 1 if c2 else left + 1 if single and c1 else grid["columnCount"]
        if top > bottom - 1 or left > right - 1 or bottom > grid["rowCount"] or right > grid["columnCount"]:
            if top >= grid["rowCount"] or left >= grid["columnCount"]:
                raise SheetError(400, f"Range ({self.title}!{text}) exceeds grid limits. Max rows: {grid['rowCount']}, "
                                      f"max columns: {grid['columnCount']}")
        return top, left, min(bottom, grid["rowCount"]), min(right, grid["columnCount"])

    def values(self, part: Range, render: str = "FORMATTED_VALUE") -> list[list[Any]]:
        """Values without what is empty at the ends."""
        top, left, bottom, right = part
        found = []
        for row in range(top, min(bottom, len(self.rows))):
            line = [_rendered(self.cell(row, column), render) for column in range(left, right)]
            while line and line[-1] == "":
                line.pop()
            found.append(line)
        while found and not found[-1]:
            found.pop()
        return found

    def resource(self, with_data: bool, part: Range | None = None) -> dict[str, Any]:
        found: dict[str, Any] = {"properties": copy.deepcopy(self.properties)}
        if with_data:
            top, left, bottom, right = part or (0, 0, len(self.rows), 10000)
            data: dict[str, Any] = {}
            if top:
                data["startRow"] = top
            if left:
                data["startColumn"] = left
            rows = [
                {"values": copy.deepcopy(line[left:right])} if line[left:right] else {}
                for line in self.rows[top:bottom]
            ]
            if rows:
                data["rowData"] = rows
            found["data"] = [data]
        return found


def entered(value: Any, parsed: bool = True) -> Cell:
    """The cell for a value."""
    if value is None or value == "":
        return {}
    if isinstance(value, bool):
        return {"userEnteredValue": {"boolValue": value}, "effectiveValue": {"boolValue": value},
                "formattedValue": str(value).upper()}
    if isinstance(value, int | float):
        return {"userEnteredValue": {"numberValue": value}, "effectiveValue": {"numberValue": value},
                "formattedValue": shown(float(value))}
    text = str(value)
    if parsed and text.startswith("="):
        return {"userEnteredValue": {"formulaValue": text}}
    if parsed and NUMBER.fullmatch(text):
        return {**entered(float(text) if "." in text else int(text)), "formattedValue": text}
    if parsed and text.upper() in ("TRUE", "FALSE"):
        return entered(text.upper() == "TRUE")
    day = DATE.fullmatch(text) if parsed else None
    if day is not None:
        return dated(date(*map(int, day.groups())))
    return {"userEnteredValue": {"stringValue": text}, "effectiveValue": {"stringValue": text}, "formattedValue": text}


def dated(day: date) -> Cell:
    """A date, shown as 2026-09-30."""
    number = (datetime(day.year, day.month, day.day) - EPOCH) // timedelta(days=1)
    return {"userEnteredValue": {"numberValue": number}, "effectiveValue": {"numberValue": number},
            "formattedValue": day.isoformat()}


def money(amount: float) -> Cell:
    """A sum in euros, shown as €1,234.50."""
    return {"userEnteredValue": {"numberValue": amount}, "effectiveValue": {"numberValue": amount},
            "formattedValue": f"€{amount:,.2f}"}


def shown(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.10g}"


def _rendered(cell: Cell, render: str) -> Any:
    if render == "FORMULA" and "formulaValue" in cell.get("userEnteredValue", {}):
        return cell["userEnteredValue"]["formulaValue"]
    if render in ("FORMULA", "UNFORMATTED_VALUE"):
        value = cell.get("effectiveValue", {})
        return next((v for v in value.values() if not isinstance(v, dict)), cell.get("formattedValue", ""))
    return cell.get("formattedValue", "")


def _arithmetic(text: str) -> float:
    """The value of + - * / and parentheses."""
    tokens = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?|[-+*/()]", text)

    def factor() -> float:
        token = tokens.pop(0)
        if token == "-":
            return -factor()
        if token == "(":
            value = expression()
            tokens.pop(0)
            return value
        return float(token)

    def term() -> float:
        value = factor()
        while tokens and tokens[0] in "*/":
            value = value * factor() if tokens.pop(0) == "*" else value / factor()
        return value

    def expression() -> float:
        value = term()
        while tokens and tokens[0] in "+-":
            value = value + term() if tokens.pop(0) == "+" else value - term()
        return value
    return expression()


class Spreadsheet:
    """All tabs of one spreadsheet."""

    def __init__(self, id: str, title: str) -> None:
        self.id = id
        self.title = title
        self.tabs: list[Tab] = []
        self.next_id = 0

    def add(self, title: str, rows: list[list[Any]] | None = None, index: int | None = None, id: int | None = None,
            size: tuple[int, int] = (1000, 26)) -> Tab:
        if any(tab.title == title for tab in self.tabs):
            raise SheetError(400, f'Invalid requests[0].addSheet: A sheet with the name "{title}" already exists. '
                                  "Please enter another name.")
        number = id if id is not None else self.next_id
        self.next_id = max(self.next_id, number) + 1
        tab = Tab(number, title, 0, *size)
        self.tabs.insert(len(self.tabs) if index is None else index, tab)
        for y, row in enumerate(rows or []):
            for x, value in enumerate(row):
                tab.put(y, x, dict(value) if isinstance(value, dict) else entered(value))
        tab.compute()
        self._number()
        return tab

    def _number(self) -> None:
        for index, tab in enumerate(self.tabs):
            tab.properties["index"] = index

    def tab(self, id: int) -> Tab:
        for tab in self.tabs:
            if tab.properties["sheetId"] == id:
                return tab
        raise SheetError(400, f"Invalid requests[0]: No grid with id: {id}")

    def locate(self, text: str) -> tuple[Tab, Range]:
        """The tab and part of `Tab!A1:B2`, `'A tab'`, or `A1:B2` of the first tab."""
        name, mark, part = text.rpartition("!")
        if not mark:
            bare = text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text
            for tab in self.tabs:
                if tab.title == bare:
                    grid = tab.properties["gridProperties"]
                    return tab, (0, 0, grid["rowCount"], grid["columnCount"])
            return self.tabs[0], self.tabs[0].range(text)
        if len(name) > 1 and name[0] == name[-1] == "'":
            name = name[1:-1].replace("''", "'")
        for tab in self.tabs:
            if tab.title == name:
                return tab, tab.range(part)
        raise SheetError(400, f"Unable to parse range: {text}")

    def name(self, tab: Tab, part: Range) -> str:
        title = tab.title if re.fullmatch(r"\w+", tab.title) else "'" + tab.title.replace("'", "''") + "'"
        top, left, bottom, right = part
        return f"{title}!{column_name(left)}{top + 1}:{column_name(right - 1)}{bottom}"

    def resource(self, with_data: bool = False, ranges: list[str] | None = None) -> dict[str, Any]:
        sheets = []
        if ranges:
            for text in ranges:
                tab, part = self.locate(text)
                sheets.append(tab.resource(with_data, part))
        else:
            sheets = [tab.resource(with_data) for tab in self.tabs]
        return {
            "spreadsheetId": self.id,
            "properties": {
                "title": self.title,
                "locale": "en_GB",
                "autoRecalc": "ON_CHANGE",
                "timeZone": "Europe/Stockholm",
            },
            "sheets": sheets,
            "spreadsheetUrl": f"https://docs.google.com/spreadsheets/d/{self.id}/edit",
        }

    def get(self, text: str, render: str) -> dict[str, Any]:
        tab, part = self.locate(text)
        values = tab.values(part, render)
        return {"range": self.name(tab, part), "majorDimension": "ROWS", **({"values": values} if values else {})}

    def update(self, text: str, values: list[list[Any]], parsed: bool) -> dict[str, Any]:
        tab, part = self.locate(text)
        top, left, bottom, right = part
        width = max((len(row) for row in values), default=0)
        if ":" in text and (len(values) > bottom - top or width > right - left):
            raise SheetError(
                400,
                f"Requested writing within range [{self.name(tab, part)}], but tried writing to "
                f"{'row' if len(values) > bottom - top else 'column'} "
                f"[{top + len(values) if len(values) > bottom - top else column_name(left + width - 1)}]",
            )
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                if value is not None:
                    tab.enter(top + y, left + x, value, parsed)
        tab.compute()
        cells = sum(len(row) for row in values)
        return {"spreadsheetId": self.id, "updatedRange": self.name(tab, (top, left, top + max(len(values), 1),
                                                                          left + max(width, 1))),
                "updatedRows": len(values), "updatedColumns": width, "updatedCells": cells}

    def append(self, text: str, values: list[list[Any]], parsed: bool) -> dict[str, Any]:
        tab, _ = self.locate(text)
        top = len(tab.rows)
        while top and not any(tab.rows[top - 1]):
            top -= 1
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                tab.enter(top + y, x, value, parsed)
        tab.compute()
        width = max((len(row) for row in values), default=1)
        return {"spreadsheetId": self.id, "updates": {
            "spreadsheetId": self.id, "updatedRange": self.name(tab, (top, 0, top + len(values), width)),
            "updatedRows": len(values), "updatedColumns": width, "updatedCells": sum(len(row) for row in values)}}

    def clear(self, text: str) -> dict[str, Any]:
        tab, part = self.locate(text)
        top, left, bottom, right = part
        for row in tab.rows[top:bottom]:
            for x in range(left, min(right, len(row))):
                row[x] = {}
        tab.compute()
        return {"spreadsheetId": self.id, "clearedRange": self.name(tab, part)}

    # ---- batchUpdate

    def batch(self, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """All requests, or none of them."""
        saved = copy.deepcopy((self.title, self.tabs, self.next_id))
        try:
            replies = []
            for number, request in enumerate(requests):
                (kind, body), = request.items()
                method = getattr(self, f"_{kind}", None)
                if method is None:
                    raise SheetError(400, f'Invalid JSON payload received. Unknown name "{kind}" at '
                                          f"'requests[{number}]': Cannot find field.")
                replies.append(method(body) or {})
            for tab in self.tabs:
                tab.compute()
            return replies
        except (SheetError, KeyError, TypeError, ValueError):
            self.title, self.tabs, self.next_id = saved
            raise

    def _addSheet(self, body: dict[str, Any]) -> dict[str, Any]:
        wanted = body.get("properties", {})
        grid = wanted.get("gridProperties", {})
        tab = self.add(wanted.get("title") or f"Sheet{len(self.tabs) + 1}", index=wanted.get("index"),
                       id=wanted.get("sheetId"), size=(grid.get("rowCount", 1000), grid.get("columnCount", 26)))
        return {"addSheet": {"properties": copy.deepcopy(tab.properties)}}

    def _deleteSheet(self, body: dict[str, Any]) -> None:
        if len(self.tabs) == 1:
            raise SheetError(400, "Invalid requests[0].deleteSheet: You can't remove all the sheets in a document.")
        self.tabs.remove(self.tab(body["sheetId"]))
        self._number()

    def _duplicateSheet(self, body: dict[str, Any]) -> dict[str, Any]:
        source = self.tab(body["sourceSheetId"])
        tab = self.add(body.get("newSheetName") or f"Copy of {source.title}", index=body.get("insertSheetIndex"))
        tab.rows = copy.deepcopy(source.rows)
        return {"duplicateSheet": {"properties": copy.deepcopy(tab.properties)}}

    def _updateSheetProperties(self, body: dict[str, Any]) -> None:
        wanted = body["properties"]
        tab = self.tab(wanted["sheetId"])
        for field in body["fields"].split(","):
            outer, _, inner = field.partition(".")
            if outer == "title" and any(t.title == wanted["title"] and t is not tab for t in self.tabs):
                raise SheetError(400, f'Invalid requests[0].updateSheetProperties: A sheet with the name '
                                      f'"{wanted["title"]}" already exists. Please enter another name.')
            if inner:
                tab.properties.setdefault(outer, {})[inner] = wanted[outer][inner]
            else:
                tab.properties[outer] = wanted[outer]

    def _updateSpreadsheetProperties(self, body: dict[str, Any]) -> None:
        self.title = body["properties"].get("title", self.title)

    def _insertDimension(self, body: dict[str, Any]) -> None:
        part = body["range"]
        tab, start, count = self.tab(part["sheetId"]), part["startIndex"], part["endIndex"] - part["startIndex"]
        grid = tab.properties["gridProperties"]
        if part["dimension"] == "ROWS":
            if start < len(tab.rows):
                tab.rows[start:start] = [[] for _ in range(count)]
            grid["rowCount"] += count
            return
        for row in tab.rows:
            if start < len(row):
                row[start:start] = [{} for _ in range(count)]
        grid["columnCount"] += count

    def _deleteDimension(self, body: dict[str, Any]) -> None:
        part = body["range"]
        tab, start, end = self.tab(part["sheetId"]), part["startIndex"], part["endIndex"]
        grid = tab.properties["gridProperties"]
        if part["dimension"] == "ROWS":
            del tab.rows[start:end]
            grid["rowCount"] -= end - start
            return
        for row in tab.rows:
            del row[start:end]
        grid["columnCount"] -= end - start

    def _appendDimension(self, body: dict[str, Any]) -> None:
        grid = self.tab(body["sheetId"]).properties["gridProperties"]
        grid["rowCount" if body["dimension"] == "ROWS" else "columnCount"] += body["length"]

    def _updateCells(self, body: dict[str, Any]) -> None:
        start = body.get("start") or {"sheetId": body["range"]["sheetId"],
                                      "rowIndex": body["range"].get("startRowIndex", 0),
                                      "columnIndex": body["range"].get("startColumnIndex", 0)}
        tab = self.tab(start["sheetId"])
        for y, row in enumerate(body.get("rows", [])):
            for x, cell in enumerate(row.get("values", [])):
                value = cell.get("userEnteredValue", {})
                tab.put(start.get("rowIndex", 0) + y, start.get("columnIndex", 0) + x,
                        entered(next(iter(value.values()), None), "formulaValue" in value))

    def _repeatCell(self, body: dict[str, Any]) -> None:
        """Formats are not kept."""
        self.tab(body["range"]["sheetId"])

    def _sortRange(self, body: dict[str, Any]) -> None:
        part = body["range"]
        tab = self.tab(part["sheetId"])
        top, bottom = part.get("startRowIndex", 0), part.get("endRowIndex", len(tab.rows))
        lines = tab.rows[top:bottom]
        for spec in reversed(body["sortSpecs"]):
            column = spec.get("dimensionIndex", 0)
            lines.sort(key=lambda row: _order(row[column] if column < len(row) else {}),
                       reverse=spec.get("sortOrder") == "DESCENDING")
        tab.rows[top:bottom] = lines

    def state(self) -> Any:
        return {
            "title": self.title,
            "tabs": {
                tab.title: [[c.get("userEnteredValue", {}) for c in row] for row in tab.rows] for tab in self.tabs
            },
        }

    def text(self) -> str:
        """What the index knows: titles and what is displayed."""
        return "\n".join(
            [
                self.title,
                *(tab.title for tab in self.tabs),
                *(c["formattedValue"] for tab in self.tabs for row in tab.rows for c in row if "formattedValue" in c),
            ]
        )


def _order(cell: Cell) -> tuple[int, float, str]:
    value = cell.get("effectiveValue", {})
    if "numberValue" in value:
        return 0, float(value["numberValue"]), ""
    return (1, 0.0, cell["formattedValue"].casefold()) if cell else (2, 0.0, "")
