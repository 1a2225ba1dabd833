"""The generator of `agent_memory/model` from the service's OpenAPI document."""
