"""The emulator with what it lacks of AWS; it runs in an environment of its own.

ministack 1.5.33 is changed here from outside, through names that are private to it, so its version
is pinned. docs/explanation/emulator.md lists what is mended and what is not.
"""
