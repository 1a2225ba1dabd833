"""What needs no key: discovery, the OpenAPI document, its page, health (contract §6)."""
