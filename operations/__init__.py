"""Commands to operate a deployment: `python -m operations --help`."""
