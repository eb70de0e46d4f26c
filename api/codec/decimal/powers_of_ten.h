/* powers_of_ten.h - tables for conversions between doubles and decimal numbers. powers_of_ten.py writes them when the
 * server is built. */
#pragma once
#include <stdint.h>

enum { API_POWER_LEAST = -342, API_POWER_MOST = 324, API_SCALE_LEAST = -71, API_PLACES_MAX = 31 };
enum { API_INTEGER_POWERS = 20 };

/* Entry n is 10^n. */
extern const uint64_t api_integer_powers[API_INTEGER_POWERS];

/* Entry e - API_POWER_LEAST is the first 128 bits of 10^e, rounded down: floor(10^e * 2^(127 - floor(log2(10^e)))), the
 * upper 64 bits first. The entries for 0 <= e <= 55 are exact. */
extern const uint64_t api_powers_of_ten[API_POWER_MOST - API_POWER_LEAST + 1][2];

/* Entry q - API_SCALE_LEAST is 2^(q + 64) * 10^m, exactly, where m is the largest integer with 2^q * 10^m < 1. */
extern const uint64_t api_decimal_scales[-API_SCALE_LEAST];

/* Entry q - API_SCALE_LEAST is 10^m with the m of api_decimal_scales, exactly. */
extern const double api_scale_powers[-API_SCALE_LEAST];

/* Entry n is 10^-n as the sum of two doubles, the first one the nearest. Entry 0, for a point without digits after it,
 * is NaN; the last entry, for numbers without a point, is 1. */
extern const double api_powers_by_places[API_PLACES_MAX + 2][2];

/* Returns floor(log2(10^e)) for -400 <= e <= 400. */
static inline int api_log2_of_power(int e)
{
    return (e * 217706) >> 16;
}
