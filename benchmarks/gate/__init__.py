"""Measures how often the gate is wrong and how much it finds, on recorded and simulated builds."""
