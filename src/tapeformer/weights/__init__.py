"""The weights of a Transformer: record, verifier, bundle on disk, counts and explanations."""
