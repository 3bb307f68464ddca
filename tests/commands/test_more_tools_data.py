"""yq, sqlite3, git, zstd, curl and python3."""
from __future__ import annotations

import sqlite3
import zlib
from hashlib import sha1

import pytest

from tests.commands.harness import Bench, run_tool

YAML = """# top
a: 1 # one
b:
  # of c
  c: "quoted" # note
  d: 'single'
list:
  - x
  - y: 1
    z: [1, {k: v}]
  - |
    two
    lines
e: &anc {q: 1}
g:
  <<: *anc
n: "123"
"""


def yq(*args: str, text: str = YAML) -> str:
    out, err, status = run_tool(["yq", *args], stdin=text)
    assert (err, status) == (b"", 0), err
    return out.decode()


def test_yq_keeps_comments_styles_and_anchors() -> None:
    assert yq(".") == YAML
    assert yq(".b") == "# of c\nc: \"quoted\" # note\nd: 'single'\n"
    assert yq(".a = 5") == YAML.replace("a: 1", "a: 5")


@pytest.mark.parametrize(("expression", "expected"), [
    (".a", "1\n"), (".b.c", "quoted\n"), (".list[1].z", "[1, {k: v}]\n"), (".list | length", "3\n"), (".g.q", "1\n"),
    (".nope", "null\n"), (".nope // \"d\"", "d\n"), ("keys | .[0]", "a\n"), (".list[0:1]", "- x\n"), (".n", "123\n"),
    (".a + 2, .a * 3", "3\n3\n"), (".b | has(\"c\")", "true\n"), (".. | select(tag == \"!!int\")", "1\n1\n1\n1\n"),
    ("[.a, .n]", "- 1 # one\n- \"123\"\n"), (".b | to_entries | .[1]", "key: d\nvalue: 'single'\n"),
    (".b.c | upcase", "QUOTED\n"), (".b.c | sub(\"q(.)\", \"<$1>\")", "<u>oted\n"), ("explode(.) | .g", "q: 1\n"),
    (".b | del(.c)", "d: 'single'\n"), ("{\"x\": .n}", "x: \"123\"\n"), (".a as $v | $v + 1", "2\n"),
    ("\"\\(.a)-\\(.n)\"", "1-123\n"), (".b * {\"c\": \"new\"}", "# of c\nc: \"new\" # note\nd: 'single'\n"),
    (".list[] as $i ireduce (0; . + 1)", "3\n"), (".b | with_entries(select(.key == \"d\"))", "d: 'single'\n")])
def test_yq_expressions(expression: str, expected: str) -> None:
    assert yq(expression) == expected


def test_yq_makes_paths_and_writes_in_place() -> None:
    bench = Bench({"f.yml": "a: {}\n# end\n---\nb: 2\n"})
    assert bench.run(["yq", "-i", '.x.y[1] = "true"', "f.yml"]) == (b"", b"", 0)
    expected = "a: {}\nx:\n  y:\n    - null\n    - \"true\"\n# end\n---\nb: 2\nx:\n  y:\n    - null\n    - \"true\"\n"
    assert bench.read("f.yml").decode() == expected


def test_yq_formats() -> None:
    assert yq("-o", "json", "-I0", ".b", text=YAML) == '{"c":"quoted","d":"single"}\n'
    assert yq("-o", "props", ".b") == "c = quoted\nd = single\n"
    assert yq("-p", "csv", "-o", "json", "-I0", ".", text="a,b\n1,x\n") == '[{"a":1,"b":"x"}]\n'
    assert yq("-p", "xml", ".", text='<a x="1"><b>t</b><b>u</b></a>') == "a:\n  +@x: 1\n  b:\n    - t\n    - u\n"
    assert yq("-P", ".", text='{"a": [1, {"b": "x: y"}]}') == "a:\n  - 1\n  - b: 'x: y'\n"


def test_yq_merges_files_and_reads_the_environment() -> None:
    files = {"a.yml": "k: {x: 1}\n", "b.yml": "k: {y: 2}\n"}
    assert run_tool(["yq", "ea", "select(fi == 0) * select(fi == 1)", "a.yml", "b.yml"], files)[0] == b"k: {x: 1, y: 2}\n"
    assert run_tool(["yq", "-n", ".a = env(N) | .b = strenv(N)"], env={"N": "7"})[0] == b'a: 7\nb: "7"\n'


def test_yq_errors() -> None:
    assert run_tool(["yq", ".a |"], stdin="a: 1") == \
        (b"", b"Error: bad expression, please check expression syntax: unexpected end\n", 1)
    assert run_tool(["yq", ".", "nofile"])[1:] == (b"Error: open nofile: no such file or directory\n", 1)
    assert run_tool(["yq", "-e", ".x"], stdin="a: 1")[2] == 1
    bomb = "a: &a [x,x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n" for n in range(20))
    assert run_tool(["yq", ".u | length"], stdin=bomb)[0] == b"2\n"


# ---- sqlite3

SETUP = "create table t(a integer, b text, c real); insert into t values(1,'x y',2.5),(2,null,3),(NULL,'q,r',1e20);"


@pytest.fixture
def database() -> Bench:
    bench = Bench()
    assert bench.run(["sqlite3", "d.db", SETUP]) == (b"", b"", 0)
    return bench


@pytest.mark.parametrize(("options", "expected"), [
    ([], "1|x y|2.5\n2||3.0\n|q,r|1.0e+20\n"),
    (["-csv", "-header"], 'a,b,c\n1,"x y",2.5\n2,,3.0\n,"q,r",1.0e+20\n'),
    (["-json"], '[{"a":1,"b":"x y","c":2.5},\n{"a":2,"b":null,"c":3.0},\n{"a":null,"b":"q,r","c":1.0e+20}]\n'),
    (["-column", "-header"], "a  b    c      \n-  ---  -------\n1  x y  2.5    \n2       3.0    \n   q,r  1.0e+20\n"),
    (["-markdown"], "| a |  b  |    c    |\n|---|-----|---------|\n| 1 | x y | 2.5     |\n| 2 |     | 3.0     |\n"
                    "|   | q,r | 1.0e+20 |\n"),
    (["-quote"], "1,'x y',2.5\n2,NULL,3.0\nNULL,'q,r',1.0e+20\n"),
    (["-separator", ";", "-nullvalue", "N"], "1;x y;2.5\n2;N;3.0\nN;q,r;1.0e+20\n")])
def test_sqlite_modes(database: Bench, options: list[str], expected: str) -> None:
    assert database.run(["sqlite3", *options, "d.db", "select * from t"]) == (expected.encode(), b"", 0)


def test_sqlite_writes_a_real_database(database: Bench, tmp_path: object) -> None:
    db = sqlite3.connect(":memory:")
    db.deserialize(database.read("d.db"))
    assert db.execute("select count(*) from t").fetchone() == (3,)
    before = database.read("d.db")
    database.run(["sqlite3", "d.db", "begin; delete from t"])
    assert database.read("d.db") == before                    # not committed


def test_sqlite_dot_commands(database: Bench) -> None:
    assert database.run(["sqlite3", "d.db", ".tables"])[0] == b"t\n"
    assert database.run(["sqlite3", "d.db", ".schema"])[0] == b"CREATE TABLE t(a integer, b text, c real);\n"
    dump = database.run(["sqlite3", "d.db", ".dump"])[0].decode()
    assert dump.splitlines()[3] == "INSERT INTO t VALUES(1,'x y',2.5);" and dump.endswith("COMMIT;\n")
    database.put("i.csv", 'a,b\n1,2\n3,"x""y"\n')
    out = database.run(["sqlite3", "e.db", ".import --csv i.csv z", "select * from z", ".schema"])[0]
    assert out == b'1|2\n3|x"y\nCREATE TABLE IF NOT EXISTS "z"(\n"a" TEXT, "b" TEXT);\n'
    assert database.run(["sqlite3", "d.db", ".output o.txt", "select 5", ".output", "select 6"])[0] == b"6\n"
    assert database.read("o.txt") == b"5\n"


def test_sqlite_errors(database: Bench) -> None:
    assert database.run(["sqlite3", "d.db", "select foo from t"]) == (
        b"", b"Error: in prepare, no such column: foo\n  select foo from t\n         ^--- error here\n", 1)
    out, err, status = database.run(["sqlite3", "d.db"], "select 1;\nselec;\nselect 2;\n")
    assert (out, status) == (b"1\n2\n", 1)
    assert err == b'Parse error near line 2: near "selec": syntax error\n  selec;\n  ^--- error here\n'
    database.put("n.db", "7" * 200)
    assert database.run(["sqlite3", "n.db", "select * from q"])[1:] == (
        b"Error: in prepare, file is not a database (26)\n", 26)


@pytest.mark.parametrize("statement", [
    "attach '/etc/passwd' as x", "attach 'other.db' as x", "vacuum into 'x.db'", "select load_extension('x')",
    "pragma temp_store_directory='/tmp'", "select readfile('/etc/passwd')"])
def test_sqlite_cannot_leave_its_file(database: Bench, statement: str) -> None:
    out, err, status = database.run(["sqlite3", "d.db", statement])
    assert out == b"" and err.startswith(b"Error: ") and status
    assert not database.root.fs.exists("/workspace/x.db")


# ---- git

def git_repository() -> Bench:
    """Two commits as loose objects, made by hand: first a=one and d/b=x, then a=one two and c=new."""
    bench = Bench()

    def add(kind: str, body: bytes) -> str:
        data = f"{kind} {len(body)}\0".encode() + body
        name = sha1(data).hexdigest()
        bench.put(f"r/.git/objects/{name[:2]}/{name[2:]}", zlib.compress(data))
        return name

    def entry(mode: str, name: str, sha: str) -> bytes:
        return f"{mode} {name}\0".encode() + bytes.fromhex(sha)
    folder = add("tree", entry("100644", "b", add("blob", b"x\n")))
    tree1 = add("tree", entry("100644", "a", add("blob", b"one\n")) + entry("40000", "d", folder))
    who = "A <a@x> 1704161045 +0100"
    one = add("commit", f"tree {tree1}\nauthor {who}\ncommitter {who}\n\nFirst commit\n\nbody here\n".encode())
    tree2 = add("tree", entry("100644", "a", add("blob", b"one\ntwo\n")) + entry("100644", "c", add("blob", b"new\n")))
    two = add("commit", f"tree {tree2}\nparent {one}\nauthor {who}\ncommitter {who}\n\nsecond\n".encode())
    bench.put("r/.git/HEAD", "ref: refs/heads/main\n")
    bench.put("r/.git/refs/heads/main", two + "\n")
    bench.put("r/.git/packed-refs", f"# pack-refs with: peeled\n{two} refs/tags/v1\n")
    bench.put("r/a", "one\ntwo\n")
    return bench


def git(*args: str) -> str:
    pytest.importorskip("dulwich")
    out, err, status = git_repository().run(["git", "-C", "r", *args])
    assert (err, status) == (b"", 0)
    return out.decode()


def test_git_log() -> None:
    assert git("log", "--oneline") == "c9d817d second\n402d839 First commit\n"
    assert git("log", "-1", "402d839") == ("commit 402d839056756966e5bb2399a778ad6a436cf054\nAuthor: A <a@x>\nDate:   "
                                           "Tue Jan 2 03:04:05 2024 +0100\n\n    First commit\n    \n    body here\n")
    assert git("log", "--stat", "-1", "--format=%h") == \
        "c9d817d\n\n a   | 1 +\n c   | 1 +\n d/b | 1 -\n 3 files changed, 2 insertions(+), 1 deletion(-)\n"
    assert git("log", "--name-status", "--oneline", "-1") == "c9d817d second\nM\ta\nA\tc\nD\td/b\n"
    assert git("log", "--format=%an|%ad|%s%d", "--date=iso", "-1") == \
        "A|2024-01-02 03:04:05 +0100|second (HEAD -> main, tag: v1)\n"
    assert git("log", "--oneline", "--", "d") == "c9d817d second\n402d839 First commit\n"


def test_git_show_and_diff() -> None:
    patch = ("diff --git a/a b/a\nindex 5626abf..814f4a4 100644\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n one\n+two\n"
             "diff --git a/c b/c\nnew file mode 100644\nindex 0000000..3e75765\n--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+new\n"
             "diff --git a/d/b b/d/b\ndeleted file mode 100644\nindex 587be6b..0000000\n--- a/d/b\n+++ /dev/null\n"
             "@@ -1 +0,0 @@\n-x\n")
    assert git("diff", "HEAD~1", "HEAD") == patch
    assert git("show", "HEAD").endswith("    second\n\n" + patch)
    assert git("show", "HEAD~1:a") == "one\n"


def test_git_plumbing_and_blame() -> None:
    assert git("rev-parse", "--short", "HEAD") == "c9d817d\n"
    assert git("rev-parse", "--abbrev-ref", "HEAD") == "main\n"
    assert git("ls-tree", "-r", "--name-only", "HEAD~1") == "a\nd/b\n"
    assert git("cat-file", "-p", "HEAD").startswith("tree 03602118b754610a0d445b2d20c8fe9c15135198\nparent 402d839")
    assert git("blame", "a") == ("^402d839 (A 2024-01-02 03:04:05 +0100 1) one\n"
                                 "c9d817d7 (A 2024-01-02 03:04:05 +0100 2) two\n")
    assert git("branch") == "* main\n"
    assert git("tag") == "v1\n"


def test_git_refuses_to_write_and_unknown_revisions() -> None:
    pytest.importorskip("dulwich")
    bench = git_repository()
    assert bench.run(["git", "-C", "r", "commit", "-m", "x"]) == (
        b"", b"git: 'commit' is not available in this terminal: repositories can only be read here\n", 1)
    assert bench.run(["git", "-C", "r", "log", "nosuch"])[1:] == (
        b"fatal: ambiguous argument 'nosuch': unknown revision or path not in the working tree.\nUse '--' to separate paths "
        b"from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'\n", 128)
    assert bench.run(["git", "status"])[1:] == (b"fatal: not a git repository (or any of the parent directories): .git\n", 128)


# ---- the others

def test_zstd_round_trip() -> None:
    pytest.importorskip("zstandard")
    bench = Bench({"f": "hello " * 1000})
    assert bench.run(["zstd", "-q", "f"]) == (b"", b"", 0)
    assert bench.read("f.zst")[:4] == b"\x28\xb5\x2f\xfd"
    assert bench.run(["zstdcat", "f.zst"])[0] == b"hello " * 1000
    assert bench.run(["zstd", "f"])[2] == 1                   # not overwritten
    assert bench.run(["zstd", "-dc"], "plain")[2] == 1


def test_network_is_off() -> None:
    out, err, status = run_tool(["curl", "https://example.com/x"])
    assert (out, status) == (b"", 6)
    assert err.startswith(b"curl: (6) Could not resolve host: example.com\nmirage: the network is off")
    out, err, status = run_tool(["wget", "http://example.com/x"])
    assert status == 4 and b"mirage: the network is off" in err


def test_private_addresses_are_never_reached() -> None:
    bench = Bench()
    bench.machine.net = ("*",)
    for host in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "192.168.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"):
        _, err, status = bench.run(["curl", f"http://{host}/"])
        assert status == 7 and b"private address" in err, host


def test_curl_reads_files_of_the_terminal() -> None:
    bench = Bench({"f": "text\n"})
    assert bench.run(["curl", "-s", "file:///workspace/f"]) == (b"text\n", b"", 0)
    assert bench.run(["curl", "-so", "g", "file:///workspace/f"])[2] == 0
    assert bench.read("g") == b"text\n"
    assert bench.run(["curl", "file:///nope"])[1:] == (b"curl: (37) Couldn't open file /nope\n", 37)


def test_python_runs_in_its_sandbox() -> None:
    pytest.importorskip("pydantic_monty")
    bench = Bench({"p.py": "print(ARGV, STDIN)\n"})
    assert bench.run(["python3", "-c", "print(sum(range(5)))"]) == (b"10\n", b"", 0)
    assert bench.run(["python3", "p.py", "x"], "in")[0] == b"['p.py', 'x'] in\n"
    out, err, status = bench.run(["python3", "-c", "print(1)\n1/0"])
    assert (out, status) == (b"1\n", 1) and b"ZeroDivisionError" in err
    assert b"PermissionError" in bench.run(["python3", "-c", "open('/etc/passwd').read()"])[1]
