"""The OpenAPI document, made from the routes, the request models and the response types.

`make openapi` writes it to `functions/api/openapi.json`, from where the API serves it.
"""
