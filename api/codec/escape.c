/* escape.c - see escape.h: decode percent-encoding in a request target. */
#include "escape.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

int api_percent_decode(const char *from)
{
    int high = *from == '%' ? hex_digit(from[1]) : -1, low = high < 0 ? -1 : hex_digit(from[2]);
    return low < 0 ? -1 : high * 16 + low;
}
