"""A workload that no change of the user's can touch: the same on both arms, in every round."""

ROUNDS = range(400)


def bench_loop() -> float:
    """Mix arithmetic, allocation and look-ups, as programs do."""
    table: dict[int, tuple[int, float]] = {}
    total = 0.0
    for i in ROUNDS:
        table[i % 37] = (i, total)
        total += table[i % 11][0] * 0.5
    return total
