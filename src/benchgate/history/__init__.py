"""Keeps what each run measured, and finds where the values of a benchmark changed."""
