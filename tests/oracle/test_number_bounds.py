"""Tests with exact integers the bounds on which api/codec/decimal/ROUNDING.md relies, for every exponent of a double."""
import os
import sys
import unittest
from fractions import Fraction

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e", "support"))
sys.path.insert(0, os.path.join(ROOT, "api", "codec", "decimal"))
import powers_of_ten  # noqa: E402
import tap  # noqa: E402

TEN, TWO = Fraction(10), Fraction(2)
BINARY = range(-1074, 972)     # exponents q of doubles c * 2^q with c < 2^53


def log2_of_power(e):
    """Computes like api_log2_of_power of powers_of_ten.h."""
    return (e * 217706) >> 16


def grid(q, uneven):
    """Computes the exponent k like api_decimal_shorten_any."""
    return (q * 1262611 - (524031 if uneven else 0)) >> 22


def extremes(a, b, most):
    """Returns the least positive a * z mod b, and b minus the largest one, for 1 <= z <= most; a is no multiple of b."""
    low = a % b
    i, gap, j = 1, b - low, 1
    while low != gap:
        larger, smaller, n, m = (low, gap, i, j) if low > gap else (gap, low, j, i)
        steps = min((larger - 1) // smaller, (most - n) // m)
        if steps == 0:
            break
        if low > gap:
            low, i = low - steps * gap, i + steps * j
        else:
            gap, j = gap - steps * low, j + steps * i
    return low, gap


class Tables(unittest.TestCase):
    def test_powers_are_cut_to_128_bits_and_exact_from_0_to_55(self):
        for e in range(powers_of_ten.LEAST, powers_of_ten.MOST + 1):
            table, value = powers_of_ten.power_of_ten(e), TEN ** e * TWO ** (127 - log2_of_power(e))
            self.assertTrue(2 ** 127 <= table < 2 ** 128 and table <= value < table + 1, e)
            self.assertEqual(table == value, 0 <= e <= 55, e)

    def test_scales(self):
        for q in range(powers_of_ten.SCALE_LEAST, 0):
            scale, m = powers_of_ten.scale(q)
            self.assertEqual(m, (-q * 1233) >> 12)
            self.assertEqual(scale % 2, 0)
            self.assertEqual(scale, TWO ** (q + 64) * TEN ** m)
            self.assertTrue(TWO ** q * TEN ** m < 1 <= TWO ** q * TEN ** (m + 1))
            self.assertTrue(10 ** 14 <= 2 ** 52 * scale >> 64 and (2 ** 53 - 1) * scale >> 64 < 10 ** 16 - 1)
            self.assertLess(q - 1 + m, 0)
            self.assertEqual(2 ** 52 * scale % 2 ** 64, 0)

    def test_scales_in_doubles(self):
        for q in range(powers_of_ten.SCALE_LEAST, 0):
            m = powers_of_ten.scale(q)[1]
            self.assertTrue(m <= 21 and int(float(10 ** m)) == 10 ** m)
            self.assertGreaterEqual(q + m, -50)
            self.assertLess((2 ** 53 - 1) * TWO ** q * TEN ** m, 2 ** 53)

    def test_factors_that_split_digits(self):
        for digits in (4, 8):
            factor = Fraction(float(f"1e-{digits}"))
            self.assertTrue(TEN ** -digits < factor < TEN ** -digits * (1 + TWO ** -52))
        most = 2 ** 53 // 10 ** 8 + 1  # the distance decreases with k, so this largest k is the worst
        self.assertGreater(most - (most * 10 ** 8 - 1) * Fraction(1e-8), TWO ** -27)
        self.assertGreater(10 ** 4 - (10 ** 8 - 1) * Fraction(1e-4), TEN ** -5)


class Reading(unittest.TestCase):
    def test_powers_by_places(self):
        for places in range(powers_of_ten.PLACES_MAX + 1):
            first, rest = map(Fraction, powers_of_ten.by_places(places))
            power = Fraction(1, 10 ** places)
            self.assertLessEqual(abs(power - first), first / 2 ** 53)
            self.assertLessEqual(abs(power - first - rest), first / 2 ** 106)

    def test_what_is_zero(self):
        self.assertLess(TWO ** 64 * TEN ** (powers_of_ten.LEAST - 1), TWO ** -1075)

    def test_integers_fit_the_limbs(self):
        self.assertLess((10 ** 781).bit_length(), 44 * 64)
        self.assertLess((5 ** (343 + 781) << 54).bit_length(), 44 * 64)

    def test_a_middle_has_at_most_768_digits(self):
        middle = Fraction(2 ** 53 - 1) * TWO ** -1074 + TWO ** -1075
        self.assertEqual(len(str(middle.numerator * 10 ** 1075 // middle.denominator).rstrip("0")), 768)


class Writing(unittest.TestCase):
    def test_grid(self):
        for q in BINARY:
            for uneven in (False, True):
                k, length = grid(q, uneven), TWO ** q * (Fraction(3, 4) if uneven else 1)
                self.assertTrue(TEN ** k <= length < TEN ** (k + 1), q)
                self.assertTrue(powers_of_ten.LEAST <= -k <= powers_of_ten.MOST)
                shift = q + log2_of_power(-k) + 1
                self.assertTrue(0 <= shift and (2 ** 55 + 2) << shift < 2 ** 60, q)

    def check_fraction(self, y):
        fraction = y - (y.numerator // y.denominator)
        self.assertTrue(fraction == 0 or TWO ** -67 <= fraction <= 1 - TWO ** -68, y)

    def test_fractions(self):
        for q in BINARY:
            step = 2 * TWO ** q / TEN ** grid(q, False)
            if step.denominator > 1:
                low, gap = extremes(step.numerator, step.denominator, 2 ** 54 + 1)
                self.assertGreaterEqual(Fraction(low, step.denominator), TWO ** -67, q)
                self.assertGreaterEqual(Fraction(gap, step.denominator), TWO ** -68, q)

    def test_fractions_at_powers_of_two(self):
        for q in BINARY:
            for x in (2 ** 54 - 1, 2 ** 54, 2 ** 54 + 2):
                self.check_fraction(x * TWO ** q / TEN ** grid(q, True))

    def test_extremes_by_trying_all(self):
        for b in range(2, 40):
            for a in range(1, b):
                for most in (1, 2, 3, 7, 30, 60):
                    found = [a * z % b for z in range(1, most + 1) if a * z % b]
                    self.assertEqual(extremes(a, b, most), (min(found), b - max(found)))


if __name__ == "__main__":
    tap.main()
