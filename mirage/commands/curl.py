"""curl: transfer a URL, where the owner of the terminal allows its host; file:// reads the terminal's own files."""
from __future__ import annotations

import re

from mirage.commands._io import encode, read_operand
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands._http import Response
    from mirage.process.process import Process

HELP = """Usage: curl [options...] <url>
 -d, --data <data>           HTTP POST data
 -f, --fail                  Fail fast with no output on HTTP errors
 -G, --get                   Put the post data in the URL and use GET
 -H, --header <header>       Pass custom header(s) to server
 -h, --help                  Get help for commands
 -I, --head                  Show document info only
 -i, --show-headers          Show response headers in output
 -L, --location              Follow redirects
 -m, --max-time <seconds>    Maximum time allowed for transfer
 -o, --output <file>         Write to file instead of stdout
 -O, --remote-name           Write output to file named as remote file
 -X, --request <method>      Specify request method to use
 -s, --silent                Silent mode
 -S, --show-error            Show error even when -s is used
 -T, --upload-file <file>    Transfer local FILE to destination
 -u, --user <user:password>  Server user and password
 -A, --user-agent <name>     Send User-Agent <name> to server
 -V, --version               Show version number and quit
 -w, --write-out <format>    Output FORMAT after completion
"""
FLAGS = {"f": "fail", "G": "get", "h": "help", "I": "head", "i": "show-headers", "L": "location", "O": "remote-name",
         "s": "silent", "S": "show-error", "V": "version", "v": "verbose", "k": "insecure", "#": "progress-bar",
         "N": "no-buffer", "g": "globoff", "4": "ipv4", "6": "ipv6", "n": "netrc", "q": "disable",
         "J": "remote-header-name"}
VALUES = {"d": "data", "H": "header", "m": "max-time", "o": "output", "X": "request", "u": "user", "A": "user-agent",
          "w": "write-out", "e": "referer", "b": "cookie", "T": "upload-file", "c": "cookie-jar", "x": "proxy",
          "F": "form",
          "r": "range", "D": "dump-header", "K": "config", "E": "cert", "C": "continue-at"}
LONG_FLAGS = {*FLAGS.values(), "include", "compressed", "fail-with-body", "create-dirs", "http1.1", "http2",
              "no-progress-meter",
              "tlsv1.2", "tlsv1.3", "post301", "retry-connrefused", "fail-early", "path-as-is", "ssl-reqd"}
LONG_VALUES = {*VALUES.values(), "data-raw", "data-binary", "data-urlencode", "data-ascii", "json", "url",
               "connect-timeout",
               "max-redirs", "retry", "retry-delay", "retry-max-time", "max-filesize", "output-dir", "oauth2-bearer",
               "resolve",
               "interface", "cacert", "proto", "limit-rate"}
REFUSED = {"insecure", "proxy", "form", "config", "cert", "resolve", "interface", "cacert", "netrc", "cookie-jar"}
AGENT = "curl/8.14.1"


class Options:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.headers: list[str] = []
        self.data: list[bytes] = []
        self.json = False
        self.outputs: list[str] = []
        self.urls: list[str] = []


def _usage(proc: Process, text: str) -> Exit:
    proc.write_error(f"curl: {text}\ncurl: try 'curl --help' or 'curl --manual' for more information\n")
    return Exit(2)


def _parse(proc: Process) -> Options:
    o, args, at = Options(), proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if not arg.startswith("-") or arg == "-":
            o.urls.append(arg)
            continue
        names = [arg[2:]] if arg.startswith("--") else []
        place = 1
        while place < len(arg) and not arg.startswith("--"):
            letter = arg[place]
            place += 1
            if letter in VALUES:
                names.append(VALUES[letter])
                break
            if letter not in FLAGS:
                raise _usage(proc, f"option -{letter}: is unknown")
            names.append(FLAGS[letter])
        for name in names:
            if name in LONG_VALUES:
                value = arg[place:] if not arg.startswith("--") and place < len(arg) else None
                if value is None:
                    if at >= len(args):
                        raise _usage(proc, f"option {arg}: requires parameter")
                    value = args[at]
                    at += 1
                _value(proc, o, name, value)
            elif name.removeprefix("no-") in LONG_FLAGS or name in LONG_FLAGS:
                o.flags.add("show-headers" if name == "include" else name)
            else:
                raise _usage(proc, f"option {arg}: is unknown")
            if name in REFUSED:
                raise _usage(proc, f"option --{name}: is not available in this terminal")
    return o


def _read(proc: Process, name: str) -> bytes:
    try:
        return read_operand(proc, name)
    except OSError as e:
        raise _usage(proc, f"option -d: error encountered when reading a file: {name}: {e.strerror}") from None


def _value(proc: Process, o: Options, name: str, value: str) -> None:
    if name == "header":
        o.headers.append(value)
    elif name in ("data", "data-ascii", "data-binary", "json", "data-raw"):
        data = _read(proc, value[1:]) if value.startswith("@") and name != "data-raw" else encode(value)
        if name in ("data", "data-ascii") and value.startswith("@"):
            data = data.replace(b"\r", b"").replace(b"\n", b"")
        o.json = o.json or name == "json"
        o.data.append(data)
    elif name == "data-urlencode":
        from urllib.parse import quote
        key, equals, text = value.partition("=")
        o.data.append((f"{key}={quote(text, safe='')}" if equals and key else quote(text if equals else value, safe=""))
                      .encode())
    elif name == "output":
        o.outputs.append(value)
    elif name == "url":
        o.urls.append(value)
    else:
        o.values[name] = value


def main(proc: Process) -> int:
    o = _parse(proc)
    if o.flags & {"help", "version"}:
        proc.stdout.write(HELP.encode() if "help" in o.flags else b"curl 8.14.1 (Mirage)\nProtocols: file http https\n")
        return 0
    if not o.urls:
        raise _usage(proc, "(2) no URL specified")
    status = 0
    for number, url in enumerate(o.urls):
        status = _transfer(proc, o, url, o.outputs[number] if number < len(o.outputs) else "")
    return status


def _seconds(proc: Process, o: Options) -> float:
    text = o.values.get("max-time") or o.values.get("connect-timeout") or "60"
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]*)?", text):
        raise _usage(proc, "option -m: expected a proper numerical parameter")
    return max(float(text), 0.001)


def _headers(o: Options, body: bytes | None) -> dict[str, str]:
    headers = {"User-Agent": o.values.get("user-agent", AGENT), "Accept": "*/*"}
    if body is not None and "upload-file" not in o.values:
        headers["Content-Type"] = "application/json" if o.json else "application/x-www-form-urlencoded"
    if o.json:
        headers["Accept"] = "application/json"
    for name, header in (("referer", "Referer"), ("cookie", "Cookie")):
        if name in o.values:
            headers[header] = o.values[name]
    if "range" in o.values:
        headers["Range"] = f"bytes={o.values['range']}"
    if "user" in o.values:
        import base64
        headers["Authorization"] = "Basic " + base64.b64encode(encode(o.values["user"])).decode()
    if "oauth2-bearer" in o.values:
        headers["Authorization"] = f"Bearer {o.values['oauth2-bearer']}"
    for line in o.headers:
        key, _, value = line.partition(":")
        headers = {k: v for k, v in headers.items() if k.lower() != key.strip().lower()}
        if value.strip():
            headers[key.strip()] = value.strip()
    return headers


def _transfer(proc: Process, o: Options, url: str, output: str) -> int:
    from mirage.commands._http import HttpError, fetch
    if "://" not in url:
        url = "http://" + url
    body = (b"" if o.json else b"&").join(o.data) if o.data else None
    method = o.values.get("request") or ("HEAD" if "head" in o.flags else "POST" if body is not None else "GET")
    if "get" in o.flags and body is not None:
        url += ("&" if "?" in url else "?") + body.decode("utf-8", "replace")
        body, method = None, o.values.get("request", "GET")
    if "upload-file" in o.values:
        body, method = _read(proc, o.values["upload-file"]), o.values.get("request", "PUT")
    redirects = int(o.values.get("max-redirs", "50")[:4].lstrip("-") or "50") if "location" in o.flags else 0
    if "remote-name" in o.flags and not output:
        output = url.partition("?")[0].rstrip("/").rpartition("/")[2]
        if "://" + output in url:
            raise _usage(proc, "(23) Remote file name has no length")
    if "output-dir" in o.values and output:
        output = f"{o.values['output-dir'].rstrip('/')}/{output}"
    silent = "silent" in o.flags and "show-error" not in o.flags
    head: list[bytes] = []
    parts: list[bytes] = []
    last: Response | None = None
    try:
        for response in fetch(proc, method, url, _headers(o, body), body, _seconds(proc, o), redirects):
            last = response
            if response.status and o.flags & {"show-headers", "head"} or "dump-header" in o.values:
                lines = [f"HTTP/1.1 {response.status} {response.reason}", *(f"{k}: {v}" for k, v in response.headers),
                         "", ""]
                head.append("\r\n".join(lines).encode("utf-8", "replace"))
        assert last is not None
        if "fail" in o.flags and last.status >= 400:
            last.close()
            raise HttpError(22, f"The requested URL returned error: {last.status}")
        size = 0
        if "head" in o.flags and not last.status:
            head.append(f"Content-Length: {last.header('Content-Length')}\r\nAccept-ranges: bytes\r\n".encode())
        else:
            for piece in last.pieces():
                size += len(piece)
                proc.kernel.fits(size)
                parts.append(piece)
                proc.check()
        last.close()
    except HttpError as e:
        if not silent:
            proc.write_error(f"curl: ({e.status}) {e.text}\n")
        if e.note:
            proc.write_error(f"mirage: {e.note}\n")
        _report(proc, o, last, 0)
        return e.status
    return _deliver(proc, o, output, head, parts, last)


def _deliver(proc: Process, o: Options, output: str, head: list[bytes], parts: list[bytes], last: Response) -> int:
    if "dump-header" in o.values:
        proc.fs.write(o.values["dump-header"], b"".join(head))
        head = head if o.flags & {"show-headers", "head"} else []
    data = b"".join([*head, *parts])
    if output and output != "-":
        try:
            proc.fs.write(output, data)
        except OSError as e:
            proc.message(f"(23) client returned ERROR on write, {len(data)} bytes\nWarning: Failed to open the file "
                         f"{output}: {e.strerror}")
            return 23
    else:
        proc.stdout.write(data)
    _report(proc, o, last, sum(map(len, parts)))
    return 22 if "fail-with-body" in o.flags and last.status >= 400 else 0


def _report(proc: Process, o: Options, last: Response | None, size: int) -> None:
    text = o.values.get("write-out", "")
    if not text:
        return
    values = {"http_code": f"{last.status if last else 0:03d}", "response_code": f"{last.status if last else 0:03d}",
              "url_effective": last.url if last else "", "size_download": str(size), "num_redirects": "0",
              "content_type": last.header("Content-Type") if last else "", "time_total": "0.000000",
              "redirect_url": last.header("Location") if last else "", "exitcode": "0"}
    text = re.sub(r"%\{([a-z_]+)\}|\\([nrt\\])|%%", lambda m: values.get(m[1], "") if m[1] else
                  {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[m[2]] if m[2] else "%", text)
    proc.stdout.write(encode(text))
