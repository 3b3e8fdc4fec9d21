"""A standing campaign: random trials against the promises of docs/reliability.md, from seeds."""
