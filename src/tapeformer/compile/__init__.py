"""The compiler on one page, its options, and how sizes are chosen."""
