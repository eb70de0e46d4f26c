"""Tests that the figures of tests/README.md are those of the tree, to a tenth, and that the comparison notices others."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e", "support")]
import figures  # noqa: E402
import tap  # noqa: E402


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = figures.figures()

    def test_the_page_is_up_to_date(self):
        with open(figures.PAGE, encoding="utf-8") as file:
            _, shown, _ = figures.split(file.read())
        self.assertEqual(list(figures.stale(self.rows, shown)), [])

    def test_every_figure_counts_something(self):
        for name, number in self.rows:
            self.assertGreater(number, 5, name)

    def test_other_figures_are_noticed(self):
        name, number = self.rows[0]
        good = figures.table(self.rows)
        self.assertEqual(list(figures.stale(self.rows, good)), [])
        for other in (figures.table([(name, int(number * 1.2)), *self.rows[1:]]), figures.table(self.rows[1:]), good + "| more | 7 |\n"):
            self.assertEqual(len(list(figures.stale(self.rows, other))), 1, other)

    def test_cases_and_assertions_are_counted(self):
        source = ["class A:\n    def test_x(self):\n        self.assertEqual(1, 1)\n    def helper(self):\n        assert 1\n"]
        self.assertEqual(figures.count(r"^    def test_\w+\(self", source), 1)
        self.assertEqual(figures.lines(["a\n\n b\n"]), 2)


if __name__ == "__main__":
    tap.main()
