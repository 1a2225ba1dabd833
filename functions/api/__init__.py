"""The entry point for HTTP: events of an API Gateway HTTP API (payload 2.0) in, responses out."""
