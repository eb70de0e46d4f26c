#!/usr/bin/python3
"""powers_of_ten.py - write the tables of api/codec/decimal/powers_of_ten.h as C source, computed with exact integers.

tests/oracle/test_number_bounds.py takes the same numbers from here and proves what ROUNDING.md says of them.
"""
from fractions import Fraction

LEAST, MOST = -342, 324       # exponents of the powers of ten
INTEGER_POWERS = 20           # powers of ten below 2^64
PLACES_MAX = 31               # digits behind a point
SCALE_LEAST = -71             # smallest binary exponent with a scale; the largest is -1


def floor_log2(value):
    """The exponent of the largest power of two that is not above a positive fraction."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def power_of_ten(exponent):
    """10^exponent times the power of two that brings it to 128 bits, rounded down."""
    value = Fraction(10) ** exponent
    return int(value * Fraction(2) ** (127 - floor_log2(value)))


def scale(exponent):
    """2^(exponent + 64) * 10^m for the largest m with which that is below 2^64, and m."""
    m = 0
    while Fraction(2) ** exponent * 10 ** (m + 1) < 1:
        m += 1
    value = Fraction(2) ** (exponent + 64) * 10 ** m
    assert value.denominator == 1, "a scale is an integer"
    return value.numerator, m


def by_places(places):
    """10^-places as the sum of two doubles, the nearest to the power and the nearest to the rest."""
    power = Fraction(1, 10 ** places)
    first = power.numerator / power.denominator      # correctly rounded
    rest = power - Fraction(first)
    return first, rest.numerator / rest.denominator


def main():
    print("/* powers_of_ten.c - made by api/codec/decimal/powers_of_ten.py. */")
    print('#include "api/codec/decimal/powers_of_ten.h"\n')
    print("const uint64_t api_integer_powers[API_INTEGER_POWERS] = {")
    for exponent in range(INTEGER_POWERS):
        print(f"    {10 ** exponent}u,")
    print("};\n\nconst uint64_t api_powers_of_ten[API_POWER_MOST - API_POWER_LEAST + 1][2] = {")
    for exponent in range(LEAST, MOST + 1):
        high, low = divmod(power_of_ten(exponent), 1 << 64)
        print(f"    {{{high:#018x}, {low:#018x}}}, /* {exponent} */")
    print("};\n\nconst uint64_t api_decimal_scales[-API_SCALE_LEAST] = {")
    for exponent in range(SCALE_LEAST, 0):
        print(f"    {scale(exponent)[0]:#018x}, /* {exponent} */")
    print("};\n\nconst double api_scale_powers[-API_SCALE_LEAST] = {")
    for exponent in range(SCALE_LEAST, 0):
        print(f"    1e{scale(exponent)[1]}, /* {exponent} */")
    print("};\n\nconst double api_powers_by_places[API_PLACES_MAX + 2][2] = {")
    print("    {__builtin_nan(\"\"), 0},")
    for places in [*range(1, PLACES_MAX + 1), 0]:
        print("    {%s, %s}, /* %d */" % (*(part.hex() for part in by_places(places)), places))
    print("};")


if __name__ == "__main__":
    main()
