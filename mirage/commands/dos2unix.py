"""dos2unix, unix2dos, mac2unix, unix2mac: convert line ends."""
from __future__ import annotations

import re

from mirage.commands._io import read_all
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """Usage: NAME [options] [file ...] [-n infile outfile ...]
 --allow-chown         allow file ownership change
 -ascii                default conversion mode
 -iso                  conversion between DOS and ISO-8859-1 character set
   -1252               use Windows code page 1252 (Western European)
   -437                use DOS code page 437 (US) (default)
   -850                use DOS code page 850 (Western European)
   -860                use DOS code page 860 (Portuguese)
   -863                use DOS code page 863 (French Canadian)
   -865                use DOS code page 865 (Nordic)
 -7                    convert 8 bit characters to 7 bit space
 -b, --keep-bom        keep Byte Order MarkKEEP
 -c, --convmode        conversion mode
   convmode            ascii, 7bit, iso, mac, default to ascii
 -e, --add-eol         add a line break to the last line if there isn't one
 -f, --force           force conversion of binary files
 -h, --help            display this help text
 -i, --info[=FLAGS]    display file information
   file ...            files to analyze
 -k, --keepdate        keep output file date
 -L, --license         display software license
 -l, --newline         add additional newline
 -m, --add-bom         add Byte Order Mark (default UTF-8)
 -n, --newfile         write to new file
   infile              original file in new-file mode
   outfile             output file in new-file mode
 --no-allow-chown      don't allow file ownership change (default)
 --no-add-eol          don't add a line break to the last line if there isn't one (default)
 -O, --to-stdout       write to standard output
 -o, --oldfile         write to old file (default)
   file ...            files to convert in old-file mode
 -q, --quiet           quiet mode, suppress all warnings
 -r, --remove-bom      remove Byte Order MarkREMOVE
 -s, --safe            skip binary files (default)
 -u,  --keep-utf16     keep UTF-16 encoding
 -ul, --assume-utf16le assume that the input format is UTF-16LE
 -ub, --assume-utf16be assume that the input format is UTF-16BE
 -v,  --verbose        verbose operation
 -F, --follow-symlink  follow symbolic links and convert the targets
 -R, --replace-symlink replace symbolic links with converted files
                         (original target files remain unchanged)
 -S, --skip-symlink    keep symbolic links and targets unchanged (default)
 -V, --version         display version number
"""
FLAGS = {"b": "b", "keep-bom": "b", "e": "e", "add-eol": "e", "no-add-eol": "", "f": "f", "force": "f", "k": "k",
         "keepdate": "k", "l": "l", "newline": "l", "m": "m", "add-bom": "m", "n": "n", "newfile": "n", "O": "O",
         "to-stdout": "O", "o": "o", "oldfile": "o", "q": "q", "quiet": "q", "r": "r", "remove-bom": "r", "s": "s",
         "safe": "s", "F": "F", "follow-symlink": "F", "R": "R", "replace-symlink": "R", "S": "S", "skip-symlink": "S",
         "v": "v", "verbose": "v", "ascii": "", "7": "7", "iso": "iso", "h": "h", "help": "h", "V": "V", "version": "V",
         "u": "", "keep-utf16": "", "allow-chown": "", "no-allow-chown": ""}
BOM = b"\xef\xbb\xbf"
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")


def main(proc: Process) -> int:
    job = Job(proc)
    names: list[str] = []
    args = proc.argv[1:]
    at = 0
    converted = False
    while at < len(args):
        arg = args[at]
        at += 1
        text = arg.lstrip("-") if arg.startswith("-") and len(arg) > 1 else ""
        if not text:
            names.append(arg)
            if "n" in job.flags and len(names) == 2:
                job.convert(names[0], names[1])
                names, converted = [], True
            elif "n" not in job.flags and arg != "--":
                names.clear()
                converted = True
                job.convert(arg, None)
            continue
        if text in ("c", "convmode"):
            mode = args[at] if at < len(args) else ""
            at += 1
            if mode not in ("ascii", "7bit", "iso", "mac"):
                proc.message(f"Conversion mode '{mode}' is not recognized; no conversion done.")
                return 1
            job.mac = job.mac or mode == "mac"
        elif re.match(r"i[0-9bdmuctehp]*\Z|info", text):
            job.info = text.removeprefix("info").removeprefix("=") if text.startswith("info") else text[1:]
        elif text not in FLAGS:
            proc.stdout.write(usage(proc))
            return 1
        elif FLAGS[text] in ("h", "V"):
            proc.stdout.write(usage(proc) if FLAGS[text] == "h" else f"{proc.name} 7.5.2 (Mirage)\n".encode())
            return 0
        else:
            key = FLAGS[text]
            if key in "no" and key:
                job.flags -= {"n", "o"}
            job.flags.add(key)
    if "n" in job.flags and names:
        proc.message("Target of file " + names[0] + " not specified in new-file mode.")
        return 1
    if not converted:
        job.stream()
    return job.status


def usage(proc: Process) -> bytes:
    """The help text; which treatment of a byte order mark is the default depends on the name."""
    dos = proc.name.startswith("unix2")
    text = HELP.replace("NAME", proc.name).replace("KEEP", " (default)" if dos else "")
    return text.replace("REMOVE", "" if dos else " (default)").encode()


class Job:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: set[str] = set()
        self.info: str | None = None
        self.to_dos = proc.name == "unix2dos"
        self.mac = proc.name.endswith("mac") or proc.name.startswith("mac")
        self.status = 0

    def say(self, text: str) -> None:
        if "q" not in self.flags:
            self.proc.message(text)

    def change(self, data: bytes) -> bytes:
        name, keep = self.proc.name, self.to_dos
        bom = data.startswith(BOM)
        if bom:
            data = data[3:]
        if name == "unix2mac":
            data = re.sub(rb"(?<!\r)\n", b"\r", data)
        elif self.mac:
            data = re.sub(rb"\r(?!\n)", b"\n\n" if "l" in self.flags else b"\n", data)
        elif self.to_dos:
            data = re.sub(rb"(?<!\r)\n", b"\r\n\r\n" if "l" in self.flags else b"\r\n", data)
        else:
            data = data.replace(b"\r\n", b"\n\n" if "l" in self.flags else b"\n")
        if "7" in self.flags:
            data = re.sub(rb"[\x80-\xff]", b" ", data)
        end = b"\r" if name == "unix2mac" else b"\r\n" if self.to_dos else b"\n"
        if "e" in self.flags and data and not data.endswith(end):
            data += end
        if "m" in self.flags or bom and (keep or "b" in self.flags) and "r" not in self.flags:
            data = BOM + data
        return data

    def binary(self, data: bytes, name: str) -> bool:
        found = _BINARY.search(data) if "f" not in self.flags else None
        if not found:
            return False
        line = data.count(b"\n", 0, found.start()) + 1
        self.say(f"Binary symbol 0x{found[0][0]:02X} found at line {line}")
        if name:
            self.say(f"Skipping binary file {name}")
        return True

    def stream(self) -> None:
        data = read_all(self.proc, self.proc.file(0))
        if self.info is not None:
            self.show(data, "")
            return
        if self.binary(data, ""):
            self.status = 1
            return
        self.proc.kernel.fits(2 * len(data))
        self.proc.stdout.write(self.change(data))

    def show(self, data: bytes, name: str) -> None:
        flags = self.info or ""
        dos = data.count(b"\r\n")
        unix, mac = data.count(b"\n") - dos, data.count(b"\r") - dos
        kind = "binary" if _BINARY.search(data) else "text  "
        if "c" in flags:
            wanted = unix if self.to_dos else dos
            if wanted and kind == "text  ":
                self.proc.stdout.write(f"{name}\n".encode())
            return
        parts = [f"{n:8d}" for letter, n in (("d", dos), ("u", unix), ("m", mac))
                 if letter in flags or not flags.strip("0hp")]
        bom = "UTF-8 " if data.startswith(BOM) else "no_bom"
        text = "".join(parts)
        if "b" in flags or not flags.strip("0hp"):
            text += f"  {bom}  "
        if "t" in flags or not flags.strip("0hp"):
            text += f"  {kind}  "
        self.proc.stdout.write(f"{text}{name}".rstrip().encode() + b"\n")

    def convert(self, name: str, target: str | None) -> None:
        proc, fs = self.proc, self.proc.fs
        kind = "Mac" if proc.name == "unix2mac" else "DOS" if self.to_dos else "Unix"
        try:
            stat = fs.stat(name)
            if not stat.is_file:
                self.say(f"Skipping {name}, not a regular file.")
                self.status = 2
                return
            if fs.stat(name, False).is_link and target is None and not self.flags & {"F", "R", "O"}:
                self.say(f"Skipping symbolic link {name}.")
                return
            data = fs.read(name)
            if self.info is not None:
                self.show(data, name)
                return
            if self.binary(data, name):
                return
            proc.kernel.fits(2 * len(data))
            changed = self.change(data)
            label = f"file {name} to file {target} in {kind}" if target else f"file {name} to {kind}"
            self.say(f"converting {label} format...")
            if "O" in self.flags:
                proc.stdout.write(changed)
                return
            if target is None and "R" in self.flags and fs.stat(name, False).is_link:
                fs.unlink(name)
            if target is not None or changed != data:
                fs.write(target or name, changed)
            if "k" in self.flags:
                fs.utime(target or name, stat.atime_ns, stat.mtime_ns)
        except OSError as e:
            self.say(f"{name}: {e.strerror}")
            if isinstance(e, FileNotFoundError):
                self.say(f"Skipping {name}, not a regular file.")
            proc.write_error(refusal_note(e))
            self.status = 2
