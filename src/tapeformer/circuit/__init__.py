"""See record.py."""
