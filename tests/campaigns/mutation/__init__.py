"""A mutation campaign: change one thing in the source, and see whether a test fails."""
