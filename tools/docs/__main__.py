"""Write the diagrams, the tables and the limits into docs/: `python -m tools.docs`."""

from tools.docs import diagrams, limits, tables

diagrams.write()
limits.write()
tables.write()
