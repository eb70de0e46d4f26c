/* simplex.c - maximises linear functions over a polytope by the simplex method (simplex.h): Chvátal 1983, chapters 2, 3
 * and 8; the row of each pivot is chosen as by Harris 1973. */
#include "simplex.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LOOK = 16 /* pivots between two checks of the deadline */, PIVOTS = 40 /* for each row and unknown */ };

#define GAIN     1e-10 /* gain of the objective per unit of a slack that counts as zero */
#define PIVOT    1e-9  /* entry of the dictionary that counts as zero */
#define SLACK    1e-11 /* violation of a row that a step may cause */
#define FEASIBLE 1e-10 /* violation of a row that counts as none */
#define LAST     1e-6  /* factor that makes entries of bounds less preferred as pivots than those of rows */
#define STANDS   1e-13 /* step up to which a pivot counts as staying at the same vertex */

/* --- memory ------------------------------------------------------------------------------------------------------- */

size_t dyn_simplex_bytes(size_t n, size_t m)
{
    return (m * (n + 2) + n + 1) * sizeof(double) + (m + n + 1) * sizeof(size_t);
}

void dyn_simplex_lay_out(dyn_simplex *s, void *room)
{
    s->table = room;
    s->cost  = s->table + s->m * (s->n + 2);
    s->basic = (size_t *)(void *)(s->cost + s->n + 1);
    s->zero  = s->basic + s->m;
}

/* --- pivots ------------------------------------------------------------------------------------------------------- */

static size_t artificial(const dyn_simplex *s)
{
    return s->m + s->n;
}

/* True if the variable of a row must not become negative: a slack or the artificial variable, but not an unknown. */
static bool is_bounded(const dyn_simplex *s, size_t row)
{
    return s->basic[row] < s->m || s->basic[row] == artificial(s);
}

/* Exchanges the basic variable of row r with the nonbasic variable of column c. Rows of unknowns other than y_0 and y_1
 * are not updated. */
static void exchange_variables(dyn_simplex *s, size_t r, size_t c)
{
    const size_t width = s->n + 2, before = s->basic[r];
    double      *pivoted = dyn_simplex_row(s, r);
    const double inverse = 1 / pivoted[c];
    for (size_t k = 0; k < width; k++)
        pivoted[k] *= -inverse;
    pivoted[c] = inverse;
    for (size_t i = 0; i < s->m; i++) {
        double      *row    = dyn_simplex_row(s, i);
        const double factor = row[c];
        if (i == r || factor == 0 || (!is_bounded(s, i) && i != s->unknown[0] && i != s->unknown[1])) continue;
        row[c] = 0;
        for (size_t k = 0; k < width; k++)
            row[k] += factor * pivoted[k];
    }
    s->basic[r] = s->zero[c];
    s->zero[c]  = before;
    for (size_t j = 0; j < 2; j++)
        if (s->basic[r] == s->m + j) s->unknown[j] = r;
}

/* Returns the column with the largest gain or, with `first`, that of the variable with the lowest index (Bland's rule,
 * which does not cycle); n + 1 if the vertex is optimal. */
static size_t choose_entering(const dyn_simplex *s, size_t columns, bool first)
{
    size_t found = s->n + 1;
    for (size_t c = 0; c < columns; c++) {
        if (!(s->cost[c] > GAIN)) continue;
        const bool better = found > s->n || (first ? s->zero[c] < s->zero[found] : s->cost[c] > s->cost[found]);
        if (better) found = c;
    }
    return found;
}

/* Returns the row that a step along column c reaches first, and the step; m: no row is reached. Among rows that would
 * be violated by at most SLACK, the one with the largest pivot is chosen. Both passes compare quotients: the product of
 * a quotient and its divisor may round below the dividend, and large values do not change by SLACK. */
static size_t choose_row(const dyn_simplex *s, size_t c, double *step)
{
    double most  = INFINITY;
    size_t found = s->m;
    for (size_t i = 0; i < s->m; i++) {
        const double *row = dyn_simplex_row(s, i);
        if (is_bounded(s, i) && row[c] < -PIVOT) most = fmin(most, (fmax(row[s->n + 1], 0) + SLACK) / -row[c]);
    }
    for (size_t i = 0; i < s->m; i++) {
        const double *row = dyn_simplex_row(s, i);
        if (!is_bounded(s, i) || !(row[c] < -PIVOT) || !(fmax(row[s->n + 1], 0) / -row[c] <= most)) continue;
        if (found < s->m && !(row[c] < dyn_simplex_row(s, found)[c])) continue;
        found = i;
    }
    if (found < s->m) *step = fmax(dyn_simplex_row(s, found)[s->n + 1], 0) / -dyn_simplex_row(s, found)[c];
    return found;
}

/* Takes pivots until none of the first `columns` columns increases the objective d_0 v_0 + d_1 v_1, where v_0 and v_1
 * are the basic variables of the two rows rows[0] and rows[1]. */
static dyn_simplex_status climb(dyn_simplex *s, const size_t *rows, const double d[2], size_t columns)
{
    size_t stalled = 0;
    while (s->pivots > 0) {
        if (--s->pivots % LOOK == 0 && !dyn_may_continue(s->deadline)) return DYN_SIMPLEX_LATE;
        for (size_t c = 0; c <= s->n; c++)
            s->cost[c] = d[0] * dyn_simplex_row(s, rows[0])[c] + d[1] * dyn_simplex_row(s, rows[1])[c];
        const size_t c = choose_entering(s, columns, stalled > s->n + 4);
        if (c > s->n) return DYN_SIMPLEX_DONE;
        double       step = 0;
        const size_t r    = choose_row(s, c, &step);
        if (r == s->m) return DYN_SIMPLEX_UNDECIDED;
        const bool ends = s->basic[r] == artificial(s);
        stalled         = step > STANDS ? 0 : stalled + 1;
        exchange_variables(s, r, c);
        if (ends) return DYN_SIMPLEX_DONE;
    }
    return DYN_SIMPLEX_UNDECIDED;
}

/* --- a first vertex ----------------------------------------------------------------------------------------------- */

/* Sets up the dictionary of the slacks h - G y as functions of the unknowns y, from G and h in the table. */
static void open_dictionary(dyn_simplex *s)
{
    for (size_t i = 0; i < s->m; i++) {
        double *row = dyn_simplex_row(s, i);
        for (size_t k = 0; k <= s->n; k++)
            row[k] = -row[k];
        s->basic[i] = i;
    }
    for (size_t k = 0; k <= s->n; k++)
        s->zero[k] = s->m + k;
    s->unknown[0] = s->unknown[1] = s->m;
    s->pivots                     = PIVOTS * (s->m + s->n);
}

/* Exchanges every unknown with a slack, always at the largest entry of the dictionary; entries in rows of bounds come
 * last. Returns false if an unknown is in no row, or the deadline has passed. */
static bool exchange_unknowns(dyn_simplex *s)
{
    for (size_t done = 0; done < s->n; done++) {
        size_t r = s->m, column = 0;
        double most = 0;
        if (!dyn_may_continue(s->deadline)) return false;
        for (size_t i = 0; i < s->m; i++) {
            const double weight = i < s->bounds ? 1 : LAST;
            for (size_t c = 0; c < s->n && s->basic[i] < s->m; c++)
                if (s->zero[c] >= s->m && weight * fabs(dyn_simplex_row(s, i)[c]) > most)
                    most = weight * fabs(dyn_simplex_row(s, i)[c]), r = i, column = c;
        }
        if (r == s->m) return false;
        exchange_variables(s, r, column);
    }
    return true;
}

/* Returns the row of the most negative slack, or m if none is below -FEASIBLE. */
static size_t most_violated(const dyn_simplex *s)
{
    size_t found = s->m;
    double least = -FEASIBLE;
    for (size_t i = 0; i < s->m; i++)
        if (s->basic[i] < s->m && dyn_simplex_row(s, i)[s->n + 1] < least)
            least = dyn_simplex_row(s, i)[s->n + 1], found = i;
    return found;
}

/* Makes the artificial variable, which is zero, nonbasic if row `row` has it, and removes its column. */
static void drop_artificial(dyn_simplex *s, size_t row)
{
    size_t c = s->n;
    if (s->basic[row] == artificial(s)) {
        c = 0;
        for (size_t k = 1; k < s->n; k++)
            if (fabs(dyn_simplex_row(s, row)[k]) > fabs(dyn_simplex_row(s, row)[c])) c = k;
        exchange_variables(s, row, c);
    } else {
        while (s->zero[c] != artificial(s))
            c--;
    }
    const size_t last = s->zero[s->n];
    for (size_t i = 0; i < s->m; i++) {
        double *values = dyn_simplex_row(s, i);
        values[c]      = values[s->n];
        values[s->n]   = 0;
    }
    s->zero[s->n] = s->zero[c];
    s->zero[c]    = last;
}

dyn_simplex_status dyn_simplex_begin(dyn_simplex *s)
{
    open_dictionary(s);
    if (!exchange_unknowns(s)) return dyn_may_continue(s->deadline) ? DYN_SIMPLEX_UNDECIDED : DYN_SIMPLEX_LATE;
    const size_t r = most_violated(s);
    if (r == s->m) return DYN_SIMPLEX_DONE;
    for (size_t i = 0; i < s->m; i++)
        dyn_simplex_row(s, i)[s->n] = s->basic[i] < s->m;
    exchange_variables(s, r, s->n);
    const size_t             rows[2] = {r, r};
    const dyn_simplex_status status  = climb(s, rows, (double[2]){-1, 0}, s->n + 1);
    if (status != DYN_SIMPLEX_DONE) return status;
    if (s->basic[r] == artificial(s) && dyn_simplex_row(s, r)[s->n + 1] > FEASIBLE) return DYN_SIMPLEX_INFEASIBLE;
    drop_artificial(s, r);
    return DYN_SIMPLEX_DONE;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

dyn_simplex_status dyn_simplex_maximise(dyn_simplex *s, const double d[2], double y[2])
{
    s->pivots                       = PIVOTS * (s->m + s->n);
    const dyn_simplex_status status = climb(s, s->unknown, d, s->n);
    for (size_t j = 0; j < 2; j++)
        y[j] = dyn_simplex_row(s, s->unknown[j])[s->n + 1];
    return status;
}

double dyn_simplex_multiplier(const dyn_simplex *s, size_t row)
{
    for (size_t c = 0; c < s->n; c++)
        if (s->zero[c] == row) return fmax(-s->cost[c], 0);
    return 0;
}
