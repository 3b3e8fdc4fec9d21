"""Weights as logic gates, gates as straight-line programs: the start of every fast back end."""
