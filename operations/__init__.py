"""Commands for day two, on a deployment: `python -m operations --help`."""
