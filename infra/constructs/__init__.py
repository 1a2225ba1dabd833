"""What the stack is made of: a file for each capability."""
