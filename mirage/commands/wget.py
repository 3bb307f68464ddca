"""wget: download a URL into a file, where the owner of the terminal allows its host."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """GNU Wget, a non-interactive network retriever.
Usage: wget [OPTION]... [URL]...

  -O,  --output-document=FILE      write documents to FILE
  -q,  --quiet                     quiet (no output)
  -nv, --no-verbose                turn off verboseness
  -P,  --directory-prefix=PREFIX   save files to PREFIX/..
  -T,  --timeout=SECONDS           set all timeout values to SECONDS
  -U,  --user-agent=AGENT          identify as AGENT
       --header=STRING             insert STRING among the headers
       --post-data=STRING          use the POST method; send STRING as the data
       --spider                    don't download anything
  -S,  --server-response           print server response
"""
SPEC = Spec("O:qP:T:U:Scnvt:e:i:", {
    "output-document": ("O", REQUIRED), "quiet": ("q", NONE), "no-verbose": ("nv", NONE),
    "directory-prefix": ("P", REQUIRED),
    "timeout": ("T", REQUIRED), "user-agent": ("U", REQUIRED), "header": ("header", REQUIRED),
    "post-data": ("post", REQUIRED),
    "spider": ("spider", NONE), "server-response": ("S", NONE), "tries": ("t", REQUIRED), "continue": ("c", NONE),
    "max-redirect": ("redirect", REQUIRED), "no-clobber": ("nc", NONE), "show-progress": ("progress", NONE),
    "progress": ("progress", REQUIRED), "input-file": ("i", REQUIRED), "method": ("method", REQUIRED),
    "body-data": ("post", REQUIRED), "content-on-error": ("error", NONE)}, help=HELP, status=2,
            usage="Usage: wget [OPTION]... [URL]...\n\n")


def main(proc: Process) -> int:
    args = ["--no-verbose" if a == "-nv" else "--no-clobber" if a == "-nc" else a for a in proc.argv[1:]]
    options, urls = parse(proc, SPEC, args)
    values = dict(options)
    if "i" in values:
        try:
            urls += proc.fs.read(values["i"]).decode("utf-8", "replace").split()
        except OSError as e:
            proc.write_error(f"{values['i']}: {e.strerror}\n")
            return 3
    if not urls:
        proc.write_error("wget: missing URL\nUsage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n")
        return 1
    headers = {"User-Agent": values.get("U", "Wget/1.25.0"), "Accept": "*/*"}
    for key, value in options:
        if key == "header":
            name, _, text = value.partition(":")
            headers[name.strip()] = text.strip()
    status = 0
    for url in urls:
        status = max(status, _one(proc, url if "://" in url else f"http://{url}", values, headers))
    return status


def _one(proc: Process, url: str, values: dict[str, str], headers: dict[str, str]) -> int:
    from mirage.commands._http import HttpError, Response, fetch
    quiet = "q" in values
    body = values["post"].encode("utf-8", "surrogateescape") if "post" in values else None
    method = values.get("method") or ("HEAD" if "spider" in values else "POST" if body is not None else "GET")
    if body is not None:
        headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    timeout = values.get("T", "60")
    redirects = values.get("redirect", "20")
    name = values.get("O") or url.partition("?")[0].rpartition("/")[2] or "index.html"
    if "P" in values and "O" not in values:
        name = f"{values['P'].rstrip('/')}/{name}"
    if "nc" in values and proc.fs.exists(name):
        proc.write_error(f"File {quote(proc, name)} already there; not retrieving.\n")
        return 1
    last: Response | None = None
    parts: list[bytes] = []
    try:
        for last in fetch(proc, method, url, headers, body, float(timeout) if timeout.isdecimal() else 60.0,
                          int(redirects) if redirects.isdecimal() else 20):
            if "S" in values:
                proc.write_error(f"  HTTP/1.1 {last.status} {last.reason}\n"
                                 + "".join(f"  {k}: {v}\n" for k, v in last.headers))
        assert last is not None
        if last.status >= 400 and "error" not in values:
            last.close()
            if not quiet:
                proc.write_error(f"{url}:\nERROR {last.status}: {last.reason}.\n")
            return 8
        size = 0
        for piece in last.pieces() if method != "HEAD" else ():
            size += len(piece)
            proc.kernel.fits(size)
            parts.append(piece)
            proc.check()
        last.close()
    except HttpError as e:
        if not quiet:
            host = url.partition("://")[2].partition("/")[0]
            text = f"unable to resolve host address {quote(proc, host)}" if e.status == 6 else e.text
            proc.message(text)
        if e.note:
            proc.write_error(f"mirage: {e.note}\n")
        return 5 if e.status == 60 else 4
    if "spider" in values:
        if not quiet:
            proc.write_error("Remote file exists.\n")
        return 0
    data = b"".join(parts)
    if name == "-":
        proc.stdout.write(data)
        return 0
    try:
        proc.fs.write(name, data)
    except OSError as e:
        proc.write_error(f"{name}: {e.strerror}\n\nCannot write to {quote(proc, name)} ({e.strerror}).\n")
        return 3
    if not quiet:
        proc.write_error(f"{url} [{len(data)}] -> \"{name}\"\n")
    return 0
