"""The documents that the API responds with: their types, and the functions that render them.

A field's docstring is its description in the OpenAPI document, whose schemas are derived from these
types by `tools.openapi`. A type's name there has no `Document` at its end.
"""
