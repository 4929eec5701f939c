"""The protocol: the tools over stdio by the official `mcp` package."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import tunewright
from tunewright.errors import need
from tunewright.mcp.answer import Answer
from tunewright.mcp.arguments import schema_of
from tunewright.mcp.tools import TOOLS, call
from tunewright.messages import Message

NAME = "tunewright"


def tool_result(answer: Answer) -> dict[str, Any]:
    """The result of a tool call as the protocol has it."""
    data = answer.to_data()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {"content": [{"type": "text", "text": text}], "is_error": not answer.ok}


def make_server(folder: Path) -> Any:
    """The server of a project's folder, without a transport."""
    need("mcp", extra="mcp", purpose="tunewright mcp")
    import anyio.to_thread
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
        del context, parameters
        tools = [
            types.Tool(
                name=tool.name, description=tool.about, input_schema=schema_of(tool.arguments)
            )
            for tool in TOOLS.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any, parameters: types.CallToolRequestParams
    ) -> types.CallToolResult:
        del context
        name, given = parameters.name, parameters.arguments
        answer = await anyio.to_thread.run_sync(call, name, given or {}, folder)
        return types.CallToolResult.model_validate(tool_result(answer))

    return Server(
        NAME,
        version=tunewright.__version__,
        instructions=str(Message("mcp.instructions")),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve(folder: Path | None = None) -> None:
    """Answer an agent on standard input and output until it closes them.

    Args:
        folder: of the project; None: the working folder.
    """
    server = make_server((folder or Path.cwd()).resolve())
    import anyio
    from mcp.server.stdio import stdio_server

    async def main() -> None:
        async with stdio_server() as (reading, writing):
            # what a function prints must not get into the protocol
            with contextlib.redirect_stdout(sys.stderr):
                await server.run(reading, writing, server.create_initialization_options())

    anyio.run(main)
