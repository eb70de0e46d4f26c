"""Tests operations that integrate a motion or answer time derivatives with every feature of models and requests, as test_combinations.py does
for operations on states."""
import tap
from combination_trials import Trials
from test_combinations import IN_TIME, add_tests


class CombinationsInTime(Trials):
    """One test for each operation in IN_TIME; `add_tests` adds them."""


add_tests(CombinationsInTime, IN_TIME)
del Trials

if __name__ == "__main__":
    tap.main()
