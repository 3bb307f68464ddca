"""yq: query and change YAML, JSON and other formats (mikefarah's yq 4)."""
from __future__ import annotations

from mirage.commands._io import decode, encode, read_operand
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands.yq.node import Node
    from mirage.process.process import Process

USAGE = """Usage:
  yq [flags]
  yq [command]

Examples:

# yq defaults to 'eval' command if no command is specified. See "yq eval --help" for more examples.
# read the "stuff" node from "myfile.yml"
yq '.stuff' < myfile.yml

# update myfile.yml in place
yq -i '.stuff = "foo"' myfile.yml

Available Commands:
  eval             (default) Apply the expression to each document in each yaml file in sequence
  eval-all         Loads _all_ yaml documents of _all_ yaml files and runs expression once

Flags:
  -C, --colors                        force print with colors
  -e, --exit-status                   set exit status if there are no matches or null or false is returned
      --expression string             forcibly set the expression argument
      --from-file string              Load expression from specified file.
  -h, --help                          help for yq
  -I, --indent int                    sets indent level for output (default 2)
  -i, --inplace                       update the file in place of first file given.
  -p, --input-format string           [auto|yaml|json|props|csv|tsv|xml|toml] parse format for input. (default "auto")
  -M, --no-colors                     force print with no colors
  -N, --no-doc                        Don't print document separators (---)
  -0, --nul-output                    Use NUL char to separate values
  -n, --null-input                    Don't read input, simply evaluate the expression given.
  -o, --output-format string          [auto|yaml|json|props|csv|tsv|xml] output format type. (default "auto")
  -P, --prettyPrint                   pretty print, shorthand for '... style = ""'
  -j, --tojson                        (deprecated) output as json
  -r, --unwrapScalar                  unwrap scalar, print the value with no quotes, colors or comments (default true)
  -V, --version                       Print version information and quit
"""
FLAGS = {"C": "colors", "e": "exit-status", "h": "help", "i": "inplace", "M": "no-colors", "N": "no-doc",
         "0": "nul-output",
         "n": "null-input", "P": "prettyPrint", "j": "tojson", "r": "unwrapScalar", "V": "version", "v": "verbose"}
VALUES = {"I": "indent", "p": "input-format", "o": "output-format", "s": "split-exp", "f": "front-matter"}
LONG_VALUES = {*VALUES.values(), "expression", "from-file", "xml-attribute-prefix", "csv-separator",
               "header-preprocess"}
SHORT_FORMS = {"y": "yaml", "yml": "yaml", "j": "json", "p": "props", "c": "csv", "t": "tsv", "x": "xml",
               "properties": "props"}
FORMATS = ("auto", "yaml", "json", "props", "csv", "tsv", "xml", "toml")
EXTENSIONS = {"json": "json", "properties": "props", "csv": "csv", "tsv": "tsv", "xml": "xml", "toml": "toml"}


def fail(proc: Process, text: str) -> Exit:
    proc.stdout.flush()
    proc.write_error(f"Error: {text}\n")
    return Exit(1)


class Options:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.unwrap = True
        self.all = False


def _options(proc: Process) -> tuple[Options, list[str]]:
    o, operands, args, at = Options(), [], proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--":
            operands += args[at:]
            break
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            if name in LONG_VALUES:
                if not equals:
                    if at >= len(args):
                        raise _usage(proc, f"flag needs an argument: --{name}")
                    value = args[at]
                    at += 1
                o.values[name] = value
            elif name in FLAGS.values():
                _flag(o, name, value)
            else:
                raise _usage(proc, f"unknown flag: --{name}")
        elif arg.startswith("-") and len(arg) > 1:
            place = 1
            while place < len(arg):
                letter = arg[place]
                place += 1
                if letter in VALUES:
                    value = arg[place:].removeprefix("=")
                    if not value:
                        if at >= len(args):
                            raise _usage(proc, f"flag needs an argument: '{letter}' in {arg}")
                        value = args[at]
                        at += 1
                    o.values[VALUES[letter]] = value
                    break
                if letter not in FLAGS:
                    raise _usage(proc, f"unknown shorthand flag: '{letter}' in {arg}")
                rest = arg[place:]
                if rest.startswith("="):
                    _flag(o, FLAGS[letter], rest[1:])
                    break
                _flag(o, FLAGS[letter], "")
        else:
            operands.append(arg)
    if operands and operands[0] in ("e", "eval", "ea", "eval-all"):
        o.all = operands.pop(0) in ("ea", "eval-all")
    return o, operands


def _flag(o: Options, name: str, value: str) -> None:
    on = value.lower() not in ("false", "0", "f")
    if name == "unwrapScalar":
        o.unwrap = on
    elif on:
        o.flags.add(name)
    else:
        o.flags.discard(name)


def _usage(proc: Process, text: str) -> Exit:
    return fail(proc, f"{text}\n{USAGE.rstrip()}")


def _form(proc: Process, text: str) -> str:
    form = SHORT_FORMS.get(text, "auto" if text == "a" else text)
    if form not in FORMATS:
        raise fail(proc, f"unknown format '{text}' please use [{'|'.join(FORMATS)}]")
    return form


def main(proc: Process) -> int:
    from mirage.commands.yq.node import YqError
    o, operands = _options(proc)
    if "help" in o.flags or "version" in o.flags:
        proc.stdout.write(USAGE.encode() if "help" in o.flags else
                          b"yq (https://github.com/mikefarah/yq/) version v4.45.1 (Mirage)\n")
        return 0
    try:
        return Run(proc, o, operands).go()
    except YqError as e:
        raise fail(proc, str(e)) from None
    except RecursionError:
        raise fail(proc, "nested too deeply") from None


class Run:
    def __init__(self, proc: Process, o: Options, operands: list[str]) -> None:
        self.proc = proc
        self.o = o
        text = o.values.get("expression")
        if "from-file" in o.values:
            text = self.read(o.values["from-file"])
        if text is None:
            first = operands[0] if operands else ""
            if not operands or len(operands) == 1 and "null-input" not in o.flags and proc.fs.is_file(first):
                text = "."
            else:
                text = operands.pop(0)
        self.files = operands
        from mirage.commands.yq.parser import parse
        self.tree = parse(text)
        self.input = _form(proc, o.values.get("input-format", "auto"))
        self.output = "json" if "tojson" in o.flags else _form(proc, o.values.get("output-format", "auto"))
        indent = o.values.get("indent", "2")
        if not indent.isdecimal() or len(indent) > 3:
            raise fail(proc, f"invalid argument \"{indent}\" for \"-I, --indent\" flag: strconv.ParseInt: parsing "
                             f"\"{indent}\": invalid syntax")
        self.indent = int(indent)
        self.parts: list[str] = []
        self.last: tuple[int, int] | None = None
        self.matched = False

    def read(self, name: str) -> str:
        try:
            return decode(read_operand(self.proc, name))
        except OSError as e:
            text = {2: "no such file or directory", 13: "permission denied", 21: "is a directory"}.get(e.errno or 0,
                                                                                                      e.strerror or "")
            error = fail(self.proc, f"open {name}: {text}")
            self.proc.write_error(refusal_note(e))
            raise error from None

    def documents(self, number: int, name: str) -> list[Node]:
        from mirage.commands.yq.formats import decode_all
        form = self.input
        if form == "auto":
            form = EXTENSIONS.get(name.rpartition(".")[2], "yaml")
        if self.output == "auto":
            self.output = form if self.input == "auto" and form != "toml" else "yaml"
        text = self.read(name)
        self.proc.kernel.fits(len(text) * 20)
        found = decode_all(self.proc, text, form)
        for at, node in enumerate(found):
            node.document, node.file = at, number
        return found

    def go(self) -> int:
        from mirage.commands.yq.evaluate import Evaluator
        from mirage.commands.yq.node import null
        o, proc = self.o, self.proc
        evaluator = Evaluator(proc, self.files or ["-"], o.all)
        if "inplace" in o.flags and not self.files:
            raise fail(proc, "write in place flag only applicable when giving an expression and at least one file")
        if "null-input" in o.flags:
            self.emit(evaluator.run(self.tree, [null()]))
        elif o.all:
            nodes = [node for number, name in enumerate(self.files or ["-"]) for node in self.documents(number, name)]
            self.emit(evaluator.run(self.tree, nodes))
        else:
            for number, name in enumerate(self.files or ["-"]):
                for node in self.documents(number, name) or [null()]:
                    self.emit(evaluator.run(self.tree, [node]), node)
                if "inplace" in o.flags:
                    break
        if "inplace" in o.flags:
            text = "".join(self.parts)
            try:
                proc.fs.write(self.files[0], encode(text))
            except OSError as e:
                error = fail(proc, f"open {self.files[0]}: {(e.strerror or '').lower()}")
                proc.write_error(refusal_note(e))
                raise error from None
        if "exit-status" in o.flags and not self.matched:
            proc.stdout.flush()
            proc.write_error("Error: no matches found\n")
            return 1
        return 0

    def emit(self, nodes: list[Node], source: Node | None = None) -> None:
        from mirage.commands.yq.node import SCALAR
        from mirage.commands.yq.writer import encode as shown
        for node in nodes:
            top = node
            while top.parent is not None:
                top = top.parent
            origin = source if source is not None else top
            place = (origin.file, origin.document)
            if "prettyPrint" in self.o.flags:
                plain(node)
            if self.last is not None and place != self.last and "no-doc" not in self.o.flags \
                    and self.output in ("yaml", "auto"):
                text = "---\n"
                if "inplace" in self.o.flags:
                    self.parts.append(text)
                else:
                    self.proc.stdout.write(encode(text))
            self.last = place
            self.matched = self.matched or node.truth
            form = "yaml" if self.output == "auto" else self.output
            text = shown(node, form, self.indent, self.o.unwrap)
            if form == "json" and node.kind == SCALAR and node.tag == "!!str" and "unwrapScalar" in self.o.flags:
                text = node.value + "\n"
            text = text[:-1] + "\0" if "nul-output" in self.o.flags else text
            if "inplace" in self.o.flags:
                self.parts.append(text)
            else:
                self.proc.stdout.write(encode(text))
            self.proc.check()


def plain(node: Node) -> None:
    """-P: no flow style, no quotes that are not needed."""
    from mirage.commands.yq.node import MAP, SEQ
    stack = [node]
    while stack:
        one = stack.pop()
        one.style = ""
        if one.kind == MAP:
            for key, value in one.items:
                key.style = ""
                stack.append(value)
        elif one.kind == SEQ:
            stack += one.items
