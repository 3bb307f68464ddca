"""xz, unxz, xzcat."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec
from mirage.commands._packer import Words, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("dzkftcqveT:F:C:S:0123456789", {
    "decompress": ("d", NONE), "uncompress": ("d", NONE), "compress": ("z", NONE), "keep": ("k", NONE),
    "force": ("f", NONE), "test": ("t", NONE), "stdout": ("c", NONE), "to-stdout": ("c", NONE), "quiet": ("q", NONE),
    "verbose": ("v", NONE), "extreme": ("e", NONE), "threads": ("T", REQUIRED), "format": ("F", REQUIRED),
    "check": ("C", REQUIRED), "suffix": ("S", REQUIRED)},
    help="Usage: xz [OPTION]... [FILE]...\nCompress or decompress FILEs in the .xz format.\n", usage="xz: ")
WORDS = Words(".xz", "{}: {}", "{}: Is a directory, skipping", "{}: File exists", "{}: File format not recognized",
              "{}: File already has '.xz' suffix, skipping", 1, 2)


def main(proc: Process) -> int:
    return pack(proc, SPEC, WORDS, "xz", {"unxz": "d", "xzcat": "cd"})
