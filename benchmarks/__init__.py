"""Measurements of the service's costs and speed: `python -m benchmarks --help`."""
