"""bzip2, bunzip2, bzcat."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec
from mirage.commands._packer import Words, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("dzkftcqvsLVh123456789", {
    "decompress": ("d", NONE), "compress": ("z", NONE), "keep": ("k", NONE), "force": ("f", NONE), "test": ("t", NONE),
    "stdout": ("c", NONE), "quiet": ("q", NONE), "verbose": ("v", NONE), "small": ("s", NONE), "fast": ("1", NONE),
    "best": ("9", NONE)}, help="   usage: bzip2 [flags and input files in any order]\n")
WORDS = Words(".bz2", "Can't open input file {}: {}.", "Input file {} is a directory.",
              "Output file {} already exists.",
              "{} is not a bzip2 file.", "Input file {} already has .bz2 suffix.", 2, 1)


def main(proc: Process) -> int:
    return pack(proc, SPEC, WORDS, "bzip2", {"bunzip2": "d", "bzcat": "cd"})
