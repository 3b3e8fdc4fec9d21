"""The laboratory: every construction of the paper's Table 1 as a running model, measured side by side."""
