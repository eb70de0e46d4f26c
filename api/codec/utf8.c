/* utf8.c - see utf8.h: check the bytes of each character against RFC 3629. */
#include "utf8.h"
#include <string.h>

size_t api_utf8_character(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    if (length == 0) return 0;
    size_t   n   = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80; /* 0xA0 and 0x90 exclude overlong forms */
    /* 0x9F excludes surrogates, 0x8F anything above U+10FFFF. */
    unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < n; i++, low = 0x80, high = 0xBF)
        if (i == length || p[i] < low || p[i] > high) return 0;
    return n;
}

size_t api_utf8_prefix(const char *text, size_t length)
{
    size_t offset = 0;
    while (offset < length && text[offset] != '\0') {
        size_t n = api_utf8_character(text + offset, length - offset);
        if (n == 0) break;
        offset += n;
    }
    return offset;
}

size_t api_utf8_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}
