"""The tables of ``set -o`` and ``shopt``, with the defaults of ``bash -c``."""

from __future__ import annotations

SET_OPTIONS: tuple[tuple[str, str], ...] = (
    ("allexport", "a"), ("braceexpand", "B"), ("emacs", ""), ("errexit", "e"), ("errtrace", "E"), ("functrace", "T"),
    ("hashall", "h"), ("histexpand", "H"), ("history", ""), ("ignoreeof", ""), ("interactive-comments", ""),
    ("keyword", "k"), ("monitor", "m"), ("noclobber", "C"), ("noexec", "n"), ("noglob", "f"), ("nolog", ""),
    ("notify", "b"), ("nounset", "u"), ("onecmd", "t"), ("physical", "P"), ("pipefail", ""), ("posix", ""),
    ("privileged", "p"), ("verbose", "v"), ("vi", ""), ("xtrace", "x"),
)  # fmt: skip
"""(name, letter) as ``set -o`` lists them; the attribute of Options is the name with ``_`` for ``-``."""

LETTERS: dict[str, str] = {letter: name.replace("-", "_") for name, letter in SET_OPTIONS if letter}
NAMES: dict[str, str] = {name: name.replace("-", "_") for name, _ in SET_OPTIONS}
_ON = ("braceexpand", "hashall", "interactive_comments")
_DASH_ORDER = "abefhkmnptuvxBCEHPT"

_SHOPT = """
autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs checkwinsize cmdhist compat31 compat32
compat40 compat41 compat42 compat43 compat44 complete_fullquote direxpand dirspell dotglob execfail
expand_aliases extdebug extglob extquote failglob force_fignore globasciiranges globskipdots globstar
gnu_errfmt histappend histreedit histverify hostcomplete huponexit inherit_errexit interactive_comments
lastpipe lithist localvar_inherit localvar_unset login_shell mailwarn no_empty_cmd_completion nocaseglob
nocasematch noexpand_translation nullglob patsub_replacement progcomp progcomp_alias promptvars
restricted_shell shift_verbose sourcepath varredir_close xpg_echo
"""
_SHOPT_ON = """
checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots hostcomplete
interactive_comments patsub_replacement progcomp promptvars sourcepath
"""
SHOPT_DEFAULTS: dict[str, bool] = {name: name in _SHOPT_ON.split() for name in _SHOPT.split()}
"""In the order in which ``shopt`` lists them."""


class Options:
    """``set -o``: one bool attribute per option (``options.errexit``).

    command  True for ``bash -c`` (the ``c`` in ``$-``); stdin: True for ``bash -s`` (``s``); interactive: ``i``
    """

    __slots__ = (*NAMES.values(), "command", "interactive", "stdin")

    allexport: bool
    braceexpand: bool
    emacs: bool
    errexit: bool
    errtrace: bool
    functrace: bool
    hashall: bool
    histexpand: bool
    history: bool
    ignoreeof: bool
    interactive_comments: bool
    keyword: bool
    monitor: bool
    noclobber: bool
    noexec: bool
    noglob: bool
    nolog: bool
    notify: bool
    nounset: bool
    onecmd: bool
    physical: bool
    pipefail: bool
    posix: bool
    privileged: bool
    verbose: bool
    vi: bool
    xtrace: bool
    command: bool
    interactive: bool
    stdin: bool

    def __init__(self) -> None:
        for attribute in self.__slots__:
            setattr(self, attribute, False)
        for attribute in _ON:
            setattr(self, attribute, True)
        self.command = True

    def copy(self) -> Options:
        new = Options.__new__(Options)  # written out: every subshell does this
        new.allexport = self.allexport
        new.braceexpand = self.braceexpand
        new.emacs = self.emacs
        new.errexit = self.errexit
        new.errtrace = self.errtrace
        new.functrace = self.functrace
        new.hashall = self.hashall
        new.histexpand = self.histexpand
        new.history = self.history
        new.ignoreeof = self.ignoreeof
        new.interactive_comments = self.interactive_comments
        new.keyword = self.keyword
        new.monitor = self.monitor
        new.noclobber = self.noclobber
        new.noexec = self.noexec
        new.noglob = self.noglob
        new.nolog = self.nolog
        new.notify = self.notify
        new.nounset = self.nounset
        new.onecmd = self.onecmd
        new.physical = self.physical
        new.pipefail = self.pipefail
        new.posix = self.posix
        new.privileged = self.privileged
        new.verbose = self.verbose
        new.vi = self.vi
        new.xtrace = self.xtrace
        new.command = self.command
        new.interactive = self.interactive
        new.stdin = self.stdin
        return new

    def get(self, name: str) -> bool | None:
        """The option called `name` in ``set -o``; None when there is none."""
        attribute = NAMES.get(name)
        return None if attribute is None else getattr(self, attribute)

    def set(self, name: str, on: bool) -> bool:
        """Switch the option called `name` in ``set -o``; False when there is none."""
        attribute = NAMES.get(name)
        if attribute is None:
            return False
        setattr(self, attribute, on)
        if on and name in ("vi", "emacs"):
            setattr(self, "emacs" if name == "vi" else "vi", False)
        return True

    def set_letter(self, letter: str, on: bool) -> bool:
        """``set -LETTER`` / ``set +LETTER``; False when there is no such option."""
        attribute = LETTERS.get(letter)
        if attribute is None:
            return False
        setattr(self, attribute, on)
        return True

    def dash(self) -> str:
        """``$-``."""
        text = ""
        for letter in _DASH_ORDER:
            text += letter if getattr(self, LETTERS[letter]) else ""
            if letter == "h" and self.interactive:
                text += "i"
        return text + ("c" if self.command else "") + ("s" if self.stdin else "")

    def shellopts(self) -> str:
        """``$SHELLOPTS``."""
        return ":".join(name for name, attribute in NAMES.items() if getattr(self, attribute))
