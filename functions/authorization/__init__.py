"""Authorization: who may do what to what, decided by one function."""
