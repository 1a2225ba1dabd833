"""Writes the OpenAPI document: `python -m tools.openapi`."""

from tools.openapi.document import PATH, render_document

PATH.write_text(render_document(), encoding="utf-8")
