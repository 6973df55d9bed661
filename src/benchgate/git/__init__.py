"""Asks git about the user's repository, without changing anything in it."""
