"""Meanings of texts as vectors: how they are made, kept and searched (contract §8)."""
