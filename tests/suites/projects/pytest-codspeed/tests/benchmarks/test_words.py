import pytest
from words import count

TEXT = "to be or not to be " * 100


def test_count(benchmark):
    assert benchmark(count, TEXT) == 600


@pytest.mark.benchmark
def test_whole():
    assert count(TEXT) == 600
