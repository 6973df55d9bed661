"""The same work through other tools, each run with its own commands as its documentation says."""
