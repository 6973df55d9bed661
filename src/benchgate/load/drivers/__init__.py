"""The drivers: one module for each kind of target."""
