/* points.c - read the points of a curve: see points.h. */
#include "points.h"
#include "rows.h"

static bool read_list(const api_query *q, const api_node *list, const api_place *at, const char *of)
{
    return api_node_is(list, API_ARRAY) ||
           api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of %s expected", api_node_kind_text(list),
                       of);
}

static bool check_point(const api_query *q, const api_node *point, const api_place *at, const api_points *p)
{
    size_t n = api_node_size(point), extent[API_PACKED_RANK];
    if (!read_list(q, point, at, p->joints ? "numbers, one for each joint," : "numbers")) return false;
    for (size_t j = 0; api_node_packed(point, extent) != 1 && j < n; j++) {
        api_node  entry;
        api_place entry_at = api_place_index(at, j);
        if (api_node_item(point, j, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(q->problem, &entry_at, API_WRONG_TYPE, "%s given, a number expected",
                               api_node_kind_text(&entry));
    }
    if (n == p->width) return true;
    const char *remedy = p->joints ? api_coordinates_remedy(q, point, false) : api_comma_remedy(point, p->width);
    return p->joints
               ? api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu entries given, %zu expected (nv of %s%s)%s", n,
                             p->width, q->model->name, q->reduced ? " without its locked joints" : "", remedy)
               : api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu entries given, %zu expected%s", n, p->width, remedy);
}

/* Checks the points of one row. The first row sets p->n; every later row must have as many points. */
static bool check_points(const api_query *q, const api_node *points, const api_place *at, const api_points_form *form,
                         api_points *p)
{
    if (form->least == 0) {
        p->n = 1;
        return ((p->width == 1 || form->spread) && !p->batch && api_node_is(points, API_NUMBER)) ||
               check_point(q, points, at, p);
    }
    if (!read_list(q, points, at, form->name)) return false;
    size_t given = api_node_size(points);
    if (given < form->least)
        return api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu %s given, at least %zu expected%s", given, form->name,
                           form->least, form->why);
    if (p->n > 0 && given != p->n)
        return api_fail_at(q->problem, at, API_WRONG_SHAPE,
                           "%zu %s given, but the first row has %zu: all have the same", given, form->name, p->n);
    p->n = given;
    for (size_t k = 0; k < given; k++) {
        api_node  point;
        api_place point_at = api_place_index(at, k);
        if (!api_node_item(points, k, &point) || !check_point(q, &point, &point_at, p)) return false;
    }
    return true;
}

bool api_points_measure(api_query *q, const api_node *value, const api_place *at, const api_points_form *form,
                        api_points *p)
{
    *p       = (api_points){.value = value, .alone = form->least == 0, .joints = form->width == 0};
    p->width = p->joints ? q->model->nv : form->width;
    p->batch = api_is_batch(value, p->alone ? 1 : 2);
    if (!p->batch) return check_points(q, value, at, form, p);
    if (!api_batch_rows(q, api_node_size(value), at)) return false;
    for (size_t b = 0; b < api_node_size(value); b++) {
        api_node  row;
        api_place row_at = api_place_index(at, b);
        api_node_item(value, b, &row);
        if (check_points(q, &row, &row_at, form, p)) continue;
        q->problem->row = (long long)b;
        return false;
    }
    return true;
}

double *api_points_read(const api_query *q, const api_points *p)
{
    size_t     given   = p->batch ? q->rows : 1;
    const int *order   = p->joints ? q->order : NULL;
    double    *numbers = api_take(q->pool, given * p->n * p->width * sizeof *numbers), *to = numbers;
    for (size_t b = 0; numbers && b < given; b++) {
        api_node row = *p->value, point;
        if (!api_deadline_check(q->input->deadline, q->problem)) return NULL;
        if (p->batch) api_node_item(p->value, b, &row);
        if (api_node_is(&row, API_NUMBER)) { /* a single point, whose entries are all this number */
            for (size_t j = 0; j < p->width; j++)
                to[j] = api_node_number(&row);
            break;
        }
        for (size_t k = 0; k < p->n; k++, to += p->width) {
            if (!p->alone) api_node_item(&row, k, &point);
            for (size_t j = 0; j < p->width; j++)
                api_node_numbers(p->alone ? &row : &point, j, 1, &to[order ? (size_t)order[j] : j]);
        }
    }
    return numbers;
}
