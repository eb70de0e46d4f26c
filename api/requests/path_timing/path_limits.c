/* path_limits.c - reads limits of a path's timing and writes their rows (path_limits.h). */
#include "path_limits.h"
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include <math.h>

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The kinds that joint_limits may name, in the order in which they are listed. */
static const dyn_limit_kind given_kinds[] = {DYN_LIMIT_VELOCITY, DYN_LIMIT_EFFORT, DYN_LIMIT_ACCELERATION,
                                             DYN_LIMIT_EFFORT_RATE, DYN_LIMIT_JERK};
enum { GIVEN_KINDS = sizeof given_kinds / sizeof *given_kinds };

/* Reads the bounds of one kind: a number for all coordinates, or one for each in the order of the request. */
static bool read_bounds(const api_query *q, const api_node *value, const api_place *where, double *bounds)
{
    const size_t nv = q->model->nv;
    if (api_node_is(value, API_ARRAY)) {
        if (!api_read_numbers(q, value, where, nv, bounds)) return false;
    } else {
        if (!api_read_number(q, value, where, bounds)) return false;
        for (size_t v = 1; v < nv; v++)
            bounds[v] = bounds[0];
    }
    for (size_t v = 0; v < nv; v++) {
        const api_place entry = api_place_index(where, v);
        if (!(bounds[v] > 0))
            return api_fail_at(q->problem, api_node_is(value, API_ARRAY) ? &entry : where, API_BAD_VALUE,
                               "%s given, a limit greater than 0 expected", API_NUMBER_TEXT(bounds[v]));
    }
    return true;
}

/* Removes the limits of a kind. */
static void remove_kind(api_limit_list *list, dyn_limit_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (list->limit[i].kind == kind) continue;
        list->limit[n]   = list->limit[i];
        list->owner[n++] = list->owner[i];
    }
    list->n = n;
}

/* Appends a limit for each coordinate, in the model's order, whose bounds are not known yet. */
static void append_kind(const api_query *q, dyn_limit_kind kind, api_limit_list *list)
{
    for (size_t v = 0; v < q->model->nv; v++) {
        list->limit[list->n]   = (dyn_limit){.kind = kind, .n = 1, .entry = {v}, .weight = {1}};
        list->owner[list->n++] = (api_limit_owner){q->model->velocity_names[v], NULL};
    }
}

void api_path_limits_order(const api_query *q, api_path_limits *limits)
{
    for (size_t i = 0; i < limits->list.n; i++) {
        dyn_limit *l = &limits->list.limit[i];
        for (size_t j = 0; limits->replacing[l->kind] && j < q->model->nv; j++) {
            if ((q->order ? (size_t)q->order[j] : j) != l->entry[0]) continue;
            l->upper = limits->replacing[l->kind][j];
            l->lower = -l->upper;
        }
    }
}

/* Makes space in the list for `more` limits. */
static bool extend_limits(api_query *q, api_limit_list *list, size_t more)
{
    dyn_limit       *limit = api_take(q->pool, (list->n + more + 1) * sizeof *limit);
    api_limit_owner *owner = api_take(q->pool, (list->n + more + 1) * sizeof *owner);
    if (!limit || !owner) return false;
    for (size_t i = 0; i < list->n; i++) {
        limit[i] = list->limit[i];
        owner[i] = list->owner[i];
    }
    list->limit = limit;
    list->owner = owner;
    return true;
}

static bool read_given(api_query *q, const api_node *replacing, const api_place *where, api_path_limits *limits)
{
    const size_t nv                     = q->model->nv;
    const char  *names[GIVEN_KINDS + 1] = {NULL};
    for (size_t k = 0; k < GIVEN_KINDS; k++)
        names[k] = api_limit_names[given_kinds[k]];
    if (!api_check_keys(q, replacing, where, names, "joint_limits") ||
        !extend_limits(q, &limits->list, nv * GIVEN_KINDS))
        return false;
    for (size_t k = 0; k < GIVEN_KINDS; k++) {
        const api_node *value = api_node_get(replacing, names[k]);
        const api_place entry = api_place_key(where, names[k]);
        double        **to    = &limits->replacing[given_kinds[k]];
        if (!value) continue;
        *to = api_take(q->pool, nv * sizeof **to);
        if (!*to || !read_bounds(q, value, &entry, *to)) return false;
        remove_kind(&limits->list, given_kinds[k]);
        append_kind(q, given_kinds[k], &limits->list);
    }
    return true;
}

/* Returns the number of rows of a limit: two for an upper and a lower bound, one for a speed, whose sign along the path
 * is known, three for a torque-speed line, and none for other kinds. With held frames (`has_contacts`) limits of
 * efforts are among the rows of the contacts. */
static size_t second_rows(const dyn_limit *l, bool has_contacts)
{
    const bool both = (l->kind == DYN_LIMIT_EFFORT && !has_contacts) || l->kind == DYN_LIMIT_ACCELERATION;
    return l->kind == DYN_LIMIT_VELOCITY ? 1 : both ? 2 : l->kind == DYN_LIMIT_EFFORT_SPEED ? 3 : 0;
}

/* Returns the number of rows of a limit without the third derivative in a smooth timing, where one row has an upper and
 * a lower bound. A torque-speed line needs two, because its two sides have different coefficients. */
static size_t smooth_second_rows(const dyn_limit *l)
{
    return l->kind == DYN_LIMIT_EFFORT_SPEED ? 2 : second_rows(l, false) > 0;
}

static bool is_third(const dyn_limit *l)
{
    return l->kind == DYN_LIMIT_EFFORT_RATE || l->kind == DYN_LIMIT_JERK;
}

static void count_rows(api_path_limits *limits)
{
    for (size_t i = 0; i < limits->list.n; i++) {
        const dyn_limit *l = &limits->list.limit[i];
        limits->rows += second_rows(l, limits->contacts);
        limits->second += smooth_second_rows(l);
        limits->third += is_third(l);
    }
    limits->smooth = limits->third > 0;
    limits->rows += limits->frames.n_speeds + (limits->contacts ? DYN_POLYGON_EDGES : 0);
    limits->second += limits->frames.n_speeds;
}

/* Writes to `owner` the numbers of those limits of frames that bound speeds, or else accelerations. Returns the address
 * after the last. */
static size_t *number_frames(const api_path_limits *limits, bool speeds, size_t *owner)
{
    for (size_t i = 0; i < limits->frames.n_limits; i++)
        if (api_frame_limit_is_speed(&limits->frames.limit[i]) == speeds) *owner++ = limits->list.n + i;
    return owner;
}

static bool list_rows(api_query *q, api_path_limits *limits)
{
    const size_t n = limits->list.n, norms = limits->frames.n_accelerations;
    count_rows(limits);
    size_t *owner        = api_take(q->pool, (limits->rows + norms + 1) * sizeof *owner);
    size_t *smooth       = api_take(q->pool, (limits->second + limits->third + norms + 1) * sizeof *smooth);
    limits->owner        = owner;
    limits->smooth_owner = smooth;
    if (!owner || !smooth) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t side = 0; side < second_rows(&limits->list.limit[i], limits->contacts); side++)
            *owner++ = i;
    number_frames(limits, true, owner);
    number_frames(limits, false, limits->owner + limits->rows);
    for (int third = 0; third < 2; third++) {
        for (size_t i = 0; i < n; i++) {
            const dyn_limit *l    = &limits->list.limit[i];
            const size_t     rows = third ? is_third(l) : smooth_second_rows(l);
            for (size_t row = 0; row < rows; row++)
                *smooth++ = i;
        }
        smooth = number_frames(limits, third == 0, smooth);
    }
    return true;
}

static bool is_of_effort(const dyn_limit *l)
{
    return l->kind == DYN_LIMIT_EFFORT || l->kind == DYN_LIMIT_EFFORT_RATE || l->kind == DYN_LIMIT_EFFORT_SPEED;
}

/* Refuses limits of the efforts of mimic joints, since the coefficients of a path do not contain these efforts. */
static bool check_followers(const api_query *q, const api_limit_list *list, const api_place *where)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; is_of_effort(&list->limit[i]) && j < list->limit[i].n; j++)
            if (list->limit[i].entry[j] >= q->model->nv)
                return api_fail_at(
                    q->problem, where, API_NOT_SUPPORTED,
                    "path-timing does not limit the effort of %.64s, a mimic joint: list other kinds, or "
                    "give efforts in joint_limits",
                    list->owner[i].name);
    return true;
}

bool api_path_limits_read(api_query *q, const api_node *fields, api_path_contacts *contacts, api_path_limits *limits)
{
    const api_place kinds = api_place_key(NULL, "kinds"), replacing = api_place_key(NULL, "joint_limits");
    const api_node *value = api_node_get(fields, "joint_limits");
    *limits               = (api_path_limits){.contacts = contacts};
    return api_limits_read(q, api_node_get(fields, "kinds"), &kinds, &limits->list) &&
           (!value || read_given(q, value, &replacing, limits)) && check_followers(q, &limits->list, &kinds) &&
           api_path_frames_read(q, api_node_get(fields, "frame_limits"), &limits->frames) && list_rows(q, limits);
}

/* --- scale -------------------------------------------------------------------------------------------------------- */

/* Returns the factor by which the rows of a limit are scaled: 1 / (its larger bound). */
static double limit_scale(const dyn_limit *l)
{
    const double most = fmax(fabs(l->lower), fabs(l->upper));
    return most > 0 ? 1 / most : 1;
}

double api_path_limit_scale(const api_path_limits *limits, size_t number, bool smooth)
{
    const size_t n = limits->list.n;
    if (number < n) {
        const dyn_limit *l = &limits->list.limit[number];
        return limit_scale(l) * (smooth && l->kind == DYN_LIMIT_VELOCITY ? 2 : 1);
    }
    const api_frame_limit *l = &limits->frames.limit[number - n];
    return (smooth && api_frame_limit_is_speed(l) ? 2 : 1) / l->most;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

const dyn_limit *api_path_position_violated(const api_path_limits *limits, const api_path_lanes *p, size_t W,
                                            size_t lane)
{
    for (size_t i = 0; i < limits->list.n; i++) {
        const dyn_limit *l = &limits->list.limit[i];
        if (l->kind != DYN_LIMIT_POSITION) continue;
        const double q = dyn_limit_quantity(l, p->q, W, lane);
        if (q < l->lower || q > l->upper) return l;
    }
    return NULL;
}

/* Writes both sides of lower <= a u + b x + d sqrt(x) + c <= upper, divided by the larger bound. */
static dyn_timing_row *put_sides(const dyn_limit *l, const dyn_timing_row *k, double c, dyn_timing_row *to)
{
    const double scale = limit_scale(l);
    to[0]              = (dyn_timing_row){scale * k->a, scale * k->b, scale * k->d, scale * (l->upper - c)};
    to[1]              = (dyn_timing_row){-scale * k->a, -scale * k->b, -scale * k->d, scale * (c - l->lower)};
    return to + 2;
}

/* Adds narrowing sqrt(x) to the two rows before `to`, the sides of the limit of an effort: the bounds of a torque-speed
 * line become narrower with the speed of the drive, and sqrt(x) = sd. Appends the row of the speed without load,
 * narrowing sqrt(x) <= stall, which is half the sum of the two rows. */
static dyn_timing_row *put_line(const dyn_limit *l, double narrowing, dyn_timing_row *to)
{
    const double d = l->upper > 0 ? narrowing / l->upper : narrowing;
    to[-2].d += d;
    to[-1].d += d;
    *to = (dyn_timing_row){.d = d, .r = l->upper > 0 ? 1 : 0};
    return to + 1;
}

/* Returns the row that limits the rate of a quantity with the derivative `by_s` along the path. */
static dyn_timing_row velocity_row(const dyn_limit *l, double by_s)
{
    const double bound = by_s > 0 ? l->upper : -l->lower, scale = bound > 0 ? 1 / bound : 1;
    return (dyn_timing_row){.d = scale * fabs(by_s), .r = scale * bound};
}

void api_path_limits_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                          dyn_timing_row *rows, dyn_timing_norm *norms)
{
    for (size_t i = 0; i < limits->list.n; i++) {
        const dyn_limit *l = &limits->list.limit[i];
        dyn_timing_row   k = {0};
        switch (l->kind) {
        case DYN_LIMIT_VELOCITY: *rows++ = velocity_row(l, dyn_limit_quantity(l, p->dq, W, lane)); break;
        case DYN_LIMIT_ACCELERATION:
            k    = (dyn_timing_row){.a = dyn_limit_quantity(l, p->dq, W, lane),
                                    .b = dyn_limit_quantity(l, p->d2q, W, lane)};
            rows = put_sides(l, &k, 0, rows);
            break;
        case DYN_LIMIT_EFFORT:
        case DYN_LIMIT_EFFORT_SPEED:
            if (limits->contacts) break;
            k    = (dyn_timing_row){.a = dyn_limit_quantity(l, p->a, W, lane),
                                    .b = dyn_limit_quantity(l, p->b, W, lane),
                                    .d = dyn_limit_quantity(l, p->d, W, lane)};
            rows = put_sides(l, &k, dyn_limit_quantity(l, p->c, W, lane), rows);
            if (l->kind == DYN_LIMIT_EFFORT_SPEED) rows = put_line(l, dyn_limit_narrowing(l, p->dq, W, lane), rows);
            break;
        case DYN_LIMIT_POSITION:
        case DYN_LIMIT_EFFORT_RATE:
        case DYN_LIMIT_JERK:
        case DYN_LIMIT_KINDS: break;
        }
    }
    api_path_frames_limits(&limits->frames, p->frames, W, lane, rows, norms);
}

/* --- rows with the third derivative ---------------------------------------------------------------------------------
 */

/* A limited quantity: a sdd + b sd^2 + d sd + c, or with limits of the third order a sddd + ab sd sdd + db sd^3 + d sdd
 * + dd sd^2 + dc sd. */
typedef struct quantity {
    double a, b, c, d, ab, db, dc, dd;
} quantity;

/* second_row and third_row write the quantity in the derivatives of r, where s = g(r) (smooth_timing.h): sd = g' rd,
 * sdd = g' rdd + g'' rd^2, sddd = g' rddd + 3 g'' rd rdd + g''' rd^3. */
static dyn_smooth_row second_row(const quantity *y, const dyn_grading *g)
{
    return (dyn_smooth_row){
        .b2 = y->a * g->d1, .b1 = y->b * g->d1 * g->d1 + y->a * g->d2, .b0 = y->c, .a0 = y->d * g->d1};
}

static dyn_smooth_row third_row(const quantity *y, const dyn_grading *g)
{
    return (dyn_smooth_row){.a3 = y->a * g->d1,
                            .a2 = 3 * y->a * g->d2 + y->ab * g->d1 * g->d1,
                            .a1 = y->a * g->d3 + y->ab * g->d1 * g->d2 + y->db * g->d1 * g->d1 * g->d1,
                            .a0 = y->dc * g->d1,
                            .b2 = y->d * g->d1,
                            .b1 = y->d * g->d2 + y->dd * g->d1 * g->d1};
}

static quantity quantity_of(const dyn_limit *l, const api_path_lanes *p, size_t W, size_t lane)
{
    const double dq = dyn_limit_quantity(l, p->dq, W, lane), d2q = dyn_limit_quantity(l, p->d2q, W, lane);
    switch (l->kind) {
    case DYN_LIMIT_VELOCITY: return (quantity){.d = dq};
    case DYN_LIMIT_ACCELERATION: return (quantity){.a = dq, .b = d2q};
    case DYN_LIMIT_JERK: return (quantity){.a = dq, .ab = 3 * d2q, .db = dyn_limit_quantity(l, p->d3q, W, lane)};
    case DYN_LIMIT_EFFORT:
    case DYN_LIMIT_EFFORT_SPEED:
        return (quantity){.a = dyn_limit_quantity(l, p->a, W, lane),
                          .b = dyn_limit_quantity(l, p->b, W, lane),
                          .c = dyn_limit_quantity(l, p->c, W, lane),
                          .d = dyn_limit_quantity(l, p->d, W, lane)};
    case DYN_LIMIT_EFFORT_RATE:
        return (quantity){.a  = dyn_limit_quantity(l, p->a, W, lane),
                          .ab = dyn_limit_quantity(l, p->da, W, lane) + 2 * dyn_limit_quantity(l, p->b, W, lane),
                          .d  = dyn_limit_quantity(l, p->d, W, lane),
                          .db = dyn_limit_quantity(l, p->db, W, lane),
                          .dc = dyn_limit_quantity(l, p->dc, W, lane),
                          .dd = dyn_limit_quantity(l, p->dd, W, lane)};
    case DYN_LIMIT_POSITION:
    case DYN_LIMIT_KINDS: break;
    }
    return (quantity){0};
}

/* Scales a row by limit_scale, and sets its bounds. */
static dyn_smooth_row scale_row(const dyn_limit *l, dyn_smooth_row k)
{
    const double f = limit_scale(l);
    return (dyn_smooth_row){f * k.a3, f * k.a2, f * k.a1,     f * k.a0,    f * k.b2,
                            f * k.b1, f * k.b0, f * l->lower, f * l->upper};
}

/* Returns the row of a limit of velocity, as a bound of the square of the rate, which is linear in x. */
static dyn_smooth_row velocity_square(const dyn_limit *l, double by_s, const dyn_grading *where)
{
    const dyn_timing_row k = velocity_row(l, by_s * where->d1);
    return (dyn_smooth_row){.b1 = k.d * k.d, .low = -HUGE_VAL, .high = k.r * k.r};
}

/* Writes the two rows of a torque-speed line, narrowing sd + tau <= stall and narrowing sd - tau <= stall. */
static void put_smooth_line(const dyn_limit *l, const quantity *y, double narrowing, const dyn_grading *where,
                            dyn_smooth_row *rows)
{
    const quantity sides[2] = {{.a = y->a, .b = y->b, .c = y->c, .d = y->d + narrowing},
                               {.a = -y->a, .b = -y->b, .c = -y->c, .d = narrowing - y->d}};
    for (size_t side = 0; side < 2; side++) {
        rows[side]     = scale_row(l, second_row(&sides[side], where));
        rows[side].low = -HUGE_VAL;
    }
}

void api_path_limits_smooth_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                                 const dyn_grading *where, api_smooth_limits to)
{
    const size_t    of_frames = limits->second - limits->frames.n_speeds;
    dyn_smooth_row *rows      = to.row;
    api_path_frames_smooth_limits(&limits->frames, p->frames, W, lane, where,
                                  (api_smooth_limits){rows + of_frames, to.norm});
    for (size_t k = 0; k < limits->second + limits->third; k++) {
        if (k >= of_frames && k < limits->second) continue;
        const dyn_limit *l = &limits->list.limit[limits->smooth_owner[k]];
        const quantity   y = quantity_of(l, p, W, lane);
        if (l->kind == DYN_LIMIT_EFFORT_SPEED) {
            put_smooth_line(l, &y, dyn_limit_narrowing(l, p->dq, W, lane), where, rows + k++);
            continue;
        }
        rows[k] = l->kind == DYN_LIMIT_VELOCITY
                      ? velocity_square(l, y.d, where)
                      : scale_row(l, is_third(l) ? third_row(&y, where) : second_row(&y, where));
    }
}
