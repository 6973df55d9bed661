"""Questions to git about the user's repository, asked without changing anything in it."""
