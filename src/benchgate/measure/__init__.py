"""Measuring: two arms, a kind of benchmark each in its own engine, and the rounds that join them."""
