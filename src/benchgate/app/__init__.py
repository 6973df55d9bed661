"""The use cases, one per module; every side effect is passed in as an argument."""
