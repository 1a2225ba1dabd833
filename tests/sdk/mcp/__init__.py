"""The MCP server, met by the official client over real transports."""
