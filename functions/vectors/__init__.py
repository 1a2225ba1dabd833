"""Embeddings of texts: the models, and how vectors are stored and searched."""
