"""An MCP server (`agent-memory-mcp`) by which any MCP client remembers, recalls, updates, forgets.

It keeps nothing: each call goes to the memory service under the key of its caller.
"""
