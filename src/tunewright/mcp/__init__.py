"""The MCP server: few tools for coding agents, which call the public functions.

    tunewright mcp          (stdio; needs the extra `mcp`)

`tools` answers without the protocol, `server` speaks it. Training runs in a separate process that
survives the server.
"""
