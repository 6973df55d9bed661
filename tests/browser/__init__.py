"""A package, so that pytest ends its browser before a worker runs tests of other folders."""
