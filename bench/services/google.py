"""What Google's simulators share: access and refresh tokens, and the error of a wrong one."""
from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from mirage.bench.services.http import Request, Response, Service


class GoogleService(Service):
    """Tokens: access token -> scope; refresh token -> scope of the access tokens that it gives."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.tokens: dict[str, str] = {"simulator-token": scope}
        self.refresh_tokens: dict[str, str] = {"simulator-refresh": scope}
        self._issued = 0

    def expire_tokens(self) -> None:
        """Every access token is refused from now on; refresh tokens stay good."""
        self.tokens.clear()

    def scope_of(self, request: Request) -> str | None:
        """The scope of the request's access token; None for a wrong or missing one."""
        return self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))

    def unauthorized(self) -> Response:
        return self.error(401, headers={"WWW-Authenticate": 'Bearer realm="https://accounts.google.com/"'})

    def refresh(self, request: Request) -> Response:
        """POST /token (RFC 6749, section 6)."""
        form: dict[str, Any] = {k: v[0] for k, v in parse_qs(request.body.decode()).items()}
        scope = self.refresh_tokens.get(form.get("refresh_token", ""))
        if form.get("grant_type") != "refresh_token" or scope is None:
            return Response.of_json({"error": "invalid_grant",
                                     "error_description": "Token has been expired or revoked."}, 400)
        self._issued += 1
        token = f"simulator-access-{self._issued}"
        self.tokens[token] = scope
        return Response.of_json({"access_token": token, "expires_in": 3599, "scope": scope, "token_type": "Bearer"})
