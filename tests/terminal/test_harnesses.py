"""Agent frameworks with scripted models drive a Terminal, with the code of docs/harness.md."""
from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mirage import Terminal
from mirage.clis import VirtualCli, operation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "harness.md"
LINES = ["cat /VFS.md | head -1; cd /tmp; x=5", "echo $x > f; pwd", "cat f; cat missing", "sleep 5"]
ANSWERS = ["---\n", "/tmp\n", "5\ncat: missing: No such file or directory\n[exit status 1]", "[exit status 124]"]


def example(heading: str) -> dict[str, Any]:
    """The names that the page's example makes."""
    code = re.search(rf"### {heading}\n\n```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code.group(1), names)
    return names


def arguments(line: str) -> dict[str, Any]:
    return {"command": line, "timeout": 0.2} if line.startswith("sleep") else {"command": line}


def check(seen: list[str]) -> None:
    assert len(seen) == len(LINES)
    for text, expected in zip(seen, ANSWERS, strict=True):
        assert text.endswith(expected), (text, expected)


def test_pydantic_ai() -> None:
    pytest.importorskip("pydantic_ai", reason="needs pydantic-ai-slim")
    names = example("pydantic-ai")
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    seen: list[str] = []

    def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
        assert [tool.name for tool in info.function_tools] == ["bash"]
        assert "virtual terminal" in (info.function_tools[0].description or "")
        assert info.function_tools[0].parameters_json_schema["required"] == ["command"]
        seen.extend(part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart))
        if len(seen) == len(LINES):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("bash", arguments(LINES[len(seen)]))])

    with names["terminal"]:
        assert names["agent"].run_sync("Look around.", model=FunctionModel(model)).output == "done"
        check(seen)


def test_openai_agents() -> None:
    pytest.importorskip("agents", reason="needs openai-agents")
    names = example("OpenAI Agents SDK")
    from agents import ModelResponse, RunConfig, Runner, Usage
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
    seen: list[str] = []

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *rest: Any, **more: Any) -> ModelResponse:
            assert [tool.name for tool in tools] == ["bash"] and tools[0].params_json_schema["required"] == ["command"]
            seen[:] = [item["output"] for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
            item: Any
            if len(seen) == len(LINES):
                text = ResponseOutputText(text="done", type="output_text", annotations=[])
                item = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
            else:
                item = ResponseFunctionToolCall(name="bash", arguments=json.dumps(arguments(LINES[len(seen)])), call_id=f"c{len(seen)}", type="function_call")
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *rest: Any, **more: Any) -> Any:
            raise NotImplementedError

    with names["terminal"]:
        done = Runner.run_sync(names["agent"], "Look around.", run_config=RunConfig(model=Scripted(), tracing_disabled=True))
        assert done.final_output == "done"
        check(seen)


def test_mcp() -> None:
    """A server that passes on tools("mcp") and call."""
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from mcp import Client
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    async def listed(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in terminal.tools("mcp")])

    async def called(context: Any, params: Any) -> CallToolResult:
        text = await asyncio.to_thread(terminal.call, params.name, params.arguments or {})
        return CallToolResult(content=[TextContent(type="text", text=text)])

    async def talk() -> list[str]:
        async with Client(Server("terminal", on_list_tools=listed, on_call_tool=called)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["bash"]
            answers = [(await client.call_tool("bash", arguments(line))).content[0] for line in LINES]
            return [answer.text for answer in answers if isinstance(answer, TextContent)]

    with Terminal() as terminal:
        check(asyncio.run(talk()))


def test_wrong_calls_of_a_model_are_answers() -> None:
    with Terminal() as terminal:
        assert terminal.call("shell", {"command": "ls"}) == "unknown tool 'shell'; the only tool is 'bash'"
        calls: tuple[str | dict[str, Any], ...] = (
            "{", "[]", {"cmd": "ls"}, {"command": ["ls"]}, {"command": "ls", "timeout": -1}, {"command": "ls", "cwd": "/"})
        for wrong in calls:
            assert not terminal.call("bash", wrong).startswith("Traceback") and terminal.call("bash", wrong)


def test_what_a_model_did_is_told() -> None:
    from pydantic import BaseModel

    class Text(BaseModel):
        text: str

    class Chat(VirtualCli):
        name, description = "chat", "Say things."

        @operation("Say it", Text, effects=("send",))
        def say(self, call: Any, a: Text) -> Any:
            return {"said": a.text}

    with Terminal(clis=[Chat()], policy="rules: [{effect: send, when: \"text == 'no'\", action: deny, reason: 'not that'}]") as terminal:
        assert terminal.call("bash", {"command": "chat say --text yes"}) == '{"said": "yes"}\n'
        assert terminal.call("bash", {"command": "chat say --text no"}).endswith("mirage: denied: not that\n[exit status 126]")
