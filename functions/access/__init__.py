"""Explain access: who may read and write what, and by which rule."""
