"""Write the diagrams and the tables into docs/: `python -m tools.docs`."""

from tools.docs import diagrams, tables

diagrams.write()
tables.write()
