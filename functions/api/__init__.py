"""Door: HTTP, as API Gateway hands it over (HTTP API, payload 2.0)."""
