/* escape.h - decode percent-encoding in a request target (RFC 3986, section 2.1). */
#pragma once

static inline int api_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Returns the byte that the escape "%xx" at `from` encodes; -1 if the escape is malformed. */
static inline int api_percent_decode(const char *from)
{
    int high = *from == '%' ? api_hex_digit(from[1]) : -1, low = high < 0 ? -1 : api_hex_digit(from[2]);
    return low < 0 ? -1 : high * 16 + low;
}
