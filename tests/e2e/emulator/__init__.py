"""Run the emulator, and add what it lacks of AWS; it has a separate environment.

ministack 1.5.33 is changed here from outside, through names that are private to it, so its version
is pinned. docs/explanation/emulator.md lists what is mended and what is not.
"""
