"""Cases that fail for a reason: (pattern of their ids, why). Whoever adds a row has looked at every case it covers."""
from __future__ import annotations

import re

TREE = "deliberate: `/` of a Terminal holds what every Terminal has (VFS.md, SKILL.md, the usual directories)"
JAIL = "the recorded answer is one of the machine it was recorded on"
TEXT = "deliberate: `help` is in our own words; bash's texts are under the GPL"

KNOWN: tuple[tuple[str, str], ...] = (
    (r"just-bash/unit/gzip/(compresses-multiple-files|writes-to-stdout-with-c)~.*", TREE),
    (r"just-bash-py/test_commands/(test_mv_file|test_gzip_compress_file)~.*", TREE),
    (r"mirage/bash/builtin/blt_ulimit_unsupported", JAIL + ": its limit of open files"),
    (r"just-bash/unit/process-substitution/does-not-accumulate.*", JAIL + ": descriptors that were open there"),
    (r"just-bash-py/test_redirects/test_dev_stdout", JAIL + ": /dev/stdout was a pipe of another user"),
    (r"mirage/unix/zgrep/zgrep_usage_exit", JAIL + ": its /bin/sh was bash (1); Debian's is dash, where zgrep ends with 2"),
    (r"just-bash/unit/find.printf/should-format-with-Tm-month", JAIL + ": the month of the recording, November"),
    (r"just-bash/unit/help/.*", TEXT),
    (r"just-bash-py/test_brace_expansion/test_mixed_case_sequence_is_literal",
     "deliberate: `{z..A}` goes over a backquote, which bash then reads as an unfinished command substitution"),
    (r"oils/var-op-patsub/331",
     "deliberate: bash counts the length of a pattern with `[^]]` wrongly, so that a substitution never matches"),
    (r"oils/array-literal/244", "bash expands braces in `[key]={a,b}` of an indexed array and forgets the key; we keep it"),
    (r"oils/nameref/556", 'a nameref to `a[@]`: `"$ref"` is one field here'),
    (r"just-bash-py/test_special_vars/test_seconds_is_number", "$SECONDS: a second may pass before it is looked at"),
    (r"onetrue-awk/T.latin1/5", "a bracket expression of bytes that are no UTF-8 matches them here, as it does in the C locale"),
    (r"bashkit/bash/cmd-suggestions/cmd_unavailable_pip",
     "deliberate: `pip` is there and says that nothing can be installed"),
    (r"just-bash-py/test_file/test_file_sqlite", "`file` takes a database header without pages for text"),
    (r"just-bash/comparison/process-substitution-parser/5b511c08d2ee319a",
     "LINENO inside `<(...)` over several lines: bash counts from where it has read the text again"),
)


def reason(case: str) -> str:
    """Why this case fails; empty when nobody knows."""
    return next((why for pattern, why in KNOWN if re.fullmatch(pattern, case)), "")
