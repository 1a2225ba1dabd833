"""Embeddings of texts: the models, and how vectors are stored and searched."""

import os

# For numpy, which is imported later. Its threads wait for each other by spinning: if cores are
# busy, or a function has a share of one, ranking 10,000 vectors takes 55 ms with two threads and 2
# ms with one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
