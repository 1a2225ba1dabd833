"""Diagrams of the documentation, and tables that follow from the code.

`make docs` writes both, builds the site, and checks that no page loads a file of another server.
"""
