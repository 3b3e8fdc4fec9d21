"""The gates of a model as a CUDA kernel: thousands of inputs at once, one to each bit of each thread's words."""

INPUTS = 1 << 19
"""Inputs that run together: half of what the largest devices hold, while others are read on the host."""
PROCESSES = 4
"""The most processes that share a device: each has its own inputs, and their kernels take turns."""
