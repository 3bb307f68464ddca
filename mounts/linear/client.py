"""Linear's API: what its errors mean, and the two kinds of tokens."""
from __future__ import annotations

import time
from typing import Any

from mirage.vfs.declare.graphql import GraphQLClient

STATUS = {"RATELIMITED": 429, "AUTHENTICATION_ERROR": 401, "FORBIDDEN": 403, "FEATURE_NOT_ACCESSIBLE": 403,
          "INTERNAL_SERVER_ERROR": 500, "LOCK_TIMEOUT": 503, "INPUT_ERROR": 400, "INVALID_INPUT": 400}
RESETS = ("x-ratelimit-requests-reset", "x-ratelimit-complexity-reset", "x-ratelimit-endpoint-requests-reset")
LONGEST = 5.0                                                # the limit refills all the time


class LinearClient(GraphQLClient):
    def credentials(self, token: str) -> str:
        """Personal keys stand alone, tokens of OAuth behind `Bearer`."""
        return token if token.startswith("lin_api_") else f"Bearer {token}"

    def status(self, error: dict[str, Any], status: int) -> int:
        if str(error.get("message", "")).startswith("Entity not found"):
            return 404
        return STATUS.get((error.get("extensions") or {}).get("code", ""), super().status(error, status))

    def wait(self, response: Any) -> float | None:
        """By the time, in milliseconds, at which a limit is whole again."""
        times = [float(response.headers[name]) / 1000 for name in RESETS if response.headers.get(name, "").isdigit()]
        return min(max(0.0, min(times) - time.time()), LONGEST) if times else None


