"""cp, mv, rm, mkdir, ln, touch, chmod, stat, ls, du, tree: effects and messages as coreutils 9.7 gives them."""
from __future__ import annotations

import shlex

import pytest

from tests.commands.harness import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench({"f": "one\n", "g": "two\n", "d/inner/deep": "x\n", "d/top": "y\n", "link": ("link", "f"),
                  "dangling": ("link", "nowhere")})


def names(bench: Bench, folder: str = ".") -> list[str]:
    out, _, _ = bench.run(["ls", "-A", folder])
    return out.decode().split()


MESSAGES = [
    ("cp f", "cp: missing destination file operand after 'f'\nTry 'cp --help' for more information.\n", 1),
    ("cp nope x", "cp: cannot stat 'nope': No such file or directory\n", 1),
    ("cp d x", "cp: -r not specified; omitting directory 'd'\n", 1),
    ("cp f f", "cp: 'f' and 'f' are the same file\n", 1),
    ("cp -r d d/x", "cp: cannot copy a directory, 'd', into itself, 'd/x'\n", 1),
    ("cp -r d f", "cp: cannot overwrite non-directory 'f' with directory 'd'\n", 1),
    ("cp f g nope", "cp: target 'nope': No such file or directory\n", 1),
    ("cp f dangling", "cp: not writing through dangling symlink 'dangling'\n", 1),
    ("mv nope x", "mv: cannot stat 'nope': No such file or directory\n", 1),
    ("mv d d/x", "mv: cannot move 'd' to a subdirectory of itself, 'd/x'\n", 1),
    ("mv d f", "mv: cannot overwrite non-directory 'f' with directory 'd'\n", 1),
    ("rm d", "rm: cannot remove 'd': Is a directory\n", 1),
    ("rm -r .", "rm: refusing to remove '.' or '..' directory: skipping '.'\n", 1),
    ("rm -rf /", "rm: it is dangerous to operate recursively on '/'\n"
     "rm: use --no-preserve-root to override this failsafe\n", 1),
    ("rm nope", "rm: cannot remove 'nope': No such file or directory\n", 1),
    ("rm -f nope", "", 0),
    ("rmdir d", "rmdir: failed to remove 'd': Directory not empty\n", 1),
    ("mkdir d", "mkdir: cannot create directory ‘d’: File exists\n", 1),
    ("mkdir a/b", "mkdir: cannot create directory ‘a/b’: No such file or directory\n", 1),
    ("ln -s f g", "ln: failed to create symbolic link 'g': File exists\n", 1),
    ("ln d x", "ln: d: hard link not allowed for directory\n", 1),
    ("touch -d nonsense f", "touch: invalid date format ‘nonsense’\n", 1),
    ("touch a/b", "touch: cannot touch 'a/b': No such file or directory\n", 1),
    ("chmod z f", "chmod: invalid mode: ‘z’\nTry 'chmod --help' for more information.\n", 1),
    ("stat nope", "stat: cannot statx 'nope': No such file or directory\n", 1),
    ("ls nope", "ls: cannot access 'nope': No such file or directory\n", 2),
    ("du nope", "du: cannot access 'nope': No such file or directory\n", 1),
]


@pytest.mark.parametrize(("line", "message", "status"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_messages(bench: Bench, line: str, message: str, status: int) -> None:
    out, err, code = bench.run(shlex.split(line))
    assert (out, err.decode(), code) == (b"", message, status)


OUTPUTS = [
    ("cp -rv d e", "'d' -> 'e'\n'd/inner' -> 'e/inner'\n'd/inner/deep' -> 'e/inner/deep'\n'd/top' -> 'e/top'\n"),
    ("mv -v f x", "renamed 'f' -> 'x'\n"),
    ("rm -v f", "removed 'f'\n"),
    ("mkdir -pv x/y", "mkdir: created directory 'x'\nmkdir: created directory 'x/y'\n"),
    ("ln -sv f new", "'new' -> 'f'\n"),
    ("chmod -v u+x,go= f", "mode of 'f' changed from 0644 (rw-r--r--) to 0700 (rwx------)\n"),
    ("chmod -c 644 f", ""),
    ("stat -c %n:%s:%a:%F f link", "f:4:644:regular file\nlink:1:777:symbolic link\n"),
    ("stat --printf '%s\\t%A\\n' d/top", "2\t-rw-r--r--\n"),
    ("readlink link", "f\n"),
    ("realpath --relative-to=d link", "../f\n"),
    ("ls", "d\ndangling\nf\ng\nlink\n"),
    ("ls -F", "d/\ndangling@\nf\ng\nlink@\n"),
    ("ls -mr", "link, g, f, dangling, d\n"),
    ("ls -R d", "d:\ninner\ntop\n\nd/inner:\ndeep\n"),
    ("ls -Q f", '"f"\n'),
    ("tree d", "d\n├── inner\n│\u00a0\u00a0 └── deep\n└── top\n\n2 directories, 2 files\n"),
    ("tree -if --noreport d", "d\nd/inner\nd/inner/deep\nd/top\n"),
    ("tree -J d/inner", '[\n  {"type":"directory","name":"d/inner","contents":[\n    {"type":"file","name":"deep"}\n  ]}\n,\n'
     '  {"type":"report","directories":1,"files":1}\n]\n'),
    ("du -b f g", "4\tf\n4\tg\n"),
    ("du f", "4\tf\n"),
    ("file f d link", "f:    ASCII text\nd:    directory\nlink: symbolic link to f\n"),
    ("install -vDm 600 f p/q", "install: creating directory 'p'\n'f' -> 'p/q'\n"),
]


@pytest.mark.parametrize(("line", "output"), OUTPUTS, ids=[o[0] for o in OUTPUTS])
def test_outputs(bench: Bench, line: str, output: str) -> None:
    out, err, code = bench.run(shlex.split(line))
    assert (out.decode(), err, code) == (output, b"", 0)


def test_copy_preserves_mode_time_and_hard_links(bench: Bench) -> None:
    for line in ("chmod 741 f", "touch -d @86400 f", "ln f d/hard", "ln f d/hard2", "cp -a d copy", "cp -p f kept"):
        assert bench.run(shlex.split(line)) == (b"", b"", 0)
    out, _, _ = bench.run(["stat", "-c", "%a %Y", "kept", "copy/hard"])
    assert out == b"741 86400\n741 86400\n"
    out, _, _ = bench.run(["stat", "-c", "%i %h", "copy/hard", "copy/hard2"])
    first, second = out.decode().splitlines()
    assert first == second and first.endswith(" 2")


def test_copy_follows_links_unless_recursive(bench: Bench) -> None:
    bench.run(["cp", "link", "plain"])
    bench.run(["cp", "-R", "link", "kept"])
    assert bench.run(["stat", "-c", "%F", "plain", "kept"])[0] == b"regular file\nsymbolic link\n"


def test_no_clobber_update_and_backup(bench: Bench) -> None:
    assert bench.run(["cp", "-n", "f", "g"])[2] == 0
    assert bench.read("g") == b"two\n"
    assert bench.run(["cp", "-b", "f", "g"])[2] == 0
    assert (bench.read("g"), bench.read("g~")) == (b"one\n", b"two\n")
    bench.run(["cp", "--backup=numbered", "f", "g"])
    assert "g.~1~" in names(bench)


def test_interactive_answers_come_from_stdin(bench: Bench) -> None:
    out, err, code = bench.run(["mv", "-i", "f", "g"], stdin="n\n")
    assert (err, code) == (b"mv: overwrite 'g'? ", 1)
    assert bench.read("g") == b"two\n"


def test_rm_leaves_what_it_may_not_remove(bench: Bench) -> None:
    bench.run(["chmod", "555", "d/inner"])
    out, err, code = bench.run(["rm", "-r", "d"])
    assert err == b"rm: cannot remove 'd/inner/deep': Permission denied\n" and code == 1
    assert names(bench, "d") == ["inner"]


def test_ls_long_columns_line_up(bench: Bench) -> None:
    for name in ("f", "g", "d/top"):
        bench.run(["touch", "-d", "2020-03-04 05:06:07", name])
    bench.put("big", "z" * 12345)
    bench.run(["touch", "-d", "2020-03-04 05:06:07", "big"])
    out, _, _ = bench.run(["ls", "-l", "big", "f"])
    assert out == (b"-rw-r--r-- 1 user user 12345 Mar  4  2020 big\n"
                   b"-rw-r--r-- 1 user user     4 Mar  4  2020 f\n")
    out, _, _ = bench.run(["ls", "-l", "--time-style=+%Y|%H", "f"])
    assert out == b"-rw-r--r-- 1 user user 4 2020|05 f\n"


def test_symbolic_modes(bench: Bench) -> None:
    for mode, result in (("a=rw,u+x", "766"), ("g=u", "776"), ("o=", "770"), ("+X", "771"), ("u=rws,+t", "5671"),
                         ("0640", "640")):
        bench.run(["chmod", mode, "f"])
        assert bench.run(["stat", "-c", "%a", "f"])[0].decode().strip() == result, mode


def test_touch_texts(bench: Bench) -> None:
    for text, seconds in (("2001-02-03 04:05:06", 981173106), ("@7", 7), ("1 Jan 1970 +2 days", 172800)):
        bench.run(["touch", "-d", text, "f"])
        assert bench.run(["stat", "-c", "%Y", "f"])[0] == b"%d\n" % seconds
    bench.run(["touch", "-t", "202001020304.05", "f"])
    assert bench.run(["stat", "-c", "%y", "f"])[0] == b"2020-01-02 03:04:05.000000000 +0000\n"
