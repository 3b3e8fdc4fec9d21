"""Several steps in a token (linear speed-up): what a level moves is a block of tape cells."""
