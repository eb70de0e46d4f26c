#!/usr/bin/python3
"""number_layouts.py - write the table api_number_layouts of api/wire/number_rows.h as C source."""
LEAST, MOST, NONE = -5, 17, 0x80


def layout(n):
    """For each of 32 bytes the digit that stands there, and the character if there is none."""
    digit, fixed = [NONE] * 32, [0] * 32
    for i in range(32):
        place = (i if i < n else i - 1) if n > 0 else i - 2 + n
        if i == (n if n > 0 else 1):
            fixed[i] = ord(".")
        elif place < 0:
            fixed[i] = ord("0")
        elif place < 16:
            digit[i] = place
    return digit, fixed


def main():
    print("/* number_layouts.c - made by api/wire/number_layouts.py. */")
    print('#include "api/wire/number_rows.h"\n')
    print("const api_number_layout api_number_layouts[API_LAYOUT_MOST - API_LAYOUT_LEAST + 1] = {")
    for n in range(LEAST, MOST + 1):
        digit, fixed = (", ".join(map(str, row)) for row in layout(n))
        shift = 1 if n > 0 else 2 - n
        print(f"    {{{{{digit}}}, {{{fixed}}}, {shift}, {16 if n == 17 else 16 + shift}}}, /* {n} */")
    print("};")


if __name__ == "__main__":
    main()
