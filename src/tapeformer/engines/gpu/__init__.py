"""The gates of a model as a CUDA kernel: thousands of inputs at once, one to each bit of each thread's words."""

INPUTS = 1 << 20
"""Inputs that run together: about as many as the largest devices work on at once."""
