import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))

from words import count  # noqa: E402

TEXT = "to be or not to be " * 100


class Count:
    params = [1, 10]
    param_names = ["times"]

    def setup(self, times):
        self.text = TEXT * times

    def time_count(self, times):
        count(self.text)
