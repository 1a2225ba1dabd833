"""An MCP server (`agent-memory-mcp`) by which any MCP client remembers, recalls, updates, forgets.

It stores nothing: each call is sent to the memory service with the caller's key.
"""
