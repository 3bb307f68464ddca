from __future__ import annotations

import errno
import threading
import time

import pytest
import yaml

from mirage import Terminal
from mirage.mounts.rest.declaration import RestService
from mirage.vfs.declare import Declared, Directory, Fetch, File, Listing, Paging, Rendering, RestClient, Service
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.declare_support import QUICK, Desk, Library, Token, blocks, library_module


@pytest.fixture
def desk():
    with Desk() as simulator:
        yield simulator


def desk_mount(simulator, token="desk-token-CANARY", **options):
    service = RestService.model_validate(yaml.safe_load(blocks("yaml")[0]))
    return Declared(service, RestClient(service, Token(token), simulator.address, retry=QUICK), **options)


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, desk):
        desk.fault("status", "/projects", times=2, status=429, seconds=0.02)
        desk.fault("status", "/tickets", times=1, status=503)
        desk.fault("reset", "/tickets", times=2)
        desk.fault("truncate", "GET", times=3)
        desk.fault("short", "GET", times=3)
        return desk_mount(desk)


class TestLibraryContract(MountContract):
    @pytest.fixture
    def mount(self):
        with Library() as simulator:
            simulator.fault("truncate", "/books/", times=3)
            simulator.fault("short", "/shelves", times=1)
            mount = library_module()["library"](Token(), simulator.address)
            mount.client.retry = QUICK
            yield mount


# ---- names and paths

def test_names(desk):
    mount = desk_mount(desk)
    assert [e.name for e in mount.list("/")] == ["Büro_Küche", "Network", "Printers__1", "printers__3", "untitled"]
    names = [e.name for e in mount.list("/Büro_Küche")]
    assert "Same title__22.json" in names and "Same title__22.md" in names and len(set(names)) == len(names) == 12
    assert mount.read("/Büro_Küche/Same title__22.md").startswith(b"# Same title\n\nThe printer 21 hums. Za")
    raises(errno.ENOENT, mount.stat, "/Büro_Küche/Other title__22.md")
    raises(errno.ENOENT, mount.stat, "/Network/Same title__22.md")
    raises(errno.ENOTDIR, mount.stat, "/Büro_Küche/Same title__22.md/x")


def test_a_name_that_collides_with_a_fixed_one_gets_its_id():
    class Odd(Desk):
        def answer(self, request):
            from mirage.bench.services.http import Response
            return Response.of_json([{"id": "a/b", "name": "all"}, {"id": "..", "name": ".."}, {"id": "a/b", "name": "twice"}])
    with Odd() as simulator:
        service = Service(name="odd", summary="x", tree=[
            Directory(name="all"), Directory(name="{name}", each=Listing(path="/x"))])
        mount = Declared(service, RestClient(service, Token(), simulator.address))
        assert [e.name for e in mount.list("/")] == ["all", "all__a_b", "untitled"]


# ---- calls

def test_calls_are_as_few_as_can_be(desk):
    mount = desk_mount(desk)
    assert desk.log == []
    mount.list("/")
    assert desk.calls() == 3                                 # five projects, two a page
    mount.list("/")
    assert desk.calls() == 3
    mount.list("/Printers__1")
    assert desk.calls() == 5                                 # six tickets, five a page
    desk.clear_log()
    names = [e.name for e in mount.list("/Printers__1")]
    for name in names:
        mount.read(f"/Printers__1/{name}")
    assert desk.calls() == len(names) / 2                    # one for both renderings of a ticket
    for name in names:
        mount.read(f"/Printers__1/{name}", 3, 5)
        assert mount.stat(f"/Printers__1/{name}").size == len(mount.read(f"/Printers__1/{name}"))
    assert desk.calls() == len(names) / 2


def test_one_file_by_its_path_needs_no_listing_of_its_directory(desk):
    mount = desk_mount(desk)
    assert mount.read("/Büro_Küche/Same title__22.json")
    assert desk.calls("/projects") == 3 and desk.calls("/tickets/22") == 1 and desk.calls() == 4


def test_sizes_are_unknown_until_read(desk):
    mount = desk_mount(desk)
    (path, stat), *_ = [(p, s) for p, s in everything(mount) if s.is_file]
    assert stat.size is None and mount.stat(path).size is None
    assert mount.stat(path).mtime_ns % 10**9 == 0 and mount.stat(path).mtime_ns > 10**18
    assert mount.stat(path).size == len(mount.read(path)) if mount.read(path) else True


def test_old_values_are_asked_for_again_with_their_etag(desk):
    mount = desk_mount(desk, ttl=0.0)
    before = everything(mount)
    desk.clear_log()
    assert [p for p, _ in everything(mount)] == [p for p, _ in before]
    assert desk.log and all(entry.status == 304 for entry in desk.log)
    desk.add(2, "Brand new", "x")
    assert any("Brand new" in e.name for e in mount.list("/Büro_Küche"))
    desk.projects[4]["name"] = "Renamed"
    assert "Renamed" in [e.name for e in mount.list("/")]


def test_own_changes_are_fresh_and_nothing_else_is_asked(desk):
    mount = desk_mount(desk)
    for path, stat in everything(mount):
        if stat.is_file:
            mount.read(path)
    desk.tickets[22]["body"] = "changed"
    desk.clear_log()
    path = "/Büro_Küche/Same title__22.md"
    assert b"changed" not in mount.read(path)                # within ttl: nobody told
    mount.stale(["/Büro_Küche"])
    assert b"changed" in mount.read(path)
    mount.read("/Printers__1/Ticket 4: paper _ ink__5.json")
    assert desk.calls() == 1, desk.log
    desk.add(2, "Brand new", "x")
    mount.stale(["/Büro_Küche"], below=False)
    assert any("Brand new" in e.name for e in mount.list("/Büro_Küche"))
    assert desk.calls() == 3
    mount.read(path)
    assert desk.calls() == 3


def test_an_unchanged_version_is_never_fetched_again():
    with Library() as simulator:
        mount = library_module()["library"](Token(), simulator.address)
        mount.store.ttl = 0.0
        assert b"shelf Science, here" in mount.read("/Science/Poems 2.md")
        mount.read("/Science/Poems 2.md")
        assert simulator.calls("/books/972") == 1
        simulator.books["972"].update(lent_to="Kim", revision=2)
        assert b"shelf Science, lent" in mount.read("/Science/Poems 2.md")
        assert simulator.calls("/books/972") == 2


def test_threads_that_ask_for_the_same_thing_ask_once(desk):
    mount = desk_mount(desk)
    desk.fault("latency", seconds=0.05)
    threads = [threading.Thread(target=mount.list, args=("/",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert desk.calls() == 3


def test_many_files_are_fetched_at_a_time(desk):
    mount = desk_mount(desk, width=8)
    paths = [p for p, s in everything(mount) if s.is_file and p.endswith(".json")]
    desk.fault("latency", seconds=0.1)
    desk.busiest = 0
    results = list(mount.read_many([*paths, "/none"]))
    assert 3 < desk.busiest <= 8
    assert [p for p, _ in results] == [*paths, "/none"] and isinstance(results[-1][1], FileNotFoundError)
    assert all(isinstance(data, bytes) for _, data in results[:-1])


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "reset"}, errno.EIO),
    ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(desk, fault, number):
    mount = desk_mount(desk)
    mount.client.retry = QUICK.__class__(tries=2, base=0.01, most=0.1)
    mount.list("/Büro_Küche")
    desk.fault(match="GET /tickets", **fault)
    with Terminal({"/desk": mount}) as terminal:
        result = terminal.run("cat '/desk/Büro_Küche/Same title__22.json'")
        assert result.stdout == "" and result.exit_code == 1 and "mirage: desk: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.read("/desk/Büro_Küche/Same title__22.json")
        assert caught.value.errno == number
        desk.heal()
        assert terminal.run("jq .id '/desk/Büro_Küche/Same title__22.json'").stdout == "22\n"


def test_the_token_shows_nowhere(desk):
    mount = desk_mount(desk, "wrong-CANARY")
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert "bad token Bearer ***" in caught.value.note
    assert "CANARY" not in f"{caught.value!r} {caught.value.note} {mount!r} {mount.client!r}"


def test_a_new_token_is_asked_for_when_the_old_one_is_refused(desk):
    class Renewed(Token):
        def reveal(self):
            self.text, old = "desk-token-CANARY", self.text
            return old
    service = RestService.model_validate(yaml.safe_load(blocks("yaml")[0]))
    mount = Declared(service, RestClient(service, Renewed("expired"), desk.address, retry=QUICK))
    assert len(mount.list("/")) == 5


def test_the_token_does_not_leave_its_server(desk):
    seen = []

    class Other(Desk):
        def handle(self, request, entry):
            seen.append(dict(request.headers))
            return super().answer(request)

    class Leading(Desk):
        def answer(self, request):
            from mirage.bench.services.http import Response
            if request.path == "/redirect":
                return Response(302, b"", {"Location": f"{other.address}projects"})
            return Response.of_json([], headers={"Link": f'<{other.address}projects>; rel="next"'})

    with Other() as other, Leading() as leading:
        service = Service(name="lead", summary="x", tree=[
            File(name="r", content=Fetch(path="/redirect")),
            File(name="l", content=Listing(path="/l", paging=Paging(kind="link")))])
        mount = Declared(service, RestClient(service, Token(), leading.address, retry=QUICK))
        assert b"Printers" in mount.read("/r.json")
        assert seen and not any("CANARY" in str(headers) for headers in seen)
        with pytest.raises(OSError) as caught:
            mount.read("/l.json")
        assert caught.value.errno == errno.EIO and len(seen) == 1


def test_listings_that_are_too_long_or_odd_are_errors(desk):
    def mount(**listing):
        service = Service(name="desk", summary="x", tree=[File(name="all", content=Listing(**listing), renderings=[
            Rendering(suffix=".jsonl", format="jsonl")])])
        return Declared(service, RestClient(service, Token(), desk.address, retry=QUICK))
    paging = {"kind": "cursor", "parameter": "cursor", "next": "next_cursor"}
    assert mount(path="/projects", items="projects", paging=paging).read("/all.jsonl").count(b"\n") == 5
    raises(errno.EFBIG, mount(path="/projects", items="projects", paging={**paging, "most": 2}).read, "/all.jsonl")
    raises(errno.EIO, mount(path="/projects", items="nothing").read, "/all.jsonl")
    circle = {**paging, "next": "'0'"}
    raises(errno.EIO, mount(path="/projects", query={"cursor": "0"}, items="projects", paging=circle).read, "/all.jsonl")


def test_declarations_are_checked():
    for wrong in ({"name": "x y"}, {"tree": [{"file": "a"}]}, {"tree": [{"file": "{a", "each": {"path": "/"}, "id": "]["}]},
                  {"tree": [{"directory": "d", "each": {"path": "/", "paging": {"kind": "cursor"}}}]},
                  {"tree": [{"file": "{a b}", "each": {"path": "/"}}]}, {"colour": 1}):
        with pytest.raises(ValueError):
            Service.model_validate({"name": "x", "summary": "x", "tree": [], **wrong})
    service = Service(name="x", summary="x", base_url="ftp://x", tree=[])
    with pytest.raises(ValueError):
        RestClient(service)


def test_describe(desk):
    with Terminal({"/desk": desk_mount(desk)}) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "| `/desk` | Tickets of the help desk, by project. Read-only. |" in text and desk.log == []
    assert "`/desk/<name>/<title>__<id>.json`" in text and "## `.json` format" in text


def test_listings_by_post_have_their_parameters_in_the_body():
    seen = []

    class Query(Desk):
        def answer(self, request):
            from mirage.bench.services.http import Response
            body = request.json()
            seen.append(body)
            at = body.get("start", 0)
            return Response.of_json({"results": self.projects[at:at + body["size"]], "next": at + 2 if at < 4 else None})

    with Query() as simulator:
        simulator.fault("reset", after=True, times=1)
        service = Service(name="q", summary="x", tree=[Directory(name="{name}", each=Listing(path="/p"), children=[])])
        listing = Listing(method="POST", path="/query", items="results", body={"filter": {"kind": "{kind}", "n": ["{n}", 2]}},
                          paging=Paging(kind="cursor", parameter="start", next="next", size=2, size_parameter="size"))
        mount = Declared(service, RestClient(service, Token(), simulator.address, retry=QUICK))
        kept = mount.fetch_listing(listing, {"kind": "a", "n": 7})
        assert len(kept.value) == 5 and seen[-1] == {"filter": {"kind": "a", "n": [7, 2]}, "size": 2, "start": 4}


def test_what_was_asked_for_before_a_change_does_not_hide_it(desk):
    """A slow listing that began before our change ends after it."""
    mount = desk_mount(desk)
    desk.fault("latency", "/tickets", seconds=0.3, times=1)
    slow = threading.Thread(target=mount.list, args=("/Network",))
    mount.list("/")
    slow.start()
    time.sleep(0.1)
    desk.fault("latency", "/tickets", seconds=0.0)
    desk.add(5, "Brand new", "x")
    mount.stale(["/Network"])
    assert [e.name for e in mount.list("/Network")] == ["Brand new__24.json", "Brand new__24.md"]
    slow.join(10)
    assert [e.name for e in mount.list("/Network")] == ["Brand new__24.json", "Brand new__24.md"]


def test_a_file_that_comes_in_pages_is_read_no_further_than_needed():
    asked = []

    def pages(scope):
        for number in range(50):
            asked.append(number)
            yield [{"page": number, "text": "x" * 1000} for _ in range(100)]

    service = Service(name="paged", summary="x", base_url="http://127.0.0.1:1", tree=[
        File(name="rows", pages=pages, renderings=[Rendering(suffix=".jsonl", format="jsonl")]),
        File(name="rows", pages=pages, renderings=[
            Rendering(suffix=".txt", format="text", render=lambda page, scope: "head\n" if page is None else f"{page[0]['page']}\n")])])
    mount = Declared(service, RestClient(service))
    assert "open" in mount.capabilities and mount.stat("/rows.txt").size is None
    with Terminal({"/p": mount}) as terminal:
        assert terminal.run("head -n 3 /p/rows.jsonl | jq .page").stdout == "0\n0\n0\n" and len(asked) < 5
        assert terminal.run("wc -l /p/rows.jsonl /p/rows.txt | tr -s ' '").stdout == " 5000 /p/rows.jsonl\n 51 /p/rows.txt\n 5051 total\n"
        assert terminal.run("tail -n 1 /p/rows.txt; head -n 2 /p/rows.txt; echo x >/p/rows.txt").stdout == "49\nhead\n0\n"
    assert mount.read("/rows.txt", 3, 5) == b"d\n0\n1" and mount.read("/rows.txt", 10**6) == b""
    handle = mount.open("/rows.jsonl", 0)
    first = handle.pread(100, 0)
    assert handle.pread(10, 5_000_000) and handle.pread(100, 0) == first and handle.pread(1, 10**9) == b""
    assert handle.stat().size == len(mount.read("/rows.jsonl"))


def test_a_directory_may_be_among_its_own_children():
    folders = Directory(name="{name}", each=lambda scope: [{"id": n, "name": f"f{n}"} for n in (1, 2)], about="a folder",
                        children=[File(name="x", content=lambda scope: {"path": scope.path})])
    service = Service(name="nested", summary="x", base_url="http://127.0.0.1:1", tree=[folders])
    folders.children.append(folders)
    mount = Declared(service, RestClient(service))
    assert mount.read("/f1/f2/f1/x.json") == b'{\n  "path": "/f1/f2/f1/x"\n}\n'
    assert [path for path, _ in mount.describe().paths] == ["<name>/"]


def test_the_services_of_the_guide_are_short():
    """Tree and CLI of each together: the YAML one is what test_rest.py runs, the Python one is imported above."""
    whole = [blocks("yaml")[0], blocks("python")[0]]
    assert all("create-ticket" in text or "lend_book" in text for text in whole)
    assert [len(text.splitlines()) < 250 for text in whole] == [True, True]
