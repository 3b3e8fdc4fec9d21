"""Step II of the paper: from a queue machine and its circuit to the weights of a Transformer."""
