"""Several steps in a token."""
