"""Why the server can't start or go on."""


class CannotServe(Exception):
    """The message is one line that tells the user what to do; the process ends with it."""
