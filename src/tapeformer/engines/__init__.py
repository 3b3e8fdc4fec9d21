"""Engines: each runs the weights of a Transformer and knows nothing else."""
