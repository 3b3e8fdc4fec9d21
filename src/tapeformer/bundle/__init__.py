"""A model on disk: its record, saving it, and loading it with every check."""
