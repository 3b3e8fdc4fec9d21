"""One file for each row of Table 1."""
