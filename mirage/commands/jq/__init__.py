"""jq 1.7: a JSON processor. The language is compiled to closures (compiler.py); this module is the command line."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mirage.commands.jq.inputs import Inputs
    from mirage.commands.jq.options import Options
    from mirage.process.process import Process


def main(proc: Process) -> int:
    from mirage.commands.jq.options import parse_options
    return execute(proc, parse_options(proc))


def execute(proc: Process, options: Options) -> int:
    """Run the program over its inputs; the exit status."""
    from mirage.commands.jq.errors import CompileError, ModuleError
    from mirage.commands.jq.inputs import Inputs
    from mirage.commands.jq.modules import Modules
    from mirage.commands.jq.program import Run, compile_program
    inputs = Inputs(proc, options.operands, raw=options.raw_input, slurp=options.slurp, stream=options.stream,
                    sequence=options.sequence)
    run = Run(proc, inputs, Modules(proc, options.search), options.arguments())
    try:
        results = compile_program(run, options.program)
    except ModuleError as e:
        proc.write_error(f"jq: error: {e.message}\njq: 1 compile error\n")
        return 3
    except CompileError as e:
        lines = options.program.split("\n")
        shown = lines[e.line - 1] if 0 < e.line <= len(lines) else options.program
        proc.write_error(f"jq: error: {e.message} at <top-level>, line {e.line}:\n{shown}\njq: 1 compile error\n")
        return 3
    return process_inputs(proc, options, inputs, results)


def process_inputs(proc: Process, options: Options, inputs: Inputs, results: Callable[[Any], Iterable[Any]]) -> int:
    from mirage.commands.jq.errors import Halt, JqError, ParseError
    from mirage.commands.jq.output import Printer
    printer = Printer(proc, options)
    status = 0
    last: Any = printer                                      # stands for "no output at all"
    null_input: tuple[Any] | None = (None,) if options.null_input else None
    while True:
        try:
            value = null_input if options.null_input else inputs.next()
        except ParseError as e:
            proc.write_error(f"jq: parse error: {e}\n")
            status = 5
            break
        if value is None:
            break
        null_input = None
        try:
            for result in results(value[0]):
                printer.print(result)
                last = result
        except JqError as e:
            status = 5
            proc.write_error(error_text(e.value, inputs))
        except ParseError as e:
            proc.write_error(f"jq: parse error: {e}\n")
            status = 5
            break
        except Halt as e:
            proc.write_error(e.text)
            return e.status if e.status or not options.exit_status else exit_status(last, printer)
    if inputs.failed:
        return 2
    if status or not options.exit_status:
        return status
    return exit_status(last, printer)


def exit_status(last: Any, printer: object) -> int:
    """What -e makes of the last result: 4 for none, 1 for null and false."""
    return 4 if last is printer else 1 if last is None or last is False else 0


def error_text(value: Any, inputs: Inputs) -> str:
    from mirage.commands.jq.encode import dumps
    where = f"{inputs.where}:{inputs.line}" if inputs.where != "<unknown>" else inputs.where
    if type(value) is str:
        return f"jq: error (at {where}): {value}\n".encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return f"jq: error (at {where}) (not a string): {dumps(value)}\n"
