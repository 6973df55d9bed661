"""What the files of a project tell about it, and the first configuration that fits it."""
