"""Proofs about the real-time construction, each a check that runs: `python -m` this package."""
