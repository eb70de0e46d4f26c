/* names.c - see names.h. Similarity is the weighted edit distance (Wagner & Fischer 1974) of the first bytes of two
 * names. */
#include "names.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NEAREST = 5, COMPARED = 32 /* COMPARED: bytes of a name that are compared */ };
/* Costs of edits: adding a character costs least, because users abbreviate names. */
enum { ADDED = 1, DROPPED = 2, CHANGED = 3 };

static const char *text_at(const void *list, size_t i)
{
    return ((const char *const *)list)[i];
}

api_names api_names_from_array(const char *const *texts, size_t n)
{
    return (api_names){n, text_at, texts};
}

static bool is_same(char a, char b)
{
    const bool letters = (a | 32) >= 'a' && (a | 32) <= 'z';
    return a == b || (letters && (a | 32) == (b | 32));
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the edit distance of two names. row[j] is the distance between the characters of `unknown` read so far and
 * the first j bytes of `name`. */
static unsigned distance(const char *unknown, const char *name)
{
    const size_t n = strnlen(name, COMPARED), m = strnlen(unknown, COMPARED);
    unsigned     row[COMPARED + 1];
    for (size_t j = 0; j <= n; j++)
        row[j] = ADDED * (unsigned)j;
    for (size_t i = 0; i < m; i++) {
        unsigned diagonal = row[0];
        row[0] += DROPPED;
        for (size_t j = 1; j <= n; j++) {
            const unsigned changed = diagonal + (is_same(unknown[i], name[j - 1]) ? 0 : CHANGED);
            diagonal               = row[j];
            row[j]                 = least(least(row[j] + DROPPED, row[j - 1] + ADDED), changed);
        }
    }
    return row[n];
}

/* Appends `before` and a name to the text; false, and nothing appended, if they do not fit. */
static bool add(char text[API_NAMES_TEXT], const char *before, const char *name)
{
    const size_t length = strlen(text);
    if (length + strlen(before) + strlen(name) >= API_NAMES_TEXT) return false;
    snprintf(text + length, API_NAMES_TEXT - length, "%s%s", before, name);
    return true;
}

static bool write_all(const api_names *names, char text[API_NAMES_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < names->n; i++)
        if (!add(text, i == 0 ? "; there are: " : ", ", names->name(names->list, i))) return false;
    return true;
}

/* The nearest names found so far, nearest first. */
typedef struct nearest {
    size_t   n;
    unsigned distance[NEAREST];
    size_t   index[NEAREST];
} nearest;

static void insert(nearest *list, unsigned far, size_t index)
{
    size_t slot = list->n;
    if (list->n == NEAREST && far >= list->distance[NEAREST - 1]) return;
    if (list->n < NEAREST)
        list->n++;
    else
        slot--;
    for (; slot > 0 && list->distance[slot - 1] > far; slot--) {
        list->distance[slot] = list->distance[slot - 1];
        list->index[slot]    = list->index[slot - 1];
    }
    list->distance[slot] = far;
    list->index[slot]    = index;
}

void api_names_write(const api_names *names, const char *unknown, char text[API_NAMES_TEXT])
{
    nearest list = {0};
    if (write_all(names, text)) return;
    for (size_t i = 0; i < names->n; i++)
        insert(&list, distance(unknown, names->name(names->list, i)), i);
    text[0] = '\0';
    for (size_t i = 0; i < list.n; i++)
        add(text, *text ? ", " : "; the nearest are: ", names->name(names->list, list.index[i]));
}
