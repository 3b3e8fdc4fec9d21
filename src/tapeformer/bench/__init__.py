"""Measurements: each is a command that writes Markdown, CSV and plots."""
