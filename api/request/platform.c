/* platform.c - see platform.h. */
#include "platform.h"
#include "api/lanes/batch.h"
#include "operation.h"

static const char *const parts[API_PLATFORM_PARTS] = {"position", "orientation", "velocity", "acceleration"};

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool check(const api_evaluation *e, const api_node *given, const api_place *at)
{
    static const char *const keys[] = {"frame", "position", "orientation", "velocity", "acceleration", NULL};
    if (!e->model->loops)
        return api_fail_at(e, at, API_BAD_VALUE, "platform is for models with loops; %s has none", e->model->name);
    if (!api_check_keys(e, given, at, keys, "a platform")) return false;
    for (int f = API_Q; f <= API_QDD; f++)
        if (e->given[f])
            return api_fail_at(e, at, API_BAD_VALUE, "platform stands in place of q, qd and qdd, and %s is given, too",
                               api_field_names[f]);
    for (size_t i = 0; i < 2; i++) {
        api_place key_at = api_place_key(at, keys[i]);
        if (!api_node_get(given, keys[i]))
            return api_fail_at(e, &key_at, API_MISSING_FIELD, "a platform needs its %s", keys[i]);
    }
    return true;
}

/* Velocity and acceleration are for who takes qd and qdd, and finds no part of it. */
static bool check_taken(const api_evaluation *e, size_t part, const api_place *at)
{
    api_field field = part == API_PLATFORM_VELOCITY ? API_QD : API_QDD;
    if (part != API_PLATFORM_VELOCITY && part != API_PLATFORM_ACCELERATION) return true;
    if (e->driven && part == API_PLATFORM_ACCELERATION)
        return api_fail_at(e, at, API_BAD_VALUE,
                           "coordinates are free: their accelerations are found, and a platform's would give them");
    for (size_t i = 0; i < e->n_selected; i++)
        if ((e->selected[i].operation->needs | e->selected[i].operation->takes) & API_BIT(field)) return true;
    return api_fail_at(e, at, API_UNKNOWN_FIELD, "the %s of a platform stands for %s, which %s does not take",
                       parts[part], api_field_names[field], e->selected[0].operation->name);
}

/* Who cannot do without qd or qdd needs what stands for them. */
static bool check_needed(const api_evaluation *e, const api_place *at)
{
    static const size_t part_of[] = {[API_QD] = API_PLATFORM_VELOCITY, [API_QDD] = API_PLATFORM_ACCELERATION};
    for (size_t i = 0; i < e->n_selected; i++)
        for (int f = API_QD; f <= API_QDD; f++) {
            api_place part_at = api_place_key(at, parts[part_of[f]]);
            if (e->selected[i].operation->needs & API_BIT(f) && !api_platform_gives(e, (api_field)f))
                return api_fail_at(e, &part_at, API_MISSING_FIELD, "%s needs %s, so a platform needs its %s",
                                   e->selected[i].operation->name, api_field_names[f], parts[part_of[f]]);
        }
    return true;
}

bool api_platform_measure(api_evaluation *e)
{
    api_place       at    = api_place_key(NULL, "platform"), frame_at;
    const api_node *given = e->given[API_PLATFORM];
    if (!given) return true;
    if (!check(e, given, &at)) return false;
    frame_at               = api_place_key(&at, "frame");
    int           frame    = api_read_frame(e, api_node_get(given, "frame"), &frame_at);
    api_platform *platform = frame < 0 ? NULL : api_take(e->pool, sizeof *platform);
    if (!platform) return false;
    *platform = (api_platform){.frame = e->model->frames[frame].frame};
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        const api_node *value   = api_node_get(given, parts[i]);
        api_place       part_at = api_place_key(&at, parts[i]);
        platform->given[i]      = value != NULL;
        if (value && !(check_taken(e, i, &part_at) && api_batch_measure(e, value, &part_at))) return false;
    }
    platform->rows = platform->given[API_PLATFORM_ORIENTATION] ? 6 : 3;
    e->platform    = platform;
    return check_needed(e, &at);
}

static const double upright[4] = {0, 0, 0, 1};

static bool check_orientation(const api_evaluation *e, const api_vector *v, double *values, size_t stride, size_t lanes,
                              const api_place *row)
{
    return api_check_quaternion(e, v, 0, values, stride, lanes, row);
}

static bool take_state(api_evaluation *e)
{
    e->passive = api_take_lanes(e, e->model->loops->n_passive_q);
    if (!e->passive) return false;
    for (int f = API_Q; f <= API_QDD; f++)
        if (api_platform_gives(e, (api_field)f) &&
            !(e->state[f] = api_take_lanes(e, f == API_Q ? e->model->nq : e->model->nv)))
            return false;
    return true;
}

bool api_platform_decode(api_evaluation *e)
{
    api_place       at    = api_place_key(NULL, "platform");
    api_platform   *p     = e->platform;
    const api_node *given = e->given[API_PLATFORM];
    if (!p) return true;
    const size_t n[API_PLATFORM_PARTS] = {3, 4, p->rows, p->rows};
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        if (!p->given[i]) continue;
        api_vector v = {.value = api_node_get(given, parts[i]), .n = n[i], .stride = n[i]};
        v.at         = api_place_key(&at, parts[i]);
        v.check      = i == API_PLATFORM_ORIENTATION ? check_orientation : NULL;
        v.neutral    = i == API_PLATFORM_ORIENTATION ? upright : NULL;
        v.lanes = p->lanes[i] = api_take_lanes(e, n[i]);
        if (!v.lanes || !api_batch_read(e, &v)) return false;
    }
    return take_state(e);
}

bool api_platform_gives(const api_evaluation *e, api_field field)
{
    const api_platform *p = e->platform;
    if (!p) return false;
    bool accelerates = p->given[API_PLATFORM_ACCELERATION], moves = p->given[API_PLATFORM_VELOCITY] || accelerates;
    return field == API_Q || (field == API_QD && moves) || (field == API_QDD && accelerates);
}

bool api_platform_fail(const api_evaluation *e, size_t row, const api_problem *found)
{
    api_place at = api_place_key(NULL, "platform");
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        api_place       part_at = api_place_key(&at, parts[i]);
        const api_node *part    = api_node_get(e->given[API_PLATFORM], parts[i]);
        if (part && api_is_batch(part, 1)) return api_fail_entry(e, &part_at, row, found);
    }
    return api_fail_found(e, API_PLATFORM, row, found);
}

/* --- a block ----------------------------------------------------------------------------------------------------- */

bool api_platform_reach(const api_evaluation *e, api_loop_workspace *c, size_t block, size_t live)
{
    const api_platform   *p         = e->platform;
    size_t                nv        = e->model->nv;
    size_t                n_passive = e->model->loops->n_passive_q;
    api_platform_motion   to        = {.position     = api_block(e, p->lanes[API_PLATFORM_POSITION], 3, block),
                                       .orientation  = api_block(e, p->lanes[API_PLATFORM_ORIENTATION], 4, block),
                                       .velocity     = api_block(e, p->lanes[API_PLATFORM_VELOCITY], p->rows, block),
                                       .acceleration = api_block(e, p->lanes[API_PLATFORM_ACCELERATION], p->rows, block)};
    api_platform_solution found     = {.q       = api_block(e, e->state[API_Q], e->model->nq, block),
                                       .qd      = api_block(e, e->state[API_QD], nv, block),
                                       .qdd     = api_block(e, e->state[API_QDD], nv, block),
                                       .passive = api_block(e, e->passive, n_passive, block)};
    return api_loop_solve_platform(c, &e->scene, &to, api_block(e, e->guess, n_passive, block), &found, live);
}
