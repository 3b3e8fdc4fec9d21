"""Results that are slow to make, cached in a folder that only the user can write."""
