"""Diagrams of the documentation, and tables that are derived from the code.

`make docs` writes both, builds the site, and checks that no page loads a file of another server.
"""
