"""The one queue for machines with several tapes: a cell of the ring has a symbol of every tape."""
