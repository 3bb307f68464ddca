"""awk, compatible with gawk 5.2.1: a program becomes Python source (generator.py), compiled once for each text."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from mirage.commands.awk.analysis import Analysis
    from mirage.commands.awk.options import Options
    from mirage.commands.awk.runtime import Runtime
    from mirage.commands.awk.tree import Program
    from mirage.process.process import Process

MAX_COMPILED = 64
_compiled: dict[Any, tuple[CodeType, list[Any], set[str], set[str], int, str]] = {}


def main(proc: Process) -> int:
    from mirage.commands.awk.errors import Fatal, SyntaxProblem
    from mirage.commands.awk.options import parse_options
    options = parse_options(proc)
    try:
        code, constants, names, arrays, ranges, warnings = compile_program(options)
    except SyntaxProblem as e:
        proc.write_error(e.text)
        return 1
    except Fatal as e:
        proc.write_error(f"awk: cmd. line:1: {'fatal' if e.status == 2 else 'error'}: {e.text}\n")
        return e.status
    if warnings:
        proc.write_error(warnings)
    return run(proc, options, code, constants, names, arrays, ranges)


def compile_program(options: Options) -> tuple[CodeType, list[Any], set[str], set[str], int, str]:
    """(code, constants, global names, names of arrays, number of ranges, warnings) of the sources; cached."""
    from mirage.commands.awk.errors import Fatal
    from mirage.commands.awk.generator import Generator
    key = tuple(options.sources)
    known = _compiled.get(key)
    if known is not None:
        return known
    try:
        program, warnings = parse_sources(options.sources)
        generator = Generator(program)
        source = generator.source()
        code = compile(source, "<awk>", "exec")
    except (RecursionError, MemoryError, SyntaxError, IndentationError):
        raise Fatal("program is nested too deeply", 2) from None
    analysis = generator.analysis
    check_regexes(analysis)
    warnings += analysis.warnings
    result = (code, generator.constants, analysis.globals, {name for owner, name in analysis.arrays if owner == ""},
              generator.ranges, warnings)
    if len(_compiled) >= MAX_COMPILED:
        _compiled.clear()
    _compiled[key] = result
    return result


def check_regexes(analysis: Analysis) -> None:
    """Regular expressions that the program spells out must be valid."""
    from mirage.commands.awk.errors import SyntaxProblem
    from mirage.commands.awk.regexes import RegexError, parse
    from mirage.commands.awk.tree import Regex
    for node in analysis.nodes(Regex):
        try:
            parse(node.source)
        except RegexError as e:
            raise SyntaxProblem(f"awk: cmd. line:1: error: {e}: /{node.source}/\n") from None


def parse_sources(sources: list[tuple[str, str]]) -> tuple[Program, str]:
    """One program of all -f and -e texts, and the warnings."""
    from mirage.commands.awk.parser import Parser
    from mirage.commands.awk.tree import Program
    program = Program([], {})
    warnings = ""
    for name, text in sources:
        parser = Parser(text, name, program)
        parser.parse()
        warnings += "".join(parser.lexer.warnings)
    return program, warnings


def run(proc: Process, options: Options, code: CodeType, constants: list[Any], names: set[str], arrays: set[str],
        ranges: int) -> int:
    from mirage.commands.awk.errors import Fatal
    from mirage.commands.awk.runtime import Runtime
    from mirage.text.regex import utf8_locale
    flags = options.flags
    encoding = "utf-8" if utf8_locale(proc.env) and "b" not in flags else "latin-1"
    runtime = Runtime(proc, encoding=encoding, posix="P" in flags, non_decimal_data="n" in flags)
    runtime.global_names, runtime.array_names = names, arrays
    runtime.ranges = [False] * ranges
    words = [proc.name, *options.operands]
    runtime.argv.update({str(n): runtime.input_value(word) for n, word in enumerate(words)})
    runtime.ARGC = float(len(words))
    status = 0
    try:
        scope: dict[str, Any] = {}
        exec(code, scope)
        if encoding != "utf-8":
            constants = [narrow(value) for value in constants]
        rules, functions, setter, getter = scope["make"](runtime, constants)
        runtime.rules, runtime.functions, runtime.set_global, runtime.get_global = rules, functions, setter, getter
        start(runtime, options)
        status = runtime.run()
        runtime.close_all()
    except Fatal as e:
        status = fail(runtime, e.text, e.status)
    except RecursionError:
        status = fail(runtime, "function calls are nested too deeply", 2)
    return status & 255


def narrow(value: Any) -> Any:
    """A constant in the C locale: each byte is a character."""
    if type(value) is str and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


def start(runtime: Runtime, options: Options) -> None:
    """-F and -v, before BEGIN."""
    from mirage.commands.awk.lexer import unescape
    if options.separator is not None:
        separator = unescape(options.separator)
        runtime.set_FS("\t" if options.separator == "t" else separator)
    for name, text in options.assignments:
        runtime.assign(name, text)


def fail(runtime: Runtime, text: str, status: int) -> int:
    runtime.flush_output()
    where = f"(FILENAME={runtime.FILENAME or '-'} FNR={runtime.FNR:.0f}) " if runtime.NR else ""
    runtime.process.write_error(f"awk: cmd. line:1: {where}fatal: {text}\n")
    try:
        runtime.close_all()
    except OSError:
        return status
    return status
