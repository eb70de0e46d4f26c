/* csv.c - see csv.h. */
#define _GNU_SOURCE /* getline */
#include "csv.h"
#include "api/codec/number.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 1 << 16 };

bool cli_field_is_chosen(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = list; word;) {
        size_t size = strcspn(word, ",");
        if (size == length && memcmp(word, name, length) == 0) return true;
        word = word[size] ? word + size + 1 : NULL;
    }
    return !list;
}

/* Reads the next line that is neither empty nor a comment, without its end. False at the end of the file. */
static bool read_line(cli_csv *csv)
{
    for (;;) {
        ssize_t length = getline(&csv->line, &csv->size, csv->file);
        if (length < 0) return false;
        csv->number++;
        while (length > 0 && strchr("\r\n", csv->line[length - 1]))
            csv->line[--length] = '\0';
        if (csv->line[strspn(csv->line, " \t")] && csv->line[0] != '#') return true;
    }
}

static void trim_end(char *cell)
{
    size_t length = strlen(cell);
    while (length > 0 && isspace((unsigned char)cell[length - 1]))
        cell[--length] = '\0';
}

/* Cuts the next cell off *rest: without white space before it and, in place, without quotes. Sets *rest to NULL after
 * the last cell. NULL if a quote is not closed. */
static char *next_cell(char **rest, char separator)
{
    char *cell = *rest + strspn(*rest, separator == '\t' ? " " : " \t"), *end = cell, *to = cell;
    if (*cell != '"') {
        end += strcspn(cell, (char[2]){separator});
        to = end;
    } else {
        for (end = cell + 1; *end && (*end != '"' || end[1] == '"'); end++) {
            if (*end == '"') end++;
            *to++ = *end;
        }
        if (!*end) return NULL;
        end += 1 + strspn(end + 1, " ");
        if (*end && *end != separator) return NULL;
    }
    *rest = *end ? end + 1 : NULL;
    *to   = '\0';
    return cell;
}

/* --- the header ----------------------------------------------------------------------------------------------------
 */

/* Finds the entry that `text` names, by name or by number from 1. False if there is none. */
static bool find_entry(const cli_csv *csv, const char *field, const char *text, bool by_name, size_t *entry)
{
    size_t n = cli_coordinate_entries(csv->coordinates, field);
    for (*entry = 0; by_name && *entry < n; (*entry)++)
        if (strcmp(cli_coordinate_name(csv->coordinates, field, *entry), text) == 0) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits]) return false;
    *entry = (size_t)strtoul(text, NULL, 10) - 1; /* "0" wraps around, and is too large */
    return *entry < n;
}

/* Finds field and entry of a column's name. */
static bool find_column(const cli_csv *csv, const char *name, cli_csv_column *column)
{
    for (column->field = 0; cli_state_fields[column->field]; column->field++) {
        const char *field = cli_state_fields[column->field], *rest = name + strlen(field);
        if (strncmp(name, field, strlen(field)) != 0) continue;
        column->entry = 0;
        if (!*rest && cli_coordinate_entries(csv->coordinates, field) == 1) return true;
        if (*rest == '.' || *rest == ' ' ? find_entry(csv, field, rest + 1, true, &column->entry)
                                         : find_entry(csv, field, rest, false, &column->entry))
            return true;
    }
    return false;
}

/* Finds the column of a cell of the header. Blanks and brackets at its end may belong to the name; if no column has
 * that name, the blanks and then a unit in brackets are cut off. */
static bool find_cell(const cli_csv *csv, char *cell, cli_csv_column *column)
{
    if (find_column(csv, cell, column)) return true;
    trim_end(cell);
    if (find_column(csv, cell, column)) return true;
    char *unit = strrchr(cell, '['), *end = unit && unit > cell && unit[-1] == ' ' ? unit - 1 : unit;
    if (!unit || strcspn(unit, "]") + 1 != strlen(unit)) return false;
    const char cut = *end;
    *end           = '\0';
    bool known     = find_column(csv, cell, column);
    *end           = cut; /* the separator again, because messages print the line */
    return known;
}

/* Prints what the header must look like. */
static bool header_error(const cli_csv *csv, size_t column, const char *cell)
{
    const char *first = cli_coordinate_name(csv->coordinates, "q", 0);
    return cli_error(
        "%s line %zu, column %zu: \"%.80s\" names no coordinate; the header must have names such as q.%s, qd.%s "
        "or q1, of the fields q, qd, qdd, qddd, qdddd, tau, weights, qd_reference, qdd_reference and multipliers; "
        "--fields "
        "q,qd sends these and ignores other columns",
        csv->name, csv->number, column + 1, cell, first ? first : "1", first ? first : "1");
}

/* Makes room for one more column. The array has room for the next power of two of columns. */
static bool reserve_column(cli_csv *csv)
{
    const size_t n = csv->n_columns;
    if (n == COLUMNS_MAX) return cli_error("%s has more than %d columns", csv->name, COLUMNS_MAX);
    if (n & (n - 1)) return true;
    cli_csv_column *grown = reallocarray(csv->columns, n ? 2 * n : 1, sizeof *grown);
    if (!grown) return cli_error("no memory for the columns of %s", csv->name);
    csv->columns = grown;
    return true;
}

static bool add_csv_column(cli_csv *csv, char *cell)
{
    cli_csv_column column;
    if (!reserve_column(csv)) return false;
    bool known = find_cell(csv, cell, &column);
    if (known && !cli_field_is_chosen(csv->fields, cli_state_fields[column.field])) known = false;
    if (!known && !csv->fields) return header_error(csv, csv->n_columns, cell);
    if (!known) column = (cli_csv_column){.field = CLI_CSV_IGNORED};
    for (size_t i = 0; known && i < csv->n_columns; i++)
        if (csv->columns[i].field == column.field && csv->columns[i].entry == column.entry)
            return cli_error("%s line %zu: columns %zu and %zu are the same coordinate, \"%.80s\"", csv->name,
                             csv->number, i + 1, csv->n_columns + 1, cell);
    if (known) csv->present |= 1u << column.field;
    csv->columns[csv->n_columns++] = column;
    return true;
}

/* Checks that every field of the file has all its coordinates. */
static bool check_csv_fields(const cli_csv *csv)
{
    if (csv->present == 0) return cli_error("%s has no column to send", csv->name);
    for (size_t field = 0; cli_state_fields[field]; field++) {
        const char *name = cli_state_fields[field];
        size_t      n    = cli_coordinate_entries(csv->coordinates, name);
        for (size_t entry = 0; csv->present >> field & 1 && entry < n; entry++) {
            size_t i = 0;
            while (i < csv->n_columns && (csv->columns[i].field != field || csv->columns[i].entry != entry))
                i++;
            if (i == csv->n_columns)
                return cli_error("%s line %zu: %s has %zu coordinates, and the column %s.%s is missing", csv->name,
                                 csv->number, name, n, name, cli_coordinate_name(csv->coordinates, name, entry));
        }
    }
    return true;
}

/* Counts the cells of a header that name coordinates if `separator` divides it. */
static size_t count_known(const cli_csv *csv, const char *header, char separator)
{
    size_t known = 0;
    char  *copy = strdup(header), *rest = copy;
    while (rest) {
        cli_csv_column column;
        char          *cell = next_cell(&rest, separator);
        if (!cell) break;
        known += find_cell(csv, cell, &column);
    }
    free(copy);
    return known;
}

/* Returns the comma, semicolon or tab with which most cells of a header name coordinates, since names may contain all
 * three; '\n' if that is the line as one cell. Among equals, the one that comes first in the header outside quotes. */
static char find_separator(const cli_csv *csv, const char *header)
{
    char   candidates[8] = "", best;
    size_t n = 0, most = 0;
    bool   quoted = false;
    for (const char *c = header; *c; c++) {
        quoted ^= *c == '"';
        if (!quoted && strchr(",;\t", *c) && !strchr(candidates, *c)) candidates[n++] = *c;
    }
    strcat(candidates, "\n,;\t"); /* a quote within a name hides the rest from the loop above */
    best = candidates[0];
    for (size_t i = 0; candidates[i]; i++) {
        size_t known = count_known(csv, header, candidates[i]);
        if (known > most) best = candidates[i];
        if (known > most) most = known;
    }
    return best;
}

bool cli_csv_open(cli_csv *csv)
{
    if (!read_line(csv))
        return cli_error("%s is empty; its first line must be a header such as q1,q2,qd1,qd2", csv->name);
    char *rest = csv->line;
    if (strncmp(rest, "\xef\xbb\xbf", 3) == 0) rest += 3; /* byte order mark of UTF-8 */
    csv->separator = find_separator(csv, rest);
    while (rest) {
        char *cell = next_cell(&rest, csv->separator);
        if (!cell) return cli_error("%s line %zu: a quote is not closed", csv->name, csv->number);
        if (!add_csv_column(csv, cell)) return false;
    }
    return check_csv_fields(csv);
}

void cli_csv_close(cli_csv *csv)
{
    free(csv->line);
    free(csv->columns);
    csv->line    = NULL;
    csv->columns = NULL;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Reads a number, or nan, inf or -inf, which the server refuses or, with on_error, answers for the row alone. */
static bool read_number(const char *cell, double *value)
{
    size_t length = strlen(cell);
    if (length > 0 && api_number_read_decimal(cell, length, value) == length) return true;
    bool minus = *cell == '-';
    cell += minus;
    if (strcasecmp(cell, "nan") == 0)
        *value = NAN;
    else if (strcasecmp(cell, "inf") == 0)
        *value = minus ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool read_row(cli_csv *csv, cli_batch *batch, size_t row, cli_array *const fields[])
{
    char  *rest   = csv->line;
    size_t column = 0;
    for (; rest && column < csv->n_columns; column++) {
        double value = 0;
        char  *cell  = next_cell(&rest, csv->separator);
        if (!cell) return cli_error("%s line %zu: a quote is not closed", csv->name, csv->number);
        cli_csv_column c = csv->columns[column];
        if (c.field == CLI_CSV_IGNORED) continue;
        trim_end(cell);
        if (!read_number(cell, &value))
            return cli_error("%s line %zu, column %zu: \"%.40s\" is not a number", csv->name, csv->number, column + 1,
                             cell);
        fields[c.field]->values[row * fields[c.field]->entries + c.entry] = value;
    }
    while (rest && next_cell(&rest, csv->separator))
        column++;
    if (column != csv->n_columns)
        return cli_error("%s line %zu has %zu values; its header has %zu columns", csv->name, csv->number, column,
                         csv->n_columns);
    batch->lines[row] = csv->number;
    return true;
}

bool cli_csv_read(cli_csv *csv, size_t most, cli_batch *batch)
{
    cli_array *fields[CLI_STATE_FIELDS];
    size_t     added = 0;
    batch->lines     = malloc(most * sizeof *batch->lines);
    if (!batch->lines) return cli_error("out of memory");
    for (size_t i = 0; cli_state_fields[i]; i++) {
        size_t n = cli_coordinate_entries(csv->coordinates, cli_state_fields[i]);
        if (csv->present >> i & 1 && !cli_batch_add(batch, cli_state_fields[i], 1, &n, most)) return false;
    }
    for (size_t i = 0; cli_state_fields[i]; i++) /* pointers are valid only now: adding an array may move the list */
        fields[i] = csv->present >> i & 1 ? &batch->arrays[added++] : NULL;
    for (batch->rows = 0; batch->rows < most && read_line(csv); batch->rows++)
        if (!read_row(csv, batch, batch->rows, fields)) return false;
    return !ferror(csv->file) || cli_error("cannot read %s", csv->name);
}
