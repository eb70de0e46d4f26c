"""Tests operations along motions and rates with every feature of models and requests, as test_combinations.py does for
operations on states."""
import tap
from combination_trials import Trials
from test_combinations import IN_TIME, add_tests


class CombinationsInTime(Trials):
    """The combinations of the operations in IN_TIME."""


add_tests(CombinationsInTime, IN_TIME)
del Trials

if __name__ == "__main__":
    tap.main()
