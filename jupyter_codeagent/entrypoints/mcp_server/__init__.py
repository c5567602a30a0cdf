"""`jupyter codeagent mcp`: an MCP server whose tools run programs in the sandbox of a running kernel."""
