"""Commands for day two, on the deployed stack: `python -m operations --help`."""
