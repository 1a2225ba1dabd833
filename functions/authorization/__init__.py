"""Authorization: who may do what to what, decided by one function (contract §2, §4, §5, §9)."""
