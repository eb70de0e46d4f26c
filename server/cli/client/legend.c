/* legend.c - see legend.h. */
#include "legend.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A panel of the usual height has room for ROWS_FEW names in a column; more make the panels higher. */
enum { ROWS_FEW = 11, ROWS_MANY = 20 };
static const double SHORT_NAMES = 12, WIDTH_ALONE = 28, WIDTH_BESIDE = 18, WIDE = 2, BROAD = 1.6, CAPITAL = 1.25;
static const char   ellipsis[] = "\xe2\x80\xa6";

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Length in bytes of the first character of a text that is not empty. */
static size_t first_length(const char *text)
{
    size_t length = 1;
    while (continues_character(text[length]))
        length++;
    return length;
}

/* Length in bytes of the last character of text[0..length), length > 0. */
static size_t last_length(const char *text, size_t length)
{
    size_t last = 1;
    while (last < length && continues_character(text[length - last]))
        last++;
    return last;
}

/* Characters from U+1100 on that take three bytes or more are mostly those of East Asia, of double width. */
static double character_width(const char *character)
{
    unsigned char first = (unsigned char)*character;
    if (first >= 0xe1 && strncmp(character, ellipsis, 3) != 0) return WIDE;
    if (first < 0x80 && strchr("WMmw@%", first)) return BROAD;
    return first >= 'A' && first <= 'Z' ? CAPITAL : 1;
}

double cli_text_width(const char *text, size_t length)
{
    double width = 0;
    for (size_t i = 0; i < length; i += first_length(text + i))
        width += character_width(text + i);
    return width;
}

void cli_legend_add(cli_legend *legend, size_t index, const char *name)
{
    double width = cli_text_width(name, strlen(name));
    if (index >= legend->curves) legend->curves = index + 1;
    if (width > legend->widest) legend->widest = width;
}

size_t cli_legend_columns(const cli_legend *legend)
{
    return legend->curves > ROWS_MANY || (legend->curves > ROWS_FEW && legend->widest <= SHORT_NAMES) ? 2 : 1;
}

size_t cli_legend_rows(const cli_legend *legend)
{
    size_t columns = cli_legend_columns(legend);
    return (legend->curves + columns - 1) / columns;
}

double cli_legend_width(const cli_legend *legend)
{
    double most = cli_legend_columns(legend) > 1 ? WIDTH_BESIDE : WIDTH_ALONE;
    return legend->widest < most ? legend->widest : most;
}

void cli_legend_cut(const cli_legend *legend, const char *name, char cut[CLI_LEGEND_NAME_SIZE])
{
    size_t length = strlen(name), head = 0, tail = length;
    double most = cli_legend_width(legend), left = most - 1; /* the ellipsis takes one */
    if (cli_text_width(name, length) <= most) {
        snprintf(cut, CLI_LEGEND_NAME_SIZE, "%s", name);
        return;
    }
    for (bool ahead = true; head < tail;
         ahead      = !ahead) { /* takes a character from the start and one from the end in turn */
        size_t size = ahead ? first_length(name + head) : last_length(name, tail);
        left -= character_width(ahead ? name + head : name + tail - size);
        if (left < 0) break;
        if (ahead)
            head += size;
        else
            tail -= size;
    }
    snprintf(cut, CLI_LEGEND_NAME_SIZE, "%.*s%s%s", (int)head, name, ellipsis, name + tail);
}
