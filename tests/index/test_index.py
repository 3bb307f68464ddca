"""The local index: what is read, what is kept, what is found and what is never shown."""
from __future__ import annotations

import json
import os

import pytest

from mirage import Terminal
from mirage.console.main import main
from mirage.index import model as model_module
from mirage.index.build import build, unchanged, version_of
from mirage.index.database import Hit, IndexDatabase, IndexUnusable
from mirage.index.query import fuse
from mirage.index.text import passages, text_of, wanted
from mirage.mounts.memory import Memory
from mirage.vfs.facade import Actor
from mirage.vfs.types import S_IFREG, Stat
from tests.mounts.word_search import WordSearch

FILES = {"bills/march.txt": b"The invoice for the anemometers is overdue since March.\n",
         "bills/april.txt": "Rechnung für die Grüße, bezahlt.\n".encode(), "walks.md": b"# Hiking\nA path through the mountains, four hours.\n",
         "secret/plan.txt": b"The secret invoice plan.\n", "photo.png": b"\x89PNG\0\0", "data.bin": b"invoice\0\0", "empty.txt": b""}
needs_model = pytest.mark.skipif(model_module.folder() is None, reason="numpy and the model's package are not installed")


def make(files, place, policy="default: allow", mount=None):
    return Terminal({"/d": mount or Memory(files)}, policy=policy, index=place, cwd="/d")


def fill(terminal, place, tops=("/d",), model=None):
    database = IndexDatabase(place, writable=True)
    try:
        return build(terminal.machine.filesystem(Actor("index")), database, list(tops), model)
    finally:
        database.close()


@pytest.fixture
def place(tmp_path):
    return tmp_path / ".mirage" / "index.db"


@pytest.fixture
def terminal(place):
    with make(FILES, place) as terminal:
        fill(terminal, place)
        yield terminal


def paths(result):
    return result.stdout.splitlines()


def test_words_and_scores(terminal):
    result = terminal.run("search invoice")
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert {line[1] for line in lines} == {"/d/bills/march.txt", "/d/secret/plan.txt"} and result.exit_code == 0
    scores = [float(line[0]) for line in lines]
    assert scores == sorted(scores, reverse=True) and "invoice" in lines[0][2]
    assert paths(terminal.run("search -l 'invoice anemometers' | head -1")) == ["/d/bills/march.txt"]
    assert paths(terminal.run("search -l fur")) == ["/d/bills/april.txt"]
    assert paths(terminal.run("search -l 'moun*'")) == ["/d/walks.md"]
    assert paths(terminal.run("search -l '\"secret invoice\"'"))[0] == "/d/secret/plan.txt"
    assert paths(terminal.run("search -l march")) == ["/d/bills/march.txt"]                 # also by its name
    assert terminal.run("search nowhere").exit_code == 1
    found = json.loads(terminal.run("search --json -n 1 hiking").stdout)
    assert (found["path"], found["stale"]) == ("/d/walks.md", False) and found["score"] > 0


def test_paths_limit_where_is_searched(terminal):
    assert paths(terminal.run("search -l invoice /d/bills")) == ["/d/bills/march.txt"]
    assert paths(terminal.run("(cd bills; search -l invoice .)")) == ["/d/bills/march.txt"]
    assert sorted(paths(terminal.run("search -l invoice bills secret"))) == ["/d/bills/march.txt", "/d/secret/plan.txt"]
    assert paths(terminal.run("search -l invoice bills/march.txt")) == ["/d/bills/march.txt"]
    assert terminal.run("search invoice nope").stderr == "search: nope: No such file or directory\n"
    assert len(paths(terminal.run("search -ln1 invoice"))) == 1


@pytest.mark.parametrize(("line", "status", "text"), [
    ("search", 2, "there is nothing to search for"), ("search -n x invoice", 2, "invalid number of files"),
    ("search --nope x", 2, "unrecognized option"), ("search --semantic invoice", 2, "full text only"), ("search '\"' ", 1, ""),
    ("search 'quux OR2 ) NEAR(' ", 1, ""), ("search --text -- '-x:y^2 {}'", 1, "")])
def test_what_cannot_be(terminal, line, status, text):
    result = terminal.run(line)
    assert result.exit_code == status and text in result.stderr and "Traceback" not in result.stderr


def test_without_an_index(tmp_path):
    with make(FILES, tmp_path / "none.db") as terminal:
        assert terminal.run("search x").stderr == "search: there is no index; make one with: mirage index PATH\n"
    with Terminal() as terminal:
        assert terminal.run("search x").exit_code == 2
    (tmp_path / "bad.db").write_bytes(b"no database at all, but long enough to be one" * 50)
    with make(FILES, tmp_path / "bad.db") as terminal:
        assert "cannot be opened" in terminal.run("search x").stderr
    with pytest.raises(IndexUnusable):
        IndexDatabase(tmp_path / "none.db")


def test_only_what_changed_is_read_again(place):
    mount = WordSearch({"a.txt": b"apple\n", "b.txt": b"pear\n", "deep/c.md": b"plum\n", "x.png": b"\0png"})
    with make(None, place, mount=mount) as terminal:
        first = fill(terminal, place)
        assert (first.added, first.skipped, first.kept) == (3, 1, 0) and sorted(mount.contents) == ["/a.txt", "/b.txt", "/deep/c.md"]
        mount.contents.clear()
        again = fill(terminal, place)
        assert (again.added, again.changed, again.kept) == (0, 0, 3) and mount.contents == []
        mount.memory.replace("/b.txt", b"a quince now\n", 0o644, 1000, 1000)
        mount.memory.unlink("/a.txt")
        third = fill(terminal, place)
        assert (third.changed, third.removed, third.kept) == (1, 1, 1) and mount.contents == ["/b.txt"]
        assert paths(terminal.run("search -l quince")) == ["/d/b.txt"] and terminal.run("search apple pear").exit_code != 0
        assert fill(terminal, place, ["/d/deep"]).removed == 0


def test_a_directory_that_fails_loses_nothing(place):
    class Breaks(WordSearch):
        broken = False

        def list(self, path):
            if self.broken and path == "/deep":
                raise OSError(5, "Input/output error")
            return super().list(path)

    mount = Breaks({"a.txt": b"apple\n", "deep/c.md": b"plum\n"})
    with make(None, place, mount=mount) as terminal:
        fill(terminal, place)
        mount.broken = True
        summary = fill(terminal, place)
        assert summary.removed == 0 and summary.errors == [("/d/deep", "Input/output error")]
        assert paths(terminal.run("search -l plum")) == ["/d/deep/c.md"]


def test_what_is_hidden_or_denied_is_not_shown(place):
    with make(FILES, place) as owner:
        fill(owner, place)
    rules = """
rules:
  - {path: /d/secret, action: hide}
  - {path: "/d/bills/**", effect: [read], action: deny}
  - {path: /d/walks.md, effect: [search], action: deny}
"""
    with make(FILES, place, rules) as terminal:
        for line in ("search invoice", "search -l secret", "search --json plan", "search Rechnung", "search hiking"):
            result = terminal.run(line)
            assert result.stdout == result.stderr == "" and result.exit_code == 1, line
    with make(FILES, place.with_name("own.db"), rules) as terminal:
        summary = fill(terminal, place.with_name("own.db"))
        database = IndexDatabase(place.with_name("own.db"))
        assert not database.by_text("secret", [], 10) and not database.by_text("invoice", [], 10)
        database.close()
        assert any(path.startswith("/d/bills") for path, _ in summary.errors)


def test_what_changed_since_is_told(terminal):
    terminal.run("echo 'another invoice' >> bills/march.txt; rm secret/plan.txt")
    result = terminal.run("search invoice")
    assert "secret" not in result.stdout and "[changed since]" in result.stdout
    assert result.stderr == ("search: 1 of these files changed since they were indexed\n"
                             "search: 1 file of the index cannot be opened any more\n")
    result = terminal.run("search secret")
    assert result.stdout == "" and result.stderr == "search: 1 file of the index cannot be opened any more\n" and result.exit_code == 1


def test_what_of_a_file_is_indexed():
    assert wanted("a.md", 10) and wanted("a", None) and not wanted("a.PDF", 10) and not wanted("a.txt", 0) and not wanted("b.txt", 1 << 30)
    assert text_of(b"hi") == "hi" and text_of(b"h\0i") is None and text_of(b"\xff\xfe") is None and text_of(b"") is None
    parts = passages("/x/My_file.txt", "word " * 1000)
    assert parts[0].startswith("My file.txt\nword") and len(parts) > 5 and all(len(p) <= 720 for p in parts)
    assert passages("/x/a", "x" * 5000)[-1].endswith("x") and passages("/x/a", " \n ") == []
    known, other = Stat(S_IFREG, 5, 100), Stat(S_IFREG, None, 100)
    assert unchanged(version_of(known), other) and unchanged(version_of(other), known)
    assert not unchanged(version_of(known), Stat(S_IFREG, 6, 100)) and unchanged("v1", Stat(S_IFREG, 5, 9, version="v1"))


def test_fusion_of_two_rankings():
    one, two = [Hit("/a", "", 9.0, "x"), Hit("/b", "", 8.0, "")], [Hit("/b", "", 0.9, ""), Hit("/c", "", 0.2, "")]
    fused = fuse(one, two)
    assert [hit.path for hit in fused] == ["/b", "/a", "/c"] and 0 < fused[2].score < fused[0].score < 1
    assert fuse(one[:1], one[:1])[0].score == pytest.approx(1.0)


def test_the_program(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.makedirs("src")
    (tmp_path / "src" / "a.txt").write_text("an invoice\n")
    assert main(["index", "--no-embeddings", "--mount", "/src=host:src", "/src"]) == 0
    assert "1 added" in capsys.readouterr().out and (tmp_path / ".mirage" / "index.db").exists()
    assert main(["exec", "--mount", "/src=host:src", "search -l invoice"]) == 0
    assert main(["index", "--no-embeddings", "--json", "--index", "other.db", "--mount", "/src=host:src", "/src"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["added"] == 1
    (tmp_path / "mirage.yaml").write_text("mounts:\n  /s: {provider: host, dir: src}\nindex: my.db\n")
    assert main(["index", "--no-embeddings", "-f", "mirage.yaml", "/s"]) == 0 and (tmp_path / "my.db").exists()
    assert main(["index"]) == 2 and main(["index", "relative"]) == 2 and main(["index", "--help"]) == 0
    assert main(["index", "--no-embeddings", "/nope"]) == 2


@needs_model
def test_by_meaning(place):
    model = model_module.load()
    files = {"bill.txt": b"Payment for the wind sensors has not arrived and is late.\n", "hike.txt": b"We walked in the mountains.\n",
             "food.txt": b"Lunch in the canteen is at noon.\n"}
    with make(files, place) as terminal:
        fill(terminal, place, model=model)
        for mode in ("--semantic", "--hybrid", ""):
            assert paths(terminal.run(f"search -l {mode} 'overdue invoices'"))[0] == "/d/bill.txt", mode
        assert paths(terminal.run("search -l --semantic 'hiking trip'"))[0] == "/d/hike.txt"
        assert terminal.run("search -l --text 'overdue invoices'").exit_code == 1
        score = float(terminal.run("search --semantic 'hiking trip'").stdout.split("\t")[0])
        assert 0.3 < score < 1


@needs_model
def test_vectors_are_those_of_the_model():
    """Numbers from sentence-transformers' own card: related sentences are near, others are not; length is 1."""
    model = model_module.load()
    vectors = model.encode(["This is an example sentence", "Each sentence is converted", "Köhler, 天気! it's fine", "", "x" * 5000])
    assert vectors.shape == (5, 384)
    assert abs((vectors * vectors).sum(1) - 1).max() < 1e-4
    assert vectors[0][:3] == pytest.approx([0.0676569, 0.0634959, 0.0487131], abs=2e-4)
    assert model.words.encode("Hello, world!", 16) == [101, 7592, 1010, 2088, 999, 102]
    assert model.words.encode("Köhler's unaffable 天気", 32)[:3] == model.words.encode("kohler's", 32)[:3]
