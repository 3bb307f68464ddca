"""Requests to a service that speaks GraphQL: one address, errors inside of answers, Relay's connections."""
from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Any

from mirage.vfs.declare.client import RestClient, clean
from mirage.vfs.declare.template import select
from mirage.vfs.service import Failure, service_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    Variables = dict[str, Any]


class GraphQLClient(RestClient):
    """Like RestClient; `path` is where queries go. Subclasses say in `status` what their errors mean."""

    path = "/graphql"

    def query(self, text: str, variables: Variables | None = None, safe: bool = True) -> Any:
        """The data of an answer. `safe`: sending it twice does no harm."""
        body = {"query": text, "variables": variables or {}}
        return self.send("POST", self.path, body=body, safe=safe).value["data"]

    def pages(self, text: str, variables: Variables, at: str) -> Iterator[list[Any]]:
        """The nodes of a connection, a page at a time. `at`: jmespath of the connection; the query has `$after`."""
        after = None
        while True:
            found = select(at, self.query(text, {**variables, "after": after}))
            if not isinstance(found, dict):
                raise service_error(errno.ENOENT, f"{self.name}: nothing at {at}")
            yield found["nodes"]
            following = found["pageInfo"]["endCursor"] if found["pageInfo"]["hasNextPage"] else None
            if following is None:
                return
            if following == after:
                raise service_error(errno.EIO, f"{self.name}: the pages of {at} go round in a circle")
            after = following

    def nodes(self, text: str, variables: Variables, at: str) -> list[Any]:
        return [node for page in self.pages(text, variables, at) for node in page]

    def failure(self, response: Any, data: bytes, token: str) -> Failure | None:
        """Errors of GraphQL come with any status; what came with them is not used: it is not whole."""
        try:
            answer = json.loads(data)
        except ValueError:
            if response.status_code == 400:                  # perhaps a refusal that was cut off
                return Failure(0, "the answer is not complete, or no JSON")
            return super().failure(response, data, token)
        errors = answer.get("errors") if isinstance(answer, dict) else None
        if not errors:
            return super().failure(response, data, token)
        status = self.status(errors[0], response.status_code)
        return Failure(
            status, clean(str(errors[0].get("message", "")), token), self.wait(response) if status == 429 else None
        )

    def status(self, error: dict[str, Any], status: int) -> int:
        """The HTTP status that an error would have elsewhere; `status` is the answer's."""
        return status if status >= 400 else 400

    def wait(self, response: Any) -> float | None:
        """Seconds to wait after a refusal, or None."""
        return None
