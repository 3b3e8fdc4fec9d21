"""The gates of a model as a CUDA kernel: thousands of inputs at once, one to each bit of each thread's words."""

INPUTS = 1 << 20
"""How many inputs keep the largest devices busy."""
