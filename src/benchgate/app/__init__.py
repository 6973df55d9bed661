"""One use case per module; every effect arrives as an argument."""
