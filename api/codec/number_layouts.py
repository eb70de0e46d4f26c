#!/usr/bin/python3
"""number_layouts.py - write the table api_number_layouts of api/codec/number_rows.h as C source."""
PLACES = 22      # decimal places of the first sixteen digits, from 0 on
NONE = 0x80


def layout(places, leading):
    """For each of 32 bytes the byte of the digits that stands there, the character if there is none, and the largest
    character that does not count as a significant digit."""
    n = 16 - places - leading        # digits before the point; none if that is not positive
    digit, fixed, least = [NONE] * 32, [0] * 32, [ord("0")] * 32
    for i in range(32):
        place = leading + (i if i < n else i - 1) if n > 0 else leading + i - 2 + n
        if i == (n if n > 0 else 1):
            fixed[i] = ord(".")
        elif place < leading:
            fixed[i] = ord("0")
        elif place < 17:
            digit[i], fixed[i] = place if i < 16 else place - 1, ord("0")
    if n > 0:
        least[n - 1] -= 1
    return digit, fixed, least


def main():
    print("/* number_layouts.c - made by api/codec/number_layouts.py. */")
    print('#include "api/codec/number_rows.h"\n')
    print("const api_number_layout api_number_layouts[API_LAYOUTS] = {")
    for places in range(PLACES):
        for leading in (0, 1):
            rows = ", ".join("{%s}" % ", ".join(map(str, row)) for row in layout(places, leading))
            print(f"    {{{rows}}}, /* {places}, {leading} */")
    print("};")


if __name__ == "__main__":
    main()
