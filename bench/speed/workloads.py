"""What is measured: one shell script each, run by Mirage and by bash with GNU's tools; small ones by peers too."""
from __future__ import annotations


class Workload:
    """One script. group: heading in the table; ordered: the output must be the same bytes, else the same lines."""

    __slots__ = ("group", "name", "ordered", "script")

    def __init__(self, group: str, name: str, script: str, *, ordered: bool = True) -> None:
        self.group, self.name, self.script, self.ordered = group, name, script, ordered


SHELL = (
    ("arithmetic loop, 100,000", "s=0; for ((i=0;i<100000;i++)); do ((s+=i)); done; echo $s"),
    ("for + $(( )), 100,000", "x=0; for i in {1..100000}; do x=$((x+i)); done; echo $x"),
    ("while read, 100,000 lines", "n=0; while read -r line; do ((n++)); done < lines.txt; echo $n"),
    ("while read a b rest, 100,000", "n=0; while read -r a b rest; do n=$((n+b)); done < lines.txt; echo $n"),
    ("function calls + local, 20,000",
     "f() { local x=$1; r=$((x+1)); }; r=0; for ((i=0;i<20000;i++)); do f $r; done; echo $r"),
    ("while [ -lt ], 50,000", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo $i"),
    ("while [[ -lt ]], 50,000", "i=0; while [[ $i -lt 50000 ]]; do i=$((i+1)); done; echo $i"),
    ("[ = ] && [[ == x* ]], 50,000",
     'n=0; for ((i=0;i<50000;i++)); do [ "$i" = 7 ] || [[ $i == 4* ]] && ((n++)); done; echo $n'),
    ("case, 50,000", "n=0; for ((i=0;i<50000;i++)); do case $i in *[13579]) ((n++));; *) ;; esac; done; echo $n"),
    ("s+=ab, 20,000", "s=; for ((i=0;i<20000;i++)); do s+=ab; done; echo ${#s}"),
    ("echo, 20,000", "for ((i=0;i<20000;i++)); do echo line $i; done"),
    ("printf, 20,000", "for ((i=0;i<20000;i++)); do printf '%d %s\\n' $i x; done"),
    ("a+=(x), 20,000", "a=(); for ((i=0;i<20000;i++)); do a+=(x$i); done; echo ${#a[@]} ${a[777]}"),
    ("a[i]=, 20,000",
     "for ((i=0;i<20000;i++)); do a[i]=$((i*2)); done; s=0; for v in ${a[@]}; do ((s+=v)); done; echo $s"),
    ("associative array, 20,000",
     "declare -A m; for ((i=0;i<20000;i++)); do ((m[k$((i%97))]+=i)); done; echo ${m[k5]}"),
    ("expansions, 20,000",
     "p=/a/b/c.txt; for ((i=0;i<20000;i++)); do b=${p##*/}; d=${p%/*}; e=${b//c/$i}; done; echo $d $e"),
    ("command substitutions, 2,000", "for ((i=0;i<2000;i++)); do x=$(echo $i); done; echo $x"),
    ("external commands, 300", "for ((i=0;i<300;i++)); do basename /a/b/$i | tr 1 2 > /dev/null; done; echo $i"),
)

TOOLS = (
    ("pipeline of 3, 10 MB", "cat big.txt | grep ERROR | wc -l"),
    ("grep fixed, many lines", "grep ERROR big.txt"),
    ("grep fixed, few lines", "grep needle big.txt"),
    ("grep -E, many lines", "grep -E 'ERROR.*(disk|net) [0-9]+' big.txt"),
    ("grep -c -i", "grep -c -i error big.txt"),
    ("grep -n", "grep -n ERROR big.txt"),
    ("grep -v", "grep -v ERROR big.txt"),
    ("grep -o -E", "grep -oE 'host[0-9]+' big.txt"),
    ("sort", "sort big.txt"),
    ("sort -k2,2n -u", "sort -k2,2n -u numbers.txt"),
    ("sort -rn", "cut -d' ' -f2 numbers.txt | sort -rn"),
    ("wc", "wc big.txt"),
    ("wc -l", "wc -l big.txt"),
    ("uniq -c", "cut -d' ' -f2 big.txt | uniq -c"),
    ("cut -d -f", "cut -d' ' -f2,5 big.txt"),
    ("tr", "tr a-z A-Z < big.txt"),
    ("tr -d, tr -s", "tr -d 0-9 < big.txt | tr -s ' '"),
    ("sed s///g", "sed 's/ERROR/error/g' big.txt"),
    ("sed -E s, groups", "sed -E 's/^([^ ]+) ([A-Z]+)/\\2 \\1/' big.txt"),
    ("sed, two commands", "sed -e '/WARN/d' -e 's/host/node/' big.txt"),
    ("sed -n p", "sed -n '/needle/p' big.txt"),
    ("tac", "tac big.txt"),
    ("head | tail", "head -n 200000 big.txt | tail -n 100000"),
    ("rev", "rev big.txt"),
    ("awk sum by key", "awk '{s[$3]+=$5} END{for(k in s) n++; print n, s[\"host7\"]}' big.txt"),
    ("awk print fields", "awk '{print $1, $3}' big.txt"),
    ("awk -F, condition", "awk -F' ' '$2==\"ERROR\" && $5>5000 {n++} END{print n}' big.txt"),
    ("cut | sort | uniq -c | sort", "cut -d' ' -f3 big.txt | sort | uniq -c | sort -rn | head -3"),
    ("sha256sum, base64", "sha256sum big.txt; base64 big.txt | tail -1"),
    ("gzip | zcat", "gzip -c numbers.txt | zcat | wc -c"),
)

JQ = (
    ("jq -c .", "jq -c . events.jsonl"),
    ("jq .user.name", "jq .user.name events.jsonl"),
    ("jq -r select", "jq -r 'select(.amount > 9000 and .ok) | .path' events.jsonl"),
    ("jq -c object", "jq -c '{id, name: .user.name}' events.jsonl"),
)

FILES = (
    ("find", "find tree", False),
    ("find -name", "find tree -name '*7.json'", False),
    ("find -type f -size",
     "find tree -type f -size -2 -newer nothing 2>/dev/null | wc -l; find tree -type f | wc -l", True),
    ("grep -r", "grep -r needle tree", False),
    ("grep -rl --include", "grep -rl --include='*.json' needle tree", False),
    ("ls -R", "ls -R tree", True),
    ("ls -lR", "ls -lR tree | wc -l", True),
    ("globstar **/*.json", "shopt -s globstar; set -- tree/**/*.json; echo $#", True),
    ("tar cf, tar tf", "tar cf all.tar tree; tar tf all.tar | wc -l", True),
    ("du", "du -a tree | wc -l", True),
    ("find | xargs wc", "find tree -name '*.txt' | sort | xargs wc -l | tail -1", True),
    ("cat */*", "cat tree/*/*.txt | wc -c", True),
)

PEERS = (                                                    # over files of a tenth of the size, data.make(10)
    ("echo hi", "echo hi"),
    ("arithmetic loop, 10,000", "s=0; for ((i=0;i<10000;i++)); do ((s+=i)); done; echo $s"),
    ("while read, 10,000 lines", "n=0; while read -r line; do ((n++)); done < lines.txt; echo $n"),
    ("function calls, 2,000", "f() { local x=$1; r=$((x+1)); }; r=0; for ((i=0;i<2000;i++)); do f $r; done; echo $r"),
    ("while [[ -lt ]], 5,000", "i=0; while [[ $i -lt 5000 ]]; do i=$((i+1)); done; echo $i"),
    ("case, 5,000", "n=0; for ((i=0;i<5000;i++)); do case $i in *[13579]) ((n++));; *) ;; esac; done; echo $n"),
    ("string building, 2,000", "s=; for ((i=0;i<2000;i++)); do s+=ab; done; echo ${#s}"),
    ("command substitutions, 200", "for ((i=0;i<200;i++)); do x=$(echo $i); done; echo $x"),
    ("pipeline of 3, 1 MB", "cat big.txt | grep ERROR | wc -l"),
    ("grep fixed, 1 MB", "grep ERROR big.txt"),
    ("grep -E, 1 MB", "grep -E 'ERROR.*(disk|net) [0-9]+' big.txt"),
    ("grep -c -i, 1 MB", "grep -c -i error big.txt"),
    ("sort, 1 MB", "sort big.txt"),
    ("sort -k2,2n -u, 20,000 lines", "sort -k2,2n -u numbers.txt"),
    ("wc, 1 MB", "wc big.txt"),
    ("uniq -c, 1 MB", "cut -d' ' -f2 big.txt | uniq -c"),
    ("cut, 1 MB", "cut -d' ' -f2,5 big.txt"),
    ("tr, 1 MB", "cat big.txt | tr a-z A-Z"),
    ("sed s///g, 1 MB", "sed 's/ERROR/error/g' big.txt"),
    ("awk sum by key, 1 MB", "awk '{s[$3]+=$5} END{for(k in s) n++; print n, s[\"host7\"]}' big.txt"),
    ("jq -c ., 2 MB", "jq -c . events.jsonl"),
    ("jq select, 2 MB", "jq -r 'select(.amount > 9000 and .ok) | .path' events.jsonl"),
    ("find, 2,000 files", "find tree"),
    ("grep -r, 2,000 files", "grep -r needle tree"),
    ("**/*.json, 2,000 files", "shopt -s globstar; set -- tree/**/*.json; echo $#"),
    ("tar cf, tar tf, 2,000 files", "tar cf all.tar tree; tar tf all.tar | wc -l"),
)

TRANSCRIPT_LINES = (
    "cd project", "ls", "cat README.md", "ls src | head -5", "grep -rn TODO src | sort | head",
    "wc -l src/*.py | tail -1",
    "find . -name '*.csv' | wc -l", "x=$(grep -c def src/module_4.py); echo $x", "sed -n '1,5p' src/module_3.py",
    "head -3 data/row_7.csv | cut -d, -f2", "awk -F, '{s+=$2} END{print s}' data/row_9.csv",
    "git_dir=.git; [ -d $git_dir ] || echo none",
    "for f in src/module_1*.py; do echo $(basename $f .py); done", "sort -t, -k2,2n data/row_3.csv | tail -2",
    "echo version $(sed -n 's/version = //p' setup.cfg)", "cat data/*.csv | sort | uniq -d | wc -l",
    "test -f setup.cfg && echo yes", "printf '%s\\n' *.md | sed 's/md/txt/'",
    "tr a-z A-Z < README.md | head -1", "cd ..",
)


def transcript() -> str:
    """200 lines as an agent types them."""
    return "\n".join(TRANSCRIPT_LINES * 10)


def peer_workloads() -> list[Workload]:
    """What the peers are measured with: the kinds of the others, small enough for the slow ones to end."""
    out = [Workload("peers", name, script, ordered=False) for name, script in PEERS]
    return [*out, Workload("peers", "agent transcript, 200 lines", transcript())]


def workloads() -> list[Workload]:
    out = [Workload("shell", *row) for row in SHELL]
    out.append(Workload("shell", "agent transcript, 200 lines", transcript()))
    out += [Workload("tools, 10 MB", *row) for row in TOOLS]
    out += [Workload("jq, 20 MB", *row) for row in JQ]
    out += [Workload("20,000 files in memory", name, script, ordered=ordered) for name, script, ordered in FILES]
    out += [Workload("20,000 files on a host mount", f"host: {name}", script, ordered=ordered)
            for name, script, ordered in FILES]
    return out
