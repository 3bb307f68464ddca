"""sqlite3: the SQLite shell over a database file of this terminal, which is held in memory and written back."""
from __future__ import annotations

import re
import shlex
import time

from mirage.commands._io import decode, encode, read_all
from mirage.commands._sqlite_output import MODES, Writer, identifier, literal
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from mirage.process.process import Process

VERSION = "3.46.1"
USAGE = """Usage: sqlite3 [OPTIONS] [FILENAME [SQL...]]
FILENAME is the name of an SQLite database. A new database is created
if the file does not previously exist. Defaults to :memory:.
OPTIONS include:
   -ascii               set output mode to 'ascii'
   -bail                stop after hitting an error
   -batch               force batch I/O
   -box                 set output mode to 'box'
   -cmd COMMAND         run "COMMAND" before reading stdin
   -column              set output mode to 'column'
   -csv                 set output mode to 'csv'
   -echo                print inputs before execution
   -[no]header          turn headers on or off
   -help                show this message
   -html                set output mode to HTML
   -init FILENAME       read/process named file
   -json                set output mode to 'json'
   -line                set output mode to 'line'
   -list                set output mode to 'list'
   -markdown            set output mode to 'markdown'
   -newline SEP         set output row separator. Default: '\\n'
   -nullvalue TEXT      set text string for NULL values. Default ''
   -quote               set output mode to 'quote'
   -readonly            open the database read-only
   -separator SEP       set output column separator. Default: '|'
   -table               set output mode to 'table'
   -tabs                set output mode to 'tabs'
   -version             show SQLite version
"""
HELP = """.backup ?DB? FILE        Backup DB (default "main") to FILE
.bail on|off             Stop after hitting an error.  Default OFF
.changes on|off          Show number of rows changed by SQL
.databases               List names and files of attached databases
.dump ?OBJECTS?          Render database content as SQL
.echo on|off             Turn command echo on or off
.exit ?CODE?             Exit this program with return-code CODE
.headers on|off          Turn display of headers on or off
.help                    Show this message
.import FILE TABLE       Import data from FILE into TABLE
.indexes ?TABLE?         Show names of indexes
.mode ?MODE?             Set output mode
.nullvalue STRING        Use STRING in place of NULL values
.once FILE               Output for the next SQL command only to FILE
.open FILE               Close existing database and reopen FILE
.output ?FILE?           Send output to FILE or stdout if FILE is omitted
.print STRING...         Print literal STRING
.quit                    Stop interpreting input stream, exit if primary.
.read FILE               Read input from FILE
.save FILE               Write database to FILE
.schema ?PATTERN?        Show the CREATE statements matching PATTERN
.separator COL ?ROW?     Change the column and row separators
.show                    Show the current values for various settings
.tables ?TABLE?          List names of tables matching LIKE pattern TABLE
.width NUM1 NUM2 ...     Set minimum column widths for columnar output
"""
SEPARATORS = {"csv": ",", "tabs": "\t", "ascii": "\x1f", "quote": ",", "list": "|"}
FORBIDDEN_PRAGMAS = frozenset(("temp_store_directory", "data_store_directory", "hard_heap_limit", "soft_heap_limit",
                               "temp_store", "mmap_size", "module_list", "threads"))
FORBIDDEN_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"))


class Stop(Exception):
    """.quit and .exit, and the first error under -bail."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Shell:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.out = Writer()
        self.header_set = False
        self.bail = self.echo = self.changes = self.readonly = False
        self.path = ":memory:"
        self.original = b""
        self.wal = b""
        self.db: sqlite3.Connection | None = None
        self.target: str | None = None
        self.pending: list[bytes] = []
        self.once = False
        self.errors = 0
        self.line = 0

    # ---- the database

    def connect(self) -> sqlite3.Connection:
        if self.db is not None:
            return self.db
        import sqlite3
        db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        db.execute("PRAGMA temp_store=MEMORY")
        if self.path not in (":memory:", ""):
            self.load(db)
        limit = self.proc.kernel.limits.memory
        if limit:
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(limit // 4, 1_000_000_000))
            page = db.execute("PRAGMA page_size").fetchone()[0] if not self.original else 4096
            db.execute(f"PRAGMA max_page_count={max(1, limit // 2 // page)}")
        db.set_authorizer(self.allowed)
        db.set_progress_handler(self.interrupted, 20000)
        self.db = db
        return db

    def load(self, db: sqlite3.Connection) -> None:
        proc = self.proc
        try:
            if proc.fs.exists(self.path):
                size = proc.fs.stat(self.path).size or 0
                proc.kernel.fits(3 * size)
                self.original = proc.fs.read(self.path)
                self.readonly = self.readonly or not proc.fs.access(self.path, 2)
            elif not proc.fs.is_dir(proc.fs.abspath(self.path).rpartition("/")[0] or "/"):
                raise FileNotFoundError(2, "unable to open database file")
        except OSError as e:
            proc.stdout.flush()
            proc.write_error(f"Error: unable to open database \"{self.path}\": unable to open database file\n"
                             f"{refusal_note(e)}")
            raise Stop(1) from None
        data = self.original
        if data:
            self.wal = data[18:20]
            if self.wal == b"\2\2":
                data = data[:18] + b"\1\1" + data[20:]
            db.deserialize(data)

    @staticmethod
    def allowed(action: int, one: str | None, two: str | None, database: str | None, trigger: str | None) -> int:
        """What the authorizer answers: no other files, no extensions, no settings of the whole program."""
        if action == 24:                                     # SQLITE_ATTACH
            return 0 if one in ("", ":memory:") else 1
        if action == 19:                                     # SQLITE_PRAGMA
            return 1 if (one or "").lower() in FORBIDDEN_PRAGMAS and two is not None else 0
        if action == 31:                                     # SQLITE_FUNCTION
            return 1 if (two or "").lower() in FORBIDDEN_FUNCTIONS else 0
        return 0

    def interrupted(self) -> int:
        kernel = self.proc.kernel
        return int(kernel.stopped is not None or kernel.deadline is not None and time.monotonic() > kernel.deadline)

    def save(self) -> int:
        """Write the database back where it was changed."""
        if self.db is None or self.path in (":memory:", ""):
            return 0
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")
        # a database without a page cannot be serialized: SQLite says so in some versions only
        data = self.db.serialize() if self.db.execute("PRAGMA page_count").fetchone()[0] else b""
        if self.wal == b"\2\2":
            data = data[:18] + self.wal + data[20:]
        if data == self.original:
            return 0
        try:
            self.proc.fs.write(self.path, data)
        except OSError as e:
            self.proc.stdout.flush()
            self.proc.write_error(f"Error: unable to write database \"{self.path}\": {e.strerror}\n{refusal_note(e)}")
            return 1
        self.original = data
        return 0

    # ---- output

    def write(self, text: str) -> None:
        if self.target is None:
            self.proc.stdout.write(encode(text))
        else:
            self.pending.append(encode(text))

    def redirect(self, target: str | None) -> None:
        if self.target is not None and self.pending is not None:
            try:
                self.proc.fs.write(self.target, b"".join(self.pending))
            except OSError as e:
                self.proc.write_error(f"Error: cannot open \"{self.target}\"\n{refusal_note(e)}")
                self.errors += 1
        self.pending = []
        self.target = target if target not in ("stdout", "") else None

    def error(self, text: str) -> None:
        self.proc.stdout.flush()
        self.proc.write_error(text + "\n")
        self.errors += 1
        if self.bail:
            raise Stop(1)

    # ---- SQL

    def sql(self, text: str, from_file: bool = False) -> None:
        """Run the statements of a text; the first error ends them."""
        import sqlite3
        for statement, rest in split(text):
            try:
                self.statement(statement)
            except sqlite3.Warning as e:
                self.error(f"Error: {e}")
            except sqlite3.Error as e:
                self.proc.check()
                code = getattr(e, "sqlite_errorcode", 1)
                self.report(str(e), statement if from_file else rest, from_file, code)
                if not from_file or self.bail:
                    raise Stop(1 if from_file else code & 0xFF) from None
                return
            if self.once and self.target is not None:
                self.redirect(None)
                self.once = False

    def report(self, message: str, statement: str, from_file: bool, code: int) -> None:
        runtime = code not in (1, 26) or "constraint" in message
        if message == "not authorized":
            message += "\nmirage: a database here cannot attach other files, load extensions or change global settings"
        if code == 26:
            message += " (26)"
        if runtime:
            kind = f"Runtime error near line {self.line}" if from_file else "Error: stepping"
            suffix = f" ({code & 0xFF})" if code & 0xFF != 1 else ""
            self.error_text(f"{kind}{':' if from_file else ','} {message}{suffix}")
            return
        kind = f"Parse error near line {self.line}:" if from_file else "Error: in prepare,"
        self.error_text(f"{kind} {message}{pointer(message, statement)}")

    def error_text(self, text: str) -> None:
        bail, self.bail = self.bail, False
        self.error(text)
        self.bail = bail

    def statement(self, text: str) -> None:
        db = self.connect()
        if self.echo:
            self.write(text.strip() + "\n")
        if self.readonly and re.match(r"\s*(insert|update|delete|create|drop|alter|replace|vacuum|reindex)\b", text,
                                      re.I):
            import sqlite3
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorcode = 8
            raise error
        cursor = db.execute(text)
        if cursor.description is None:
            if self.changes:
                self.write(f"changes: {max(cursor.rowcount, 0)}   total_changes: {db.total_changes}\n")
            return
        names = [column[0] for column in cursor.description]
        if re.match(r"\s*explain\s+query\s+plan\b", text, re.IGNORECASE) and len(names) == 4:
            self.write(_plan(cursor.fetchall()))
            return
        if self.out.whole:
            rows: list[Any] = []
            while block := cursor.fetchmany(1000):
                rows += block
                self.proc.kernel.fits(len(rows) * 200)
                self.proc.check()
            self.write(self.out.table_text(names, rows))
            return
        first = True
        while block := cursor.fetchmany(1000):
            self.write(self.out.rows(names, block, first))
            first = False
            self.proc.check()

    def query(self, text: str, *values: Any) -> list[Any]:
        return self.connect().execute(text, values).fetchall()

    # ---- input

    def feed(self, text: str) -> None:
        """The lines of a script: dot commands and SQL."""
        import sqlite3
        held = ""
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            if not held.strip() and line.startswith("."):
                self.line = number
                self.dot(line.strip())
                held = ""
                continue
            if not held.strip() and (not line.strip() or line.startswith("#")):
                continue
            if not held:
                self.line = number
            if held.strip() and line.strip().lower() in ("/", "go"):
                line = ";\n"
            held += line
            self.proc.kernel.fits(len(held))
            if ";" in line and sqlite3.complete_statement(held):
                self.sql(held, True)
                held = ""
            self.proc.check()
        if held.strip():
            self.sql(held, True)

    # ---- dot commands

    def dot(self, line: str) -> None:
        import sqlite3
        try:
            words = shlex.split(line[1:])
        except ValueError:
            words = line[1:].split()
        if not words:
            return
        name, arguments = words[0], words[1:]
        found = [full for full in COMMANDS if full.startswith(name)]
        if not found or name != found[0] and len(name) < 2 and name not in ("q", "h"):
            if name in ("load", "shell", "system", "cd", "excel", "archive", "www"):
                self.error(f"Error: .{name} is not available in this terminal")
                return
            self.error(f"Error: unknown command or invalid arguments:  \"{name}\". Enter \".help\" for help")
            if not self.line:
                raise Stop(1)
            return
        command = name if name in COMMANDS else found[0]
        try:
            getattr(self, f"do_{command}")(arguments)
        except sqlite3.Error as e:
            self.error(f"Error: {e}")
        except OSError as e:
            self.error(f"Error: cannot open \"{arguments[0] if arguments else ''}\"")
            self.proc.write_error(refusal_note(e))

    def do_headers(self, words: list[str]) -> None:
        self.out.header = _on(words)
        self.header_set = True

    def do_mode(self, words: list[str]) -> None:
        if not words:
            self.write(f"current output mode: {self.out.mode}\n")
            return
        words = [w for w in words if not w.startswith("--")]
        mode = {"columns": "column", "lines": "line", "tab": "tabs", "qbox": "box"}.get(words[0], words[0])
        found = [m for m in MODES if m.startswith(mode)]
        if not found:
            self.error("Error: mode should be one of: ascii box column csv html insert json line list markdown "
                       "qbox quote table tabs tcl ")
            return
        self.set_mode(found[0])
        if found[0] == "column" and not self.header_set:
            self.out.header = True
        if found[0] == "csv":
            self.out.row_end = "\r\n"
        if found[0] == "insert":
            self.out.table = words[1] if len(words) > 1 else "table"

    def set_mode(self, mode: str) -> None:
        self.out.mode = mode
        self.out.separator = SEPARATORS.get(mode, self.out.separator)
        self.out.row_end = "\x1e" if mode == "ascii" else "\n"

    def do_separator(self, words: list[str]) -> None:
        if words:
            self.out.separator = _escapes(words[0])
        if len(words) > 1:
            self.out.row_end = _escapes(words[1])

    def do_nullvalue(self, words: list[str]) -> None:
        self.out.null = words[0] if words else ""

    def do_width(self, words: list[str]) -> None:
        self.out.widths = [int(w) for w in words if re.fullmatch(r"-?[0-9]{1,4}", w)]

    def do_output(self, words: list[str]) -> None:
        self.redirect(words[-1] if words else None)

    def do_once(self, words: list[str]) -> None:
        self.redirect(words[-1] if words else None)
        self.once = True

    def do_print(self, words: list[str]) -> None:
        self.write(" ".join(words) + "\n")

    def do_quit(self, words: list[str]) -> None:
        raise Stop(0)

    def do_exit(self, words: list[str]) -> None:
        raise Stop(int(words[0]) & 255 if words and words[0].isdecimal() else 0)

    def do_help(self, words: list[str]) -> None:
        self.write(HELP)

    def do_bail(self, words: list[str]) -> None:
        self.bail = _on(words)

    def do_echo(self, words: list[str]) -> None:
        self.echo = _on(words)

    def do_changes(self, words: list[str]) -> None:
        self.changes = _on(words)

    def do_timer(self, words: list[str]) -> None:
        return

    do_timeout = do_eqp = do_explain = do_stats = do_timer

    def do_read(self, words: list[str]) -> None:
        before = self.line
        self.feed(decode(self.proc.fs.read(words[0] if words else "")))
        self.line = before

    def do_open(self, words: list[str]) -> None:
        names = [w for w in words if not w.startswith("--")]
        self.save()
        if self.db is not None:
            self.db.close()
        self.db, self.original, self.wal = None, b"", b""
        self.path = names[0] if names else ":memory:"

    def do_save(self, words: list[str]) -> None:
        self.proc.fs.write(words[-1], self.connect().serialize())

    do_backup = do_save

    def do_databases(self, words: list[str]) -> None:
        self.connect()
        path = '""' if self.path == ":memory:" else self.proc.fs.abspath(self.path)
        self.write(f"main: {path} {'r/o' if self.readonly else 'r/w'}\n")

    def do_tables(self, words: list[str]) -> None:
        pattern = words[0] if words else "%"
        names = [row[0]
                 for row in self.query("SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT "
                                              "LIKE 'sqlite\\_%' ESCAPE '\\' AND name LIKE ? ORDER BY 1", pattern)]
        self.write(_columns(names))

    def do_indexes(self, words: list[str]) -> None:
        names = [row[0] for row in self.query("SELECT name FROM sqlite_schema WHERE type='index' AND tbl_name LIKE ? "
                                              "ORDER BY 1", words[0] if words else "%")]
        self.write(_columns(names))

    do_indices = do_indexes

    def do_schema(self, words: list[str]) -> None:
        words = [w for w in words if not w.startswith("--")]
        pattern = words[0] if words else "%"
        for kind, name, text in self.query("SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL AND "
                                           "name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' AND tbl_name LIKE ? ORDER BY "
                                           "type='view', rowid" if words else
                                           "SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL AND ?='%' "
                                           "ORDER BY rowid", pattern):
            text = re.sub(r"\ACREATE TABLE (?=[\"'])", "CREATE TABLE IF NOT EXISTS ", text)
            tail = ""
            if kind == "view":
                names = [d[0] for d in self.connect().execute(f"SELECT * FROM {identifier(name)} LIMIT 0").description]
                tail = f"\n/* {name}({','.join(names)}) */"
            self.write(f"{text}{tail};\n")

    do_fullschema = do_schema

    def do_dump(self, words: list[str]) -> None:
        db = self.connect()
        self.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        rows = self.query("SELECT name, type, sql FROM sqlite_schema WHERE type='table' AND sql NOT NULL ORDER BY "
                          "tbl_name='sqlite_sequence', rowid")
        for name, _, text in rows:
            if words and name not in words:
                continue
            if name == "sqlite_sequence":
                self.write("DELETE FROM sqlite_sequence;\n")
            elif name.startswith("sqlite_"):
                continue
            else:
                text = re.sub(r"\ACREATE TABLE (?=[\"'])", "CREATE TABLE IF NOT EXISTS ", text)
                self.write(f"{text};\n")
            cursor = db.execute(f"SELECT * FROM {identifier(name)}")
            while block := cursor.fetchmany(1000):
                self.write("".join(f"INSERT INTO {identifier(name)} VALUES({','.join(map(literal, row))});\n"
                                   for row in block))
                self.proc.check()
        for name, text in self.query("SELECT tbl_name, sql FROM sqlite_schema WHERE sql NOT NULL AND type IN "
                                     "('index','trigger','view') ORDER BY type COLLATE NOCASE DESC"):
            if not words or name in words:
                self.write(f"{text};\n")
        self.write("COMMIT;\n")

    def do_show(self, words: list[str]) -> None:
        self.connect()
        values = (("echo", "on" if self.echo else "off"), ("eqp", "off"), ("explain", "auto"),
                  ("headers", "on" if self.out.header else "off"), ("mode", self.out.mode),
                  ("nullvalue", f'"{self.out.null}"'), ("output", self.target or "stdout"),
                  ("colseparator", _c_string(self.out.separator)), ("rowseparator", _c_string(self.out.row_end)),
                  ("stats", "off"), ("width", " ".join(map(str, self.out.widths))), ("filename", self.path))
        self.write("".join(f"{name:>12}: {value}\n" for name, value in values))

    def do_import(self, words: list[str]) -> None:
        import csv
        import io
        names, skip, as_csv, at = [], 0, self.out.mode == "csv", 0
        separator = self.out.separator
        while at < len(words):
            word = words[at].replace("--", "-")
            at += 1
            if word in ("-csv", "-ascii"):
                as_csv, separator = True, ","
            elif word == "-skip":
                skip = int(words[at]) if at < len(words) and words[at].isdecimal() else 0
                at += 1
            elif word not in ("-v",):
                names.append(words[at - 1])
        if len(names) < 2:
            self.error("ERROR: missing FILE or TABLE argument. Usage:\n"
                       ".import FILE TABLE       Import data from FILE into "
                       "TABLE")
            return
        text = decode(self.proc.fs.read(names[0]))
        self.proc.kernel.fits(len(text) * 8)
        rows = list(csv.reader(io.StringIO(text), delimiter=separator,
                               quoting=csv.QUOTE_MINIMAL if as_csv else csv.QUOTE_NONE))[skip:]
        rows = [row for row in rows if row]
        table, db = names[1], self.connect()
        exists = self.query("SELECT 1 FROM sqlite_schema WHERE name=?", table)
        if not exists:
            if not rows:
                return
            columns = ", ".join('"' + name.replace('"', '""') + '" TEXT' for name in rows.pop(0))
            quoted = '"' + table.replace('"', '""') + '"'
            db.execute(f"CREATE TABLE {quoted}(\n{columns})")
        count = len(db.execute(f"SELECT * FROM {identifier(table)} LIMIT 0").description)
        insert = f"INSERT INTO {identifier(table)} VALUES({','.join('?' * count)})"
        db.execute("BEGIN")
        for number, row in enumerate(rows, 1 + skip + (not exists)):
            if len(row) < count:
                self.error_text(f"{names[0]}:{number}: expected {count} columns but found {len(row)} - "
                                "filling the rest with NULL")
                self.errors -= 1
            elif len(row) > count:
                self.error_text(f"{names[0]}:{number}: expected {count} columns but found {len(row)} - extras ignored")
                self.errors -= 1
            db.execute(insert, [*row[:count], *[None] * (count - len(row))])
        db.execute("COMMIT")


COMMANDS = sorted(name[3:] for name in vars(Shell) if name.startswith("do_"))


def _on(words: list[str]) -> bool:
    return bool(words) and words[0].lower() in ("on", "yes", "1", "true")


def _escapes(text: str) -> str:
    return text.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r").replace("\\\\", "\\")


def _c_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def _columns(names: list[str]) -> str:
    """Names in columns of a line of 80 characters, as .tables shows them."""
    if not names:
        return ""
    width = max(map(len, names))
    columns = max(1, 80 // (width + 2))
    height = -(-len(names) // columns)
    return "".join("  ".join(name.ljust(width) for name in names[row::height]) + "\n" for row in range(height))


def _plan(rows: list[Any]) -> str:
    out = ["QUERY PLAN\n"]
    children: dict[int, list[Any]] = {}
    for node, parent, _, text in rows:
        children.setdefault(parent, []).append((node, text))

    def show(parent: int, indent: str) -> None:
        level = children.get(parent, [])
        for number, (node, text) in enumerate(level):
            last = number == len(level) - 1
            out.append(f"{indent}{'`--' if last else '|--'}{text}\n")
            if len(indent) < 300:
                show(node, indent + ("   " if last else "|  "))
    show(0, "")
    return "".join(out)


def split(text: str) -> list[tuple[str, str]]:
    """The statements of a text, each with what is left of the text from it on; comments and blanks alone are none."""
    import sqlite3
    out, start = [], 0
    for found in re.finditer(";", text):
        piece = text[start:found.end()]
        if sqlite3.complete_statement(piece):
            out.append((piece, text[start:]))
            start = found.end()
    if text[start:].strip():
        out.append((text[start:], text[start:]))
    return [(piece, rest) for piece, rest in out
            if re.sub(r"--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z)", "", piece, flags=re.DOTALL).strip(" \t\r\n;")]


def pointer(message: str, statement: str) -> str:
    """The statement and an arrow to the word that the message names."""
    found = re.search(r'near "(.*?)": syntax error|'
                      r'(?:no such column|no such function|no such table): (?:main\.)?(.*)\Z',
                      message, re.DOTALL)
    if not found or "no such table" in message:
        return ""
    word = found[1] or found[2]
    at = statement.find(word.split("\n")[0])
    if at < 0:
        return ""
    shown = statement.lstrip()
    at -= len(statement) - len(shown)
    if at > 50:
        shown, at = shown[at - 50:], 50
    shown = shown.replace("\n", " ").replace("\t", " ").rstrip()[:78]
    arrow = f"  {' ' * at}^--- error here" if at < 25 else f"  {' ' * (at - 14)}error here ---^"
    return f"\n  {shown}\n{arrow}"


def main(proc: Process) -> int:
    shell = Shell(proc)
    operands: list[str] = []
    before: list[str] = []
    args, at = proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            continue
        name = arg.lstrip("-")
        value = ""
        if name in ("separator", "nullvalue", "newline", "cmd", "init", "mmap", "lookaside", "vfs", "maxsize"):
            if at >= len(args):
                proc.write_error(f"{proc.name}: Error: missing argument to {arg}\n")
                return 1
            value = args[at]
            at += 1
        if name == "help":
            proc.stdout.write(USAGE.encode())
            return 0
        if name == "version":
            import sqlite3
            proc.stdout.write(f"{sqlite3.sqlite_version} (Mirage)\n".encode())
            return 0
        if name in MODES:
            shell.set_mode(name)
        elif name in ("header", "noheader"):
            shell.out.header = shell.header_set = name == "header"
        elif name == "separator":
            shell.out.separator = _escapes(value)
        elif name == "newline":
            shell.out.row_end = _escapes(value)
        elif name == "nullvalue":
            shell.out.null = value
        elif name == "cmd":
            before.append(value)
        elif name == "init":
            before.append(f".read {shlex.quote(value)}")
        elif name in ("bail", "echo", "readonly"):
            setattr(shell, name, True)
        elif name not in ("batch", "interactive", "safe", "stats", "nofollow", "mmap", "lookaside", "vfs", "maxsize",
                          "unsafe-testing"):
            proc.write_error(f"{proc.name}: Error: unknown option: -{name}\nUse -help for a list of options.\n")
            return 1
    if operands:
        shell.path = operands[0]
    return _run(proc, shell, before, operands[1:])


def _run(proc: Process, shell: Shell, before: list[str], statements: list[str]) -> int:
    status = 0
    try:
        for text in before + statements:
            if text.startswith("."):
                shell.dot(text)
            else:
                shell.sql(text)
        if not statements:
            shell.feed(decode(read_all(proc, proc.file(0))))
        status = 1 if shell.errors else 0
    except Stop as e:
        status = e.status
    except Exit as e:
        status = e.status
    if shell.target is not None:
        shell.redirect(None)
    return max(status, shell.save())
