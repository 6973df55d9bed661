"""How often the gate is wrong, and how much it finds: on real work, recorded and simulated."""
