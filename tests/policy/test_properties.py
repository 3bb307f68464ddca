"""For random trees, rules and operations: policies only narrow, aliases do not widen, content does not get out."""
from __future__ import annotations

import posixpath

from hypothesis import given, settings
from hypothesis import strategies as st

from mirage import Terminal
from mirage.mounts import Memory
from mirage.policy import Policy
from mirage.policy.model import PolicyModel
from mirage.policy.vocabulary import FILE_EFFECTS, STRICTNESS

NAMES = ["a", "b", "c", "k.pem"]
name = st.sampled_from(NAMES)
inner = st.lists(name, min_size=1, max_size=3).map("/".join)
pattern = st.one_of(
    inner.map(lambda p: f"/m/{p}"), inner.map(lambda p: f"/n/{p}"), st.just("*.pem"), st.just("/m/*/b"), st.just("a/b"),
    st.just("/m/**/c"), st.just("/m/a/**"), st.just("/**/b/c"))
effects = st.lists(st.sampled_from(FILE_EFFECTS), min_size=1, max_size=3, unique=True)
action = st.sampled_from(["allow", "deny", "hide", "ask"])
one_rule = st.builds(lambda p, e, a: {"path": p, "action": a, **({} if a == "hide" else {"effect": e})}, pattern,
                     st.one_of(effects, st.just(["read"])), action)


def document(rules, default="allow", allow_paths=None):
    return PolicyModel.model_validate({"rules": rules, "default": default, "allow_paths": allow_paths})


documents = st.builds(document, st.lists(one_rule, max_size=4), st.sampled_from(["allow", "allow", "deny"]),
                      st.one_of(st.none(), st.just(["/m/a", "/tmp"])))


@settings(max_examples=60, deadline=None)
@given(st.lists(documents, min_size=1, max_size=3), documents, inner, st.sampled_from(FILE_EFFECTS))
def test_a_further_policy_never_widens(sources, further, path, effect):
    for where in (f"/m/{path}", f"/n/{path}", "/m", "/"):
        before = Policy(sources).on_path(effect, where).action
        for more in ([*sources, further], [further, *sources]):
            assert STRICTNESS[Policy(more).on_path(effect, where).action] >= STRICTNESS[before]


@settings(max_examples=40, deadline=None)
@given(documents, st.lists(inner, min_size=1, max_size=5, unique=True), st.data())
def test_the_answer_for_an_object_is_the_strictest_of_its_names(source, paths, data):
    memory = tree(paths)
    files = [p for p in paths if not memory.stat("/" + p).is_dir]
    links = []
    if files:
        links = [f"/{data.draw(st.sampled_from(files))}", "/extra"]
        memory.link(*links)
    with Terminal({"/m": memory, "/n": memory}, policy=Policy([source])) as t:
        gate = t.machine.gate
        for path in paths:
            from mirage.vfs.resolve import resolve
            target = resolve(t.machine.namespace.table, f"/m/{path}")
            names = [f"/m/{path}", f"/n/{path}"]
            if "/" + path in links:
                names += ["/m/extra", "/n/extra"]
            for effect in FILE_EFFECTS:
                strictest = max(STRICTNESS[gate.policy.on_path(effect, n).action] for n in names)
                assert STRICTNESS[gate.decide(effect, target).action] == strictest


def tree(paths):
    memory = Memory()
    for path in sorted(paths):
        parts = path.split("/")
        try:
            for i in range(1, len(parts)):
                at = "/" + "/".join(parts[:i])
                try:
                    memory.mkdir(at, 0o755, 1000, 1000)
                except FileExistsError:
                    pass
            memory.replace("/" + path, f"<{path}>".encode(), 0o644, 1000, 1000)
        except (NotADirectoryError, IsADirectoryError):
            continue
    for path in paths:                                       # every name of the list exists, as a file or a directory
        try:
            memory.stat("/" + path)
        except (FileNotFoundError, NotADirectoryError):
            parts = path.split("/")
            while parts:
                try:
                    if not memory.stat("/" + "/".join(parts)).is_dir:
                        memory.unlink("/" + "/".join(parts))
                        break
                except (FileNotFoundError, NotADirectoryError):
                    pass
                parts.pop()
            at = ""
            for part in path.split("/"):
                at += "/" + part
                try:
                    memory.mkdir(at, 0o755, 1000, 1000)
                except FileExistsError:
                    pass
    return memory


place = st.one_of(inner.map(lambda p: f"/m/{p}"), inner.map(lambda p: f"/n/{p}"), st.sampled_from(["/tmp/x", "/tmp/y", "/m/z"]))
operation = st.one_of(
    st.tuples(st.sampled_from(["mv", "mv -T", "cp -r", "ln", "ln -s", "cp -l", "mv -f", "ln -sf", "cp -a"]), place, place)
    .map(" ".join),
    st.tuples(st.sampled_from(["mkdir -p", "rm -rf", "rmdir", "touch", "chmod -R u+w"]), place).map(" ".join),
    st.tuples(place, place).map(lambda p: f"cat {p[0]} > {p[1]}"),
    st.tuples(place, place).map(lambda p: f"mkdir -p {posixpath.dirname(p[1])}; mv {p[0]} {p[1]}"),
    st.tuples(place).map(lambda p: f"cd {p[0]}"),
    st.tuples(place, place).map(lambda p: f"tar cf - -C {posixpath.dirname(p[0])} {posixpath.basename(p[0])} | tar xf - -C {p[1]}"),
)
protecting = st.builds(lambda p, a, e: {"path": p, "action": a, **({"effect": e} if a == "deny" else {})}, pattern,
                       st.sampled_from(["hide", "deny"]), st.sampled_from([["read"], ["read", "stat", "list"], ["read", "search"]]))


@settings(max_examples=50, deadline=None)
@given(st.lists(protecting, min_size=1, max_size=3), st.lists(inner, min_size=2, max_size=6, unique=True),
       st.lists(operation, min_size=1, max_size=6), st.booleans())
def test_protected_content_stays_where_it_is(rules, paths, operations, linked):
    memory = tree(paths)
    files = [p for p in paths if not memory.stat("/" + p).is_dir]
    if linked and files:
        try:
            memory.link("/" + files[0], "/z")
        except FileExistsError:
            pass
    with Terminal({"/m": memory, "/n": memory}, policy=Policy([document(rules)])) as t:
        policy = t.machine.gate.policy
        secrets = set()
        for path in files:
            names = [f"/m/{path}", f"/n/{path}"] + (["/m/z", "/n/z"] if linked and path == files[0] else [])
            if any(policy.on_path("read", n).action in ("deny", "hide") for n in names):
                secrets.add(f"<{path}>")
        for text in operations:
            out = t.run(text, timeout=5)
            assert not any(s in out.stdout + out.stderr for s in secrets), text
        assert not t.machine.errors
        shown = t.run("cd /; find /m /n /tmp -type f -exec cat {} +; cat /m/* /n/*/* /tmp/*; grep -rh . /m /n /tmp").stdout
        assert not any(s in shown for s in secrets), (operations, shown)
