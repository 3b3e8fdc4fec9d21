"""Weights as logic gates, and gates as straight-line programs: what every fast back end starts from."""
