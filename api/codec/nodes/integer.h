/* integer.h - tell which integers of 64 bits are doubles. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* True if an integer of this magnitude equals its nearest double: at most 53 bits from the first set bit to the last.
 */
static inline bool api_is_double(uint64_t magnitude)
{
    return magnitude == 0 || magnitude >> __builtin_ctzll(magnitude) < UINT64_C(1) << 53;
}
