"""What Canvas does differently from a plain REST service: throttling by 403, parts of files, uploads in three steps."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from mirage.vfs.declare import RestClient
from mirage.vfs.service import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

THROTTLED = b"Rate Limit Exceeded"
UPLOAD_TIMEOUT = 300.0


class CanvasClient(RestClient):
    def _exchange(self, method: str, url: str, query: dict[str, str], headers: dict[str, str], token: str,
                  body: Any) -> tuple[Any, bytes]:
        """A 403 for the rate limit counts as 429: the request was not carried out and may be sent again."""
        response, data = super()._exchange(method, url, query, headers, token, body)
        if response.status_code == 403 and THROTTLED in data[:200]:
            raise Failure(429, "rate limit exceeded (403)")
        return response, data

    def part(self, url: str, start: int, length: int, total: int) -> bytes:
        """Bytes of a file; the whole of it is fetched where the server knows no ranges. Raises OSError."""
        if urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise self._error("an address on another server")
        length = min(length, total - start)
        if length <= 0:
            return b""

        def attempt() -> bytes:
            self._limiter.take(1)
            with self._slots:
                wanted = {"Range": f"bytes={start}-{start + length - 1}"}
                response, data = self._exchange("GET", url, {}, wanted, self._token.text(), None)
            if response.status_code not in (200, 206):
                raise Failure(response.status_code, f"{response.reason_phrase} ({response.status_code})")
            shown = response.headers.get("content-range", "").rpartition("/")[2]
            if response.status_code == 200:
                shown, data = str(len(data)), data[start:start + length]
            if shown != str(total) or len(data) != length:
                raise Failure(0, "the content is not complete, or has changed")
            return data
        return self.retry.run(self.name, attempt)

    def upload(self, path: str, fields: dict[str, Any], data: bytes) -> Any:
        """A new file: announced at `path`, sent where Canvas says (without our token), confirmed. Raises OSError."""
        ticket = self.send("POST", path, body=fields).value
        target = urljoin(self.base, ticket["upload_url"])
        if urlsplit(target).scheme not in ("http", "https"):
            raise self._error("an upload to no web server")
        form: Mapping[str, str] = {key: str(value) for key, value in ticket["upload_params"].items()}
        name = ticket.get("file_param") or "file"

        def attempt() -> tuple[str, Any]:
            import httpx
            content = (str(fields["name"]), data, str(fields.get("content_type") or "application/octet-stream"))
            try:
                response = self._client().post(target, data=form, files={name: content}, timeout=UPLOAD_TIMEOUT)
            except httpx.HTTPError as e:
                raise Failure(0, f"the upload failed ({type(e).__name__})") from None
            self.counters.add(calls=1, size=len(response.content))
            where = response.headers.get("location", "")
            if not (response.is_success or response.is_redirect and where):
                raise Failure(response.status_code, f"the upload was refused ({response.status_code})")
            return (urljoin(target, where), None) if where else ("", response.json())
        where, file = self.retry.run(self.name, attempt, False)
        return self.send("GET", where).value if where else file

    def _error(self, text: str) -> OSError:
        from mirage.vfs.service import as_oserror
        return as_oserror(self.name, Failure(0, text))
