"""A program of about 30 ms: start-up of Python, and work in units of 1 %."""

PERCENTS = "00"

total = 0
for i in range(1_500 * (100 + int(PERCENTS))):
    total += i * i % 7
