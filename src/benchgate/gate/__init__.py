"""Deciding: turns samples into outcomes, and a suite into a verdict. Pure functions."""
