"""A real deployment of the stack, onto an emulated AWS on this machine."""
