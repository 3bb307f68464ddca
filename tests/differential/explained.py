"""Differences with a reason: what a case must look like for each, and why Mirage answers otherwise."""
from __future__ import annotations

import re

EXPLAINED: tuple[tuple[str, str, str], ...] = (
    (r"awk", r"x\[1\]", "gawk looks at the whole program to tell a scalar from an array: where one is used as both it names the other one in its error"),
    (r"shell|text", r"(?m)(^|[;&|({] *)(set|declare|typeset|local|export|env|printenv)\s*($|[;|<>&)])", "a listing of all variables shows the machine (HOSTNAME, ...)"),
    (r"stat|ls|find|text", r"\b(stat (?!.*-c)|ls -\w*[ls]|-ls\b|%s)", "sizes and inodes of directories, device numbers and change times are those of the file system"),
    (r"ls", r"\bls .*-\w*S", "directories have no size that could be the same"),
    (r"shell", r"\$\{[^}]*/[^}]*\[[!^]\]", "bash counts the length of a pattern with `[^]` or `[!]` and a bracket wrongly: such a substitution never matches"),
    (r"shell", r"\(.*\[[^]]*\]=[^)]*\{", "bash takes `[key]={a,b}` in an indexed array's list for two words without a key"),
)
"""(pattern of the kind of case, pattern found in the script, reason)."""


def reason(kind: str, script: str) -> str:
    """Why the answers to this script may differ; empty where they may not."""
    for kinds, pattern, text in EXPLAINED:
        if re.fullmatch(kinds, kind) and re.search(pattern, script):
            return text
    return ""
