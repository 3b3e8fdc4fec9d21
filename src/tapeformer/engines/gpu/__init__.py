"""A model's gates as a CUDA kernel, bit-sliced: each bit of each thread's words is one input."""

INPUTS = 1 << 20
"""Inputs per batch: about as many as the largest GPUs run at once."""
