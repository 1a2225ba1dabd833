"""What every room stands on: table access, keys, settings, clock, encryption, observability."""
