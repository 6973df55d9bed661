"""A program of about 30 ms: start-up of Python, and a loop."""

EXTRA = "0000000"

total = 0
for i in range(150_000 + int(EXTRA)):
    total += i * i % 7
