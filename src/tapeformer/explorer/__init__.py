"""The explorer: a page in the browser that shows a Transformer compute, one token at a time."""
