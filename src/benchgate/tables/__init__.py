"""Documents of tables that people write: their values, where each key is, and what is wrong."""
