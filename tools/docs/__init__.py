"""What the documentation is made of besides its pages: diagrams, tables that follow from the code.

`make docs` writes both, builds the site and checks that it loads nothing from elsewhere.
"""
