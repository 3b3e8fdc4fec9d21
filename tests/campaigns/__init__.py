"""Long random tests as commands; the short forms are among the tests."""
