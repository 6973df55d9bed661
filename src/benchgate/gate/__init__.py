"""Deciding: samples become outcomes, and a suite becomes a verdict. Pure functions."""
