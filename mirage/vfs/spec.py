"""Mount SPECs of command lines: `PROVIDER:ARG?option=value&...`, as `host:~/src:rw`, `gmail:?token=env:T`."""
from __future__ import annotations

from mirage.vfs import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """(provider, options). Values are percent-decoded, ARG is taken as it is up to the first `?`."""
    head, question, query = spec.partition("?")
    name, _, argument = head.partition(":")
    module = registry.provider(name)
    options: dict[str, Any] = {}
    for word, (option, value) in getattr(module, "SUFFIXES", {}).items():
        if argument.endswith(":" + word):
            argument = argument[:-len(word) - 1]
            options[option] = value
    if argument:
        key = getattr(module, "ARGUMENT", None)
        if key is None:
            raise registry.ProviderError(f"{name}: takes no argument, but there is {argument!r}")
        options[key] = argument
    if question:
        from urllib.parse import unquote
        for pair in filter(None, query.split("&")):
            key, _, value = pair.partition("=")
            options[unquote(key)] = unquote(value)
    return name, options


def open_spec(spec: str) -> Any:
    """The mount that a SPEC describes; ProviderError (a ValueError) or OSError where it cannot be made."""
    name, options = parse(spec)
    return registry.make_mount(name, options)


def parse_mount(text: str) -> tuple[str, str]:
    """(place, SPEC) of a `--mount PATH=SPEC`."""
    place, equals, spec = text.partition("=")
    if not equals or not place.startswith("/") or not spec:
        raise registry.ProviderError(f"not PATH=SPEC with an absolute PATH: {text!r}")
    return place, spec
