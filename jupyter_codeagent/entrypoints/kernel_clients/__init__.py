"""The way of another process to the session of a running kernel: MCP servers, and Jupyter AI."""
