from __future__ import annotations

import errno
import json
import re

import pytest

pytest.importorskip("pymongo")
pytest.importorskip("mongomock")

from mirage.bench.services.mongo import MongoSimulator
from mirage.mounts.mongodb import build
from mirage.mounts.sql.url import DatabaseUrl
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.mongo_support import make_mount, make_terminal

READINGS = "/mongo/telemetry/readings/documents.jsonl"


@pytest.fixture(scope="module")
def small():
    with MongoSimulator(documents=80) as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with MongoSimulator(documents=400) as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("error", "find", times=1)
        small.fault("error", "aggregate", times=1)
        mount = make_mount(small)
        yield mount
        mount.close()
        small.heal()


# ---- the tree and its formats

def test_tree(simulator):
    with make_terminal(simulator) as terminal:
        assert terminal.run("ls /mongo /mongo/support; ls /mongo/support/empty; cat /mongo/support/empty/*").stdout == (
            "/mongo:\nsupport\ntelemetry\n\n/mongo/support:\ncustomer_notes\nempty\noddities\ntickets\ncount\ndocuments.jsonl\nschema.json\n"
            '0\n{\n  "database": "support",\n  "collection": "empty",\n  "sampled": 0,\n  "fields": {},\n  "indexes": [\n    {\n'
            '      "name": "_id_",\n      "key": {\n        "_id": 1\n      }\n    }\n  ]\n}\n')
        assert terminal.run("jq -r .mail '/mongo/support/customer_notes/documents.jsonl' | head -1").stdout == "ingrid@bergenhavn.example\n"
    only = make_mount(simulator, databases="support, none")
    assert [e.name for e in only.list("/")] == ["none", "support"] and only.list("/none") == []


def test_values_of_every_kind(small):
    mount = make_mount(small)
    found = [json.loads(line) for line in mount.read("/support/oddities/documents.jsonl").decode().splitlines()]
    assert found[0] == {"_id": 1, "text": "größer \"als\" \\ 1\nzweite Zeile zebra", "empty": "", "nothing": None, "list": [], "object": {}}
    assert found[1] == {"_id": 2.5, "decimal": {"$numberDecimal": "12.50"}, "long": 2**60, "double": 0.1, "infinite": {"$numberDouble": "Infinity"}}
    by_id = {json.dumps(d["_id"]): d for d in found}
    assert by_id['"text id"']["binary"] == {"$binary": {"base64": "AP8=", "subType": "00"}}
    assert by_id['{"$date": "2026-09-30T16:00:00Z"}']["big"] == "x" * 100_000
    assert by_id['{"$oid": "660300000000000000000001"}']["old"] == {"$date": {"$numberLong": "-62135596800000"}}
    schema = json.loads(mount.read("/telemetry/stations/schema.json"))
    assert schema["fields"]["place.location.coordinates[]"] == {"double": 2 * schema["sampled"]}
    assert schema["fields"]["_id"] == {"string": schema["sampled"]} and set(schema["fields"]["sensors[].kind"]) == {"string"}
    assert json.loads(mount.read("/telemetry/readings/schema.json"))["indexes"][1] == {"name": "station_at", "key": {"station": 1, "at": -1}}


def test_every_document_once_and_in_order(simulator):
    with make_terminal(simulator) as terminal:
        found = terminal.run(f"jq -c '._id[\"$oid\"]' {READINGS}").stdout.split()
        assert len(found) == 300 and found == sorted(set(found))
        assert terminal.run("cat /mongo/telemetry/readings/count").stdout == "300\n"


def test_somebody_elses_change_shows_with_the_next_line(simulator):
    with make_terminal(simulator) as terminal:
        assert terminal.run("ls /mongo/support | wc -l").stdout == "4\n"
        simulator.client.support.fresh.insert_one({"_id": "a/b"})
        assert terminal.run("cat /mongo/support/fresh/documents.jsonl").stdout == '{"_id": "a/b"}\n'


# ---- cost

def names(simulator):
    return [e.name for e in simulator.log if e.name not in ("listDatabases", "listCollections")]


def test_calls_are_as_few_as_can_be():
    with MongoSimulator(documents=1600) as simulator, make_terminal(simulator) as terminal:
        for command, output, asked in (
                ("echo hi; ls /; cat /VFS.md; mongo --help", None, []),
                (f"head -n 3 {READINGS} | wc -l", "3\n", ["find", "killCursors"]),
                (f"tail -n 2 {READINGS} | jq .sequence", "10000001198\n10000001199\n", ["find"]),
                (f"wc -l < {READINGS}", "1200\n", ["aggregate"]),
                (f"cat {READINGS} | wc -l", "1200\n", ["find", "getMore"]),
                ("cat /mongo/telemetry/readings/count", "1200\n", ["aggregate"])):
            simulator.clear_log()
            result = terminal.run(command)
            assert result.exit_code == 0 and output in (None, result.stdout), (command, result)
            assert names(simulator) == asked, command
            assert len(simulator.log) <= len(asked) + 2
        simulator.clear_log()
        terminal.run("ls /mongo /mongo/support /mongo/support; ls -l /mongo/support/*")
        assert sorted(e.name for e in simulator.log) == ["listCollections", "listDatabases"]


def test_tail_and_wc_are_what_reading_gives(simulator):
    with make_terminal(simulator) as terminal:
        for path in ("support/oddities", "support/empty", "telemetry/stations", "telemetry/readings"):
            file = f"/mongo/{path}/documents.jsonl"
            for count in (1, 3, 1000):
                result = terminal.run(f"tail -n {count} {file} > a; cat {file} | tail -n {count} > b; cmp a b; wc -l < {file} > a; cat {file} | wc -l > b; cmp a b")
                assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


# ---- failures

def test_lost_connections_heal(small):
    expected = make_mount(small).read("/support/tickets/documents.jsonl")
    for command in ("find", "listCollections", "listDatabases"):
        small.fault("reset", command, times=1)
    assert make_mount(small).read("/support/tickets/documents.jsonl") == expected
    small.heal()


def test_what_does_not_heal_is_an_errno(simulator):
    mount = make_mount(simulator, timeout=1.0)
    with make_terminal(simulator, mount) as terminal:
        assert terminal.run("ls /mongo/support").exit_code == 0
        for fault, number, word in (
                ({"kind": "error", "name": "Unauthorized"}, errno.EACCES, "Permission denied"),
                ({"kind": "error", "name": "ExceededTimeLimit"}, errno.ETIMEDOUT, "timed out"),
                ({"kind": "error", "name": "BadValue"}, errno.EINVAL, "Invalid argument")):
            simulator.fault(command="find", **fault)
            result = terminal.run(f"cat {READINGS}")
            assert result.stdout == "" and result.exit_code == 1 and word in result.stderr and "mirage: mongodb: " in result.stderr
            raises(number, mount.read, "/telemetry/readings/documents.jsonl")
            simulator.heal()
        simulator.fault("reset", "find")
        with pytest.raises(OSError) as caught:
            mount.read("/telemetry/readings/documents.jsonl")
        assert caught.value.errno in (errno.EIO, errno.ETIMEDOUT)
        simulator.heal()
        assert terminal.run(f"wc -l < {READINGS}").stdout == "300\n"


def test_a_cursor_that_is_lost_is_an_error_and_no_end(simulator):
    with make_terminal(simulator) as terminal:
        for fault in ({"kind": "error", "name": "CursorNotFound"}, {"kind": "reset"}):
            simulator.fault(command="getMore", **fault)
            result = terminal.run(f"cat {READINGS} > out")
            assert result.exit_code == 1 and "mirage: mongodb: " in result.stderr, result
            with pytest.raises(OSError):
                terminal.fs.read(READINGS)
            simulator.heal()


def test_secrets_show_nowhere(monkeypatch, simulator):
    with pytest.raises(ProviderError) as caught:
        mount_by_name("mongodb", {"url": "mongodb://me:hunter2@127.0.0.1/"})
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("MONGO_URL", "mongodb://me:canary-of-mongo@127.0.0.1:1/?serverSelectionTimeoutMS=200")
    mount = build(DatabaseUrl("env:MONGO_URL"), timeout=0.3)
    with pytest.raises(OSError) as caught:
        mount.list("/")
    assert "canary" not in f"{caught.value!r} {caught.value.note} {mount!r} {mount.server!r}"
    with pytest.raises(OSError) as caught:
        build(DatabaseUrl("env:MONGO_URL_THAT_IS_MISSING")).list("/")
    assert caught.value.errno == errno.EACCES
    with pytest.raises(OSError) as caught:
        build(DatabaseUrl("mongodb://127.0.0.1:port/")).list("/")
    assert caught.value.errno == errno.EINVAL


def test_options_are_checked():
    for options in ({}, {"url": "mongodb"}, {"url": "mongodb://x", "colour": "red"}, {"url": "mongodb://x", "timeout": "soon"}):
        with pytest.raises((ProviderError, ValueError)):
            mount_by_name("mongodb", options)


# ---- search

WORDS = """zebra quagga nzebra größer als zweite Zeile deep text station NI-1000 NI 1000 Abisko Tromsø Łódź Paulo Reykjavík 札幌 Kraków
Umeå Zürich Point coordinates Apollo Borealis gateway wind rain temperature serial K0000 offline calibration due low battery ok
storm hardware billing API Größe offline anemometer refund green Ingrid Solheim Tomás Herrera Fiona McAllister Köhler Rossi
address bergenhavn example minute documentation percent sun speed direction sequence oid date numberLong true false null
2025 2026 10 17 0 1.5 66 6601 000 Z T00 AP8 AAECAw uuid binary base64 pattern options timestamp значение ключ key dots nothing
list object empty big xxxx return code k v NaN Infinity 12.50 1152921504606846976 collection sampled indexes name string array
nobody quux Hello Dear support ordered station_at 4 UPPER lower installed owner firmware active sensors kind model place
location number subject from opened tags open Mei-Ling Chen typhoonwatch Chiara portotrieste agrolluvia uni halle skyefarms
Kisho sensor drift enclosure leaks cable gland budget certification Tuesday firmware reads all Hagen masts strike June pilot
manual English German Japanese launch fair Hamburg Objections price EUR press release notes approval lines Friday station""".split()


@pytest.fixture(scope="module")
def searched():
    with MongoSimulator(documents=90) as simulator:
        mount = make_mount(simulator, bound=0)
        yield simulator, mount, {path: mount.read(path).decode() for path, stat in everything(mount) if stat.is_file}
        mount.close()


def test_no_match_is_missed(searched, monkeypatch):
    _, mount, texts = searched
    skipped = 0
    monkeypatch.setattr(mount._fresh, "due", lambda: False)   # as one long line
    for number, word in enumerate(WORDS):
        ignore_case = number % 3 == 0
        found = mount.search("/", Query([word], False, ignore_case))
        if found is None:
            continue
        pattern = re.compile(re.escape(word), re.IGNORECASE if ignore_case else 0)
        wanted = {path for path, text in texts.items() if pattern.search(text)}
        assert wanted <= set(found.paths), (word, wanted - set(found.paths))
        assert set(found.paths) <= set(texts)
        skipped += sum(path.endswith("documents.jsonl") for path in texts) - sum(p.endswith("documents.jsonl") for p in found.paths)
    assert mount.known["telemetry.stations"]["place.location.coordinates"] == {"array", "double"}
    assert mount.known["support.oddities"] is None and skipped > 200


def test_no_line_is_missed(searched, monkeypatch):
    """grep of one file lets the server choose the documents; the lines are those of reading all."""
    _, mount, texts = searched
    monkeypatch.setattr(mount._fresh, "due", lambda: False)
    chosen = 0
    with make_terminal(None, mount) as terminal:
        for number, word in enumerate(WORDS[::2]):
            flags = ("", "-i", "-w", "-c", "-o", "-m2")[number % 6]
            path = sorted(p for p in texts if p.endswith("documents.jsonl"))[number % 6]
            before = mount.counters.searches
            result = terminal.run(f"grep -F {flags} -e '{word}' -e 'none such' '/mongo{path}'")
            chosen += mount.counters.searches - before
            pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)" if flags == "-w" else re.escape(word), re.I if flags == "-i" else 0)
            hits = [line for line in texts[path].splitlines(keepends=True) if pattern.search(line)]
            expected = {"-c": f"{len(hits)}\n", "-o": "".join(m + "\n" for line in hits for m in pattern.findall(line)),
                        "-m2": "".join(hits[:2])}.get(flags, "".join(hits))
            assert (result.stdout, result.exit_code, result.stderr) == (expected, 0 if hits else 1, ""), (word, flags, path)
    assert chosen > 30


def test_grep_reads_only_collections_with_hits(searched):
    simulator, mount, _ = searched
    with make_terminal(simulator, mount) as terminal:
        simulator.clear_log()
        result = terminal.run("grep -rl --include='*.jsonl' Tromsø /mongo")
        assert result.stdout == "/mongo/telemetry/stations/documents.jsonl\n" and not result.stderr
        read = {e.command["find"] for e in simulator.log if e.name == "find" and e.command.get("sort")}
        assert read == {"stations", "oddities", "empty"}     # of oddities nobody can tell; nothing is not asked about
        for word in ("zebra", "anemometer", "Tomás", "quux", "NI-1003"):
            one = terminal.run(f"grep -rl --include='*.jsonl' {word} /mongo")
            assert one.stdout == terminal.run(f"grep --exact -rl --include='*.jsonl' {word} /mongo").stdout
