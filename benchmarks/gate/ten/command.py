"""A program of about 30 ms: start-up of Python, and work in units of 1 %."""

EXTRA = 0.0

total = 0
for i in range(round(150_000 * (1 + EXTRA))):
    total += i * i % 7
