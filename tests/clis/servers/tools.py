"""An MCP server made with the SDK: every kind of argument, result, annotation and failure."""
from __future__ import annotations

import base64
import os
import sys
import threading
from typing import Literal

from mcp.server.mcpserver import Image, MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("station-tools")
MEETING = threading.Barrier(3, timeout=20)
READ, DESTROY = ToolAnnotations(read_only_hint=True), ToolAnnotations(destructive_hint=True)


class Place(BaseModel):
    city: str
    height: int = 0


@server.tool(name="station_get_forecast", annotations=READ)
def get_forecast(city: str, days: int = 1, unit: Literal["C", "F"] = "C", tags: list[str] | None = None) -> dict[str, object]:
    """Forecast for a city. Long text that nobody needs in a list.

    More of it.
    """
    return {"city": city, "days": days, "unit": unit, "tags": tags}


@server.tool(name="station_say", annotations=READ)
def say(text: str) -> str:
    return text


@server.tool(name="station_move")
def move(place: Place, slow: bool = False) -> Place:
    """Move the station"""
    return Place(city=place.city.upper(), height=place.height + slow)


@server.tool(name="station_wipe", annotations=DESTROY)
def wipe() -> str:
    """Remove all readings"""
    return "gone"


@server.tool(name="station_photo", annotations=READ)
def photo() -> Image:
    """A picture"""
    return Image(data=base64.b64decode("iVBORw0KGgo="), format="png")


@server.tool(name="station_fail")
def fail(text: str) -> str:
    raise ValueError(f"no such station: {text} {os.environ.get('STATION_KEY')}")


@server.tool(name="station_meet")
def meet() -> str:
    """Comes back when three calls are there."""
    MEETING.wait()
    return "met"


@server.tool(name="station_die")
def die() -> str:
    os._exit(3)


@server.tool(name="station_environment")
def environment() -> dict[str, str]:
    return dict(os.environ)


if __name__ == "__main__":
    print("station: a secret of mine is", os.environ.get("STATION_KEY"), file=sys.stderr, flush=True)
    if "--http" in sys.argv:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[-1]))
    elif "--sse" in sys.argv:
        server.run("sse", host="127.0.0.1", port=int(sys.argv[-1]))
    else:
        server.run("stdio")
