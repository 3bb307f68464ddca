"""Ways to the content of a protected path: by every kind of name, and by every tool that opens, links or renames."""
from __future__ import annotations

import pytest

from mirage.mounts import Memory
from tests.policy.support import RULES, SECRET, files, seen, terminal

K = "/data/secret/key.txt"
READERS = r"""
cat /data/secret/key.txt
cat /data/dir/../secret/key.txt
cat /data/./secret//key.txt
cd /data/secret && cat key.txt
cd /data && cat secret/key.txt
cd /data/dir && cat ../secret/key.txt
cat /data/s*/k*
cat /data/*/key.txt /data/*.pem
cat /data/{secret,dir}/{key,a}.txt
cat $(printf /data/sec%s/key.txt ret)
x=secret; cat /data/$x/key.txt
eval 'cat /data/secret/key.txt'
bash -c 'cat /data/secret/key.txt'
bash <<< 'cat /data/secret/key.txt'
echo /data/secret/key.txt | xargs cat
xargs -a /data/secret/key.txt echo
find /data -type f -exec cat {} +
find /data -name '*.txt' -exec cat {} \;
find /data -exec grep . {} \;
cat < /data/secret/key.txt
cat <<< "$(< /data/secret/key.txt)"
cat <<< "$(cat /data/secret/key.txt)"
cat <(cat /data/secret/key.txt)
cat <<E
$(< /data/secret/key.txt)
E
ln -s /data/secret/key.txt /tmp/l; cat /tmp/l
ln -s /data/secret /tmp/l; cat /tmp/l/key.txt; ls /tmp/l/
ln -s ../data/secret /tmp/l; cat /tmp/l/key.txt
ln -s / /tmp/r; cat /tmp/r/data/secret/key.txt
cd /data; ln -s secret s; cat s/key.txt; cat s/../secret/key.txt
ln /data/secret/key.txt /data/h; cat /data/h
cp -l /data/secret/key.txt /data/h; cat /data/h
ln /data/x.pem /data/x.txt; cat /data/x.txt
mv /data/secret /data/open; cat /data/open/key.txt
mv /data/secret/key.txt /data/k; cat /data/k
mv /data/x.pem /data/x.txt; cat /data/x.txt
cp /data/x.pem /data/x.txt; cat /data/x.txt
cp -r /data /tmp/c; cat /tmp/c/secret/key.txt /tmp/c/x.pem
cp -a /data/. /tmp/c; grep -r . /tmp/c
tar cf /tmp/t.tar -C / data; tar xOf /tmp/t.tar
tar cf - /data | tar xOf -
awk 1 /data/secret/key.txt
awk 'BEGIN{while((getline x < "/data/secret/key.txt")>0) print x}'
awk 'BEGIN{system("cat /data/secret/key.txt")}'
awk 'BEGIN{"cat /data/secret/key.txt" | getline x; print x}'
sed -n p /data/secret/key.txt
sed 'r /data/secret/key.txt' /data/pub.txt
sed 'R /data/secret/key.txt' /data/pub.txt
sed '1e cat /data/secret/key.txt' /data/pub.txt
sed -f /data/secret/key.txt /data/pub.txt
source /data/secret/key.txt
. /data/secret/run.sh
/data/secret/run.sh
cd /data && ./secret/run.sh
PATH=/data/secret:$PATH; run.sh
bash /data/secret/run.sh
exec /data/secret/run.sh
hash -p /data/secret/run.sh run; run
BASH_ENV=/data/secret/run.sh bash -c true
exec 3< /data/secret/key.txt; cat <&3
exec 3<> /data/secret/key.txt; cat <&3
cat /dev/fd/3 3< /data/secret/key.txt
exec {fd}< /data/secret/key.txt; cat <&$fd
cat /proc/self/cwd/data/secret/key.txt
read x < /data/secret/key.txt; echo "$x"
mapfile x < /data/secret/key.txt; echo "${x[@]}"
while read -r x; do echo "$x"; done < /data/secret/key.txt
history -r /data/secret/key.txt; history
PS4='$(cat /data/secret/key.txt)'; set -x; true
x='$(cat /data/secret/key.txt)'; echo "${x@P}"
a[$(cat /data/secret/key.txt)]=1
trap 'cat /data/secret/key.txt' EXIT; exit
trap 'cat /data/secret/key.txt' DEBUG; true
coproc cat /data/secret/key.txt; cat <&"${COPROC[0]}"
grep -r . /data
grep -f /data/secret/key.txt /data/pub.txt
grep . /data/secret/key.txt
head /data/secret/key.txt
tail /data/secret/key.txt
sort /data/secret/key.txt
sort --files0-from=/data/secret/key.txt
cut -c1- /data/secret/key.txt
od -c /data/secret/key.txt
base64 -w0 /data/secret/key.txt | base64 -d
diff /data/secret/key.txt /data/pub.txt
diff -r /data /tmp
cmp -bl /data/secret/key.txt /data/pub.txt
comm /data/secret/key.txt /data/pub.txt
paste /data/secret/key.txt
join /data/secret/key.txt /data/pub.txt
split /data/secret/key.txt /tmp/part; cat /tmp/part*
install /data/secret/key.txt /tmp/i; cat /tmp/i
jq -R . /data/secret/key.txt
jq -n --rawfile x /data/secret/key.txt '$x'
jq -n --slurpfile x /data/secret/key.txt '$x'
tac /data/secret/key.txt
rev /data/secret/key.txt | rev
nl /data/secret/key.txt
gzip -c /data/secret/key.txt | gzip -dc
uniq /data/secret/key.txt
shuf /data/secret/key.txt
wc --files0-from=/data/secret/key.txt
date -f /data/secret/key.txt
env -C /data/secret cat key.txt
sed -i s/x/y/ /data/secret/key.txt; cat /data/secret/key.txt
sed -i.txt s/x/y/ /data/x.pem; cat /data/x.*
tee /tmp/o < /data/secret/key.txt
""".strip()


def lines():
    """One line of shell each; a here-document goes on to its end."""
    found, text = [], READERS.splitlines()
    while text:
        line = text.pop(0)
        if "<<E" in line:
            line = "\n".join([line, text.pop(0), text.pop(0)])
        found.append(line)
    return found


@pytest.mark.parametrize("action", ["hide", "deny"])
@pytest.mark.parametrize("root", ["", "/w"], ids=["mount", "folder"])
def test_no_way_to_the_content(root, action):
    """/data is the root of a mount, or /w/data a folder of one, which can be renamed."""
    for line in lines():
        line = line.replace("-C / data", f"-C {root or '/'} data").replace("/data", f"{root}/data")
        mounts = {"/w": files("data/")} if root else None
        with terminal(RULES[action].replace("/data", f"{root}/data"), mounts) as t:
            result = t.run(line, timeout=10)
            assert SECRET not in seen(result), line
            assert "not found" not in result.stderr or "run" in line, line
            assert not t.machine.errors, line
            left = Everything(t, root)
            assert SECRET not in left.text, f"{line}: it is now in {left.where}"
            assert left.kept, f"{line}: the protected file is gone"


class Everything:
    """What an agent could read after the line, and whether the owner's files are still there."""

    def __init__(self, t, root):
        self.text, self.where = "", ""
        for folder, entries in t.fs.walk("/"):
            for entry in entries:
                path = f"{folder.rstrip('/')}/{entry.name}"
                if path.startswith(("/usr", "/proc", "/dev")) or entry.stat is None or not entry.stat.is_file:
                    continue
                try:
                    data = t.fs.read(path).decode("utf-8", "replace")
                except OSError:
                    continue
                if SECRET in data:
                    self.text, self.where = data, path
        gate, t.machine.gate = t.machine.gate, None
        try:
            self.kept = t.fs.read(root + K).decode() == f"{SECRET} one\n" and \
                SECRET in t.fs.read(f"{root}/data/x.pem").decode()
        finally:
            t.machine.gate = gate


CHANGERS = {
    "write": r"""
echo x >> {f}
tee -a {f} <<< x
exec 3>>{f}; echo x >&3
awk 'BEGIN{{print "x" >> "{f}"}}'
echo x 1<> {f}
truncate -s +5 {f}
cd /data/keep; echo x >> ../keep/f
ln -s {f} /tmp/l; echo x >> /tmp/l
echo {f} | xargs touch; xargs -a <(echo x) -I @ bash -c 'echo @ >> {f}'
bash -c 'echo x >> {f}'
find {f} -fprint {f}x
: > {f}.new && cat {f}.new >> {f}
""",
    "destroy": r"""
> {f}
: > {f}
echo x > {f}
echo x >| {f}
echo x &> {f}
rm {f}
rm -rf /data/keep
cd /data && rm -r keep
unlink {f}
find /data -name f -delete
find /data/keep -type f -exec rm {{}} +
truncate -s 0 {f}
cp /dev/null {f}
cp /data/other {f}
mv {f} /data/g
mv /data/other {f}
mv /data/keep /data/kept
mv -T /data/dir /data/keep
tee {f} < /data/other
sed -i s/c/d/ {f}
sed -n 'w {f}' /data/other
awk 'BEGIN{{print "x" > "{f}"}}'
sort -o {f} /data/other
install /data/other {f}
ln -sf /data/other {f}
ln -f /data/other {f}
split -b 1 /data/other /data/keep/f; cp /data/other {f}
tar cf {f} /data/other
tar cf /tmp/t -C /data other --transform 's,other,keep/f,'; tar xf /tmp/t -C /data
gzip {f}
echo {f} | xargs rm
exec 3>{f}
ln -s /data/keep /tmp/l; rm /tmp/l/f; > /tmp/l/f
rmdir -p /data/keep/e
shuf -o {f} /data/other
uniq /data/other {f}
""",
    "create": r"""
touch {n}
> {n}
mkdir {n}
mkdir -p {n}/x
mkfifo {n}
mktemp {n}XXXXXX
cp {f} {n}
mv /data/other {n}
mv /data/dir {n}
ln -s x {n}
ln /data/other {n}
tee {n} < {f}
exec 3<>{n}
sed -n 'w {n}' {f}
awk 'BEGIN{{print "x" > "{n}"}}'
split {f} {n}
tar cf {n} {f}
install -d {n}
install {f} {n}
cp -r /data/dir {n}
gzip -k {f}
""",
    "setattr": r"""
chmod 600 {f}
chmod -R u-w /data/keep
chmod +x {f}
touch {f}
touch -d yesterday {f}
touch -r /data/other {f}
cp -p /data/other {f}
find /data/keep -exec touch {{}} +
""",
    "link": r"""
ln {f} /data/l
ln -s {f} /data/keep/l
ln /data/other /data/keep/l
cp -l {f} /data/l
link {f} /data/l
cp -s /data/other /data/keep/l
""",
}


def snapshot(t):
    """Every file below the protected folder with content, mode and mtime; directories by name."""
    gate, t.machine.gate = t.machine.gate, None
    try:
        found = {}
        for folder, entries in t.fs.walk("/w/data/keep"):
            found[folder] = None
            for entry in entries:
                path = f"{folder}/{entry.name}"
                stat = t.fs.stat(path, follow=False)
                found[path] = (t.fs.read(path) if stat.is_file else None, stat.mode, stat.mtime_ns, stat.nlink) \
                    if not stat.is_dir else None
        return found
    finally:
        t.machine.gate = gate


@pytest.mark.parametrize("effect", CHANGERS)
def test_a_denied_effect_does_not_happen_by_any_tool(effect):
    keep = "/w/data/keep"
    for line in CHANGERS[effect].strip().splitlines():
        line = line.format(f="/data/keep/f", n="/data/keep/n").replace("/data", "/w/data")
        policy = "rules:\n  - {effect: [" + effect + "], path: " + keep + ", action: deny, reason: STAYS}\n"
        memory = Memory({"data/keep/f": "content\n", "data/keep/e/": None, "data/other": "other\n", "data/dir/x": "x"})
        with terminal(policy, {"/w": memory}) as t:
            before = snapshot(t)
            result = t.run(line, timeout=10)
            after = snapshot(t)
            assert not t.machine.errors and "not found" not in result.stderr, line
            changed = {path for path in before.keys() | after.keys() if before.get(path, 0) != after.get(path, 0)}
            if effect == "destroy":                          # other effects are allowed: names may come, content may grow
                assert all(path in after for path in before), line
                assert after[f"{keep}/f"][0].startswith(b"content\n"), line
            elif effect == "create":
                assert after.keys() <= before.keys(), line
            elif effect == "link":
                assert all(v is None or v[3] == 1 for v in after.values()) and f"{keep}/l" not in after, line
            elif effect == "setattr":
                now = {path: v and (v[1],) for path, v in after.items()}
                assert now == {path: v and (v[1],) for path, v in before.items()}, line
            else:
                assert after[f"{keep}/f"][0] == b"content\n" or "destroy" in {e.effect for e in result.effects}, line
            assert changed or result.refusals, line


@pytest.mark.parametrize("line", [
    "cat {k}", "cat < {k}", "cd /data/secret", "source {k}", "read x < {k}", "mapfile x < {k}", "exec 3< {k}",
    "exec 3> {k}", "ls /data/secret", "stat {k}", "wc {k}", "base64 {k}", "tac {k}", "rev {k}", "jq -R . {k}", "file {k}",
    "sed -n p {k}", "sed 'r {k}' /data/pub.txt", "sed 'R {k}' /data/pub.txt", "sed -n 'w {k}' /data/pub.txt",
    "awk 1 {k}", "awk 'BEGIN{{print 1 > \"{k}\"}}'", "awk 'BEGIN{{getline x < \"{k}\"}}'", "find /data", "du /data",
    "grep -r q /data", "rg q /data", "tar cf /tmp/t {k}", "cp {k} /tmp/k", "mv {k} /tmp/k",
    "rm {k}", "ln {k} /data/l", "touch {k}", "touch -r {k} /tmp/q", "date -r {k}", "mkdir /data/secret/n", "tee {k}",
    "sort -o {k} /data/pub.txt", "split {k}", "shuf {k}", "uniq {k}", "tsort {k}", "xargs -a {k} echo",
    "env -C /data/secret pwd", "find /data/dir -newer {k}", "bash {k}", "{k}", "truncate -s 0 {k}", "chmod 600 {k}",
    "realpath {k}", "gzip {k}", "od {k}", "xxd {k}", "csplit {k} 1", "history -r {k}", "/data/secret/run.sh",
    "mkdir /data/secret", "pushd /data/secret", "mkfifo {k}",
])
def test_every_tool_says_why(line):
    with terminal(RULES["deny"]) as t:
        result = t.run(line.format(k=K) + " < /dev/null" * ("tee" in line))
        assert result.stderr.count("mirage: denied: KEEPOUT\n") == 1, result.stderr
        assert "Permission denied" in seen(result) or line.startswith(("sed 'r", "sed 'R", "awk 'BEGIN{{getline", "tree"))
        assert result.refusals and {r.action for r in result.refusals} == {"deny"}


def test_the_reason_comes_after_the_tool_s_own_words():
    with terminal(RULES["deny"]) as t:
        assert t.run(f"cat {K}").stderr == f"cat: {K}: Permission denied\nmirage: denied: KEEPOUT\n"
        assert t.run(f"cat {K} {K}").stderr.count("mirage:") == 1      # once in a process
        assert t.run(f"cat {K}; cat {K}").stderr.count("mirage:") == 2
        assert t.run(f"echo > {K}").stderr == f"bash: line 1: {K}: Permission denied\nmirage: denied: KEEPOUT\n"
        assert t.run(f"cat {K} 2>/dev/null").stderr == ""


def test_the_python_door():
    with terminal(RULES["deny"]) as t:
        for act in (lambda: t.fs.read(K), lambda: t.fs.write(K, b"x"), lambda: t.fs.append(K, b"x"), lambda: t.fs.stat(K),
                    lambda: t.fs.list("/data/secret"), lambda: t.fs.remove(K), lambda: t.fs.rename(K, "/data/y"),
                    lambda: t.fs.mkdir("/data/secret/n"), lambda: t.fs.chmod(K, 0o600),
                    lambda: t.fs.remove("/data/secret", recursive=True), lambda: t.fs.symlink("x", "/data/secret/l")):
            with pytest.raises(PermissionError) as refused:
                act()
            assert refused.value.note == "denied: KEEPOUT" and refused.value.filename
        assert not t.fs.exists(K)
    with terminal(RULES["hide"]) as t:
        for act in (lambda: t.fs.read(K), lambda: t.fs.write(K, b"x"), lambda: t.fs.mkdir("/data/secret"),
                    lambda: t.fs.rename("/data/pub.txt", K), lambda: t.fs.symlink("x", "/data/secret"),
                    lambda: t.fs.rename("/data/pub.txt", "/data/new.pem"), lambda: t.fs.append("/data/new.pem", b"")):
            with pytest.raises(FileNotFoundError):
                act()
        assert {e.name for e in t.fs.list("/data")} == {"dir", "pub.txt"}
        assert [folder for folder, _ in t.fs.walk("/data")] == ["/data", "/data/dir"]
