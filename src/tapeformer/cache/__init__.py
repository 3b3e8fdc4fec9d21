"""What took long to make and can be made again, kept in a folder that only the user can write."""
