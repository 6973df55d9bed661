import pytest
from words import count

TEXT = "to be or not to be " * 100


@pytest.mark.parametrize("times", [1, 10])
def test_count(benchmark, times):
    assert benchmark(count, TEXT * times) == 600 * times
