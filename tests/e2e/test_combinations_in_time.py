"""Operations along motions, and rates, with every feature of models and requests: as test_combinations.py."""
import tap
from combination_trials import Trials
from test_combinations import IN_TIME, add_tests


class CombinationsInTime(Trials):
    """The operations are those of IN_TIME."""


add_tests(CombinationsInTime, IN_TIME)
del Trials

if __name__ == "__main__":
    tap.main()
