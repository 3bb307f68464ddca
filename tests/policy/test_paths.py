"""allow_paths, default, order of rules, and the shipped policies."""
from __future__ import annotations

import pytest

from mirage import Terminal
from mirage.mounts import Memory
from mirage.policy import Policy, shipped_names
from tests.policy.support import SECRET, seen, terminal

TREE = {"in/ok/f": "fine\n", "in/no": SECRET, "home/github_token": SECRET}
INSIDE = "allow_paths: [/data/in/ok, /tmp]"
WHY = "mirage: denied: outside the paths of this task (/data/in/ok, /tmp)\n"


@pytest.fixture
def t():
    with terminal(INSIDE, {"/data": Memory(TREE)}) as t:
        yield t


def test_the_way_there_may_be_walked_not_listed(t):
    assert t.run("cd /data; cd in; cd ok; cat f; pwd; cd ..; pwd; cd ok").stdout == "fine\n/data/in/ok\n/data/in\n"
    assert t.run("cd /; cat data/in/ok/f").stdout == "fine\n"
    for line in ("ls /", "ls /data", "cd /data; ls", "ls /data/in", "find / -name '*github_token*'", "du /", "tree /data/in",
                 "grep -r x /data", "ls -d /data/home", "cd /data/home", "cat /data/in/no", "tar cf /tmp/t /data"):
        result = t.run(line)
        assert SECRET not in seen(result) and "github" not in seen(result).replace(line, ""), line
        assert result.refusals and result.exit_code, line
    assert t.run("find / -name '*github_token*'").stderr == "find: ‘/’: Permission denied\n" + WHY
    assert t.run("echo /data/* /data/in/*; compgen -f /data/").stdout == "/data/* /data/in/*\n"


def test_outside_nothing_can_be_told_apart(t):
    """What is there and what is not: the same words."""
    for there, absent in (("home", "hame"), ("home/github_token", "home/x"), ("in/no", "in/na"), ("home/github_token/x", "home/nothing/x")):
        for line in ("cat {}", "ls {}", "[ -e {} ]; echo $?", "mkdir {}", "mkdir -p {}", "rm {}", "rmdir {}", "> {}", "touch {}",
                     "mv {} /tmp", "mv /tmp/a {}", "ln -s x {}", "ln /tmp/a {}", "cd {}", "stat {}", "realpath {}", "mkfifo {}",
                     "cat {}/../in/ok/f", "cat {}/", "readlink {}", "cp /tmp/a {}", "unlink {}", "test -d {}; echo $?", "{}"):
            one, two = (t.run("> /tmp/a; cd /; " + line.format(f"/data/{name}")) for name in (there, absent))
            assert seen(one).replace(there, absent) == seen(two) and one.exit_code == two.exit_code, line.format(there)


def test_links_lead_nowhere_else(t):
    for line in ("ln -s /data/in/no /tmp/l; cat /tmp/l", "ln -s /data /tmp/d; cat /tmp/d/in/no; ls /tmp/d/",
                 "ln /data/in/no /data/in/ok/l; cat /data/in/ok/l", "cd /data/in/ok; cat ../no", "cat /data/in/ok/../no",
                 "ln -s .. /data/in/ok/up; cat /data/in/ok/up/no; ls /data/in/ok/up/", "mv /data/in /tmp/in; cat /tmp/in/no"):
        assert SECRET not in seen(t.run(line)), line
    assert t.run("ln -sf /data/in/ok /tmp/okay; cat /tmp/okay/f; cat /data/in/ok/../ok/f").stdout == "fine\n" * 2
    assert t.run("seq 1; /usr/bin/seq 1; command -v seq; echo 1 > /dev/null; cat < /dev/null").stdout == "1\n1\n/usr/bin/seq\n"


def test_it_is_printed_in_the_guide():
    with terminal("allow_paths: [/data/in/ok, /VFS.md]", {"/data": Memory(TREE)}) as t:
        text = t.run("cat /VFS.md").stdout
        assert "Only these paths may be used: `/data/in/ok`, `/VFS.md`" in text and "home" not in text
    with terminal("rules: [{path: /data/h, action: hide, reason: TELLTALE}, {path: /data, action: readonly, reason: TOLD}]") as t:
        text = t.run("cat /VFS.md").stdout
        assert "TOLD" in text and "TELLTALE" not in text and "/data/h" not in text


def test_a_rule_does_not_lead_out_of_allow_paths():
    policy = INSIDE + "\nrules: [{path: /data, effect: read, action: ask}, {path: /data/home, action: allow}, " \
                      "{path: /data/in/no, effect: read, action: limit, calls: 9}]"
    for effect in ("read", "stat", "write"):
        assert Policy.load(policy).on_path(effect, "/data/home/github_token").action == "deny"
        assert Policy.load(policy).on_path(effect, "/data/in/no").action == "deny"
    assert Policy.load(policy).on_path("read", "/data/in/ok/f").action == "ask"


def test_default_deny():
    policy = "default: deny\nrules: [{path: /data/in/ok, effect: [read, stat, list], action: allow}]"
    with terminal(policy, {"/data": Memory(TREE)}) as t:
        assert t.run("cd /data/in; cat ok/f; cat no; > ok/f; ls ok; echo").stdout == "fine\nf\n\n"
        assert t.fs.read("/data/in/ok/f") == b"fine\n"
        assert t.run("touch /tmp/x").exit_code == 1


def test_the_first_match_wins():
    policy = "rules: [{path: /data/in/ok, action: allow}, {path: /data/in, action: deny}, {path: /data, action: readonly}]"
    with terminal(policy, {"/data": Memory(TREE)}) as t:
        assert t.run("echo x > /data/in/ok/g; cat /data/in/ok/g; cat /data/in/no; cat /data/home/github_token").stdout == f"x\n{SECRET}"
        assert t.run("> /data/home/x").exit_code == 1


def test_read_only():
    with terminal("read-only", {"/data": Memory(TREE), "/workspace": Memory()}) as t:
        for line in ("> /data/new", "rm /data/in/no", "mkdir /data/d", "chmod 600 /data/in/no", "mv /data/in/no /tmp/x",
                     "ln -s x /data/l", "ln /data/in/no /data/l", "touch /data/in/no", "sed -i s/x/y/ /data/in/no",
                     "mv /workspace/w /data/", "truncate -s 0 /data/in/no", "find /data -delete"):
            result = t.run("> /workspace/w; " + line)
            assert "mirage: denied: this terminal is read-only; keep results in /workspace\n" in result.stderr, line
        assert t.run("cat /data/in/no > /workspace/x; cat /workspace/x; echo > /dev/null").stdout == SECRET
        assert t.fs.read("/data/in/no") == SECRET.encode()


def test_no_secrets():
    names = [".env", "prod.env", ".env.local", "id_rsa", "server.pem", "tls.key", ".netrc", ".npmrc", "credentials.json",
             ".aws/credentials", ".ssh/config", ".kube/config", ".docker/config.json", "github_token", "token.json", "a.tfstate",
             ".git-credentials", ".bash_history", "secrets.yaml", "vault.kdbx", ".config/gh/hosts.yml", "deep/er/.env"]
    kept = ["README.md", "environment.md", "keyboard.txt", "tokens.py", "secret_santa.txt", ".config/app.toml", "config", "env"]
    with terminal("no-secrets", {"/data": Memory({**dict.fromkeys(names, SECRET), **dict.fromkeys(kept, "kept\n")})}) as t:
        assert SECRET not in seen(t.run("cd /data; cat " + " ".join(names) + "; grep -r . .; tar cf - . | tar xOf -; cp -r . /tmp/c"))
        assert SECRET not in seen(t.run("grep -r . /tmp/c"))
        assert t.run("cd /data; cat " + " ".join(kept)).stdout == "kept\n" * len(kept)
        assert t.run("grep -rl kept /data").stdout.count("\n") == len(kept)


def test_workspace_only():
    with terminal("workspace-only", {"/data": Memory(TREE)}, cwd="/workspace") as t:
        assert t.run("echo hi > a; mkdir d; mv a d; cat d/a; ls /tmp /workspace; head -1 /VFS.md").exit_code == 0
        assert "mirage: denied: outside" in t.run("cat /data/in/no").stderr
        assert t.run("find / -name '*github_token*'").stderr.startswith("find: ‘/’: Permission denied\n")


@pytest.mark.parametrize("name", ["no-secrets", "no-whole-mount", "read-only", "workspace-only"])
def test_the_shipped_ones_load_by_name(name):
    assert name in shipped_names()
    with Terminal(policy=name) as t:
        assert t.run("echo hi").stdout == "hi\n"


def test_no_policy_is_no_gate():
    with Terminal() as t:
        assert t.machine.gate is None and t.run("echo hi").usage is None
