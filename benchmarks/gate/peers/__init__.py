"""The same work in other tools, each run with its own commands as its documentation recommends."""
