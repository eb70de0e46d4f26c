/* held_ranges.c - reads "held", "impact", "phases" and "contact_damping" (held_ranges.h). */
#include "held_ranges.h"
#include "api/requests/fields/fields.h"
#include "api/codec/number.h"
#include <math.h>
#include <string.h>

/* The operations that read held frames here, for messages. */
static const char not_rolling[] = "an operation that differentiates accelerations";

/* --- request ---------------------------------------------------------------------------------------------------- */

bool api_held_read(api_query *q, const api_node *given, const api_place *up, api_held_ranges *ranges)
{
    api_place at = api_place_key(up, "impact");
    *ranges      = (api_held_ranges){.n = 1, .range = api_take(q->pool, sizeof *ranges->range)};
    if (!ranges->range) return false;
    *ranges->range = (api_held_range){.first = 0};
    if (!api_contact_read(q, given, up, &ranges->range->contact) ||
        !api_contact_refuse_rolling(q, ranges->range->contact, up, not_rolling) ||
        !api_contact_read_damping(q, given, up, ranges->range->contact, &ranges->damping) ||
        !api_read_flag(q, api_node_get(given, "impact"), &at, &ranges->range->impact))
        return false;
    return !ranges->range->impact || ranges->range->contact ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "true given without held, the frames that stop at the impact");
}

static bool same_frame(const dyn_held_frame *a, const dyn_held_frame *b)
{
    return a->frame.body == b->frame.body && a->frame_axes == b->frame_axes &&
           !memcmp(&a->frame.X_bf, &b->frame.X_bf, sizeof a->frame.X_bf);
}

/* True if the range holds an axis of a frame. */
static bool holds_axis(const api_held_range *range, const dyn_held_frame *frame, int axis)
{
    for (size_t i = 0; range->contact && i < range->contact->n; i++)
        for (size_t a = 0; same_frame(&range->contact->frame[i], frame) && a < range->contact->frame[i].n; a++)
            if (range->contact->frame[i].axis[a] == axis) return true;
    return false;
}

/* True if the range holds a direction that the one before does not hold. */
static bool holds_more(const api_held_range *range, const api_held_range *before)
{
    for (size_t i = 0; range->contact && i < range->contact->n; i++)
        for (size_t a = 0; a < range->contact->frame[i].n; a++)
            if (!holds_axis(before, &range->contact->frame[i], range->contact->frame[i].axis[a])) return true;
    return false;
}

/* Reads the number of steps of a phase, at most `most`. */
static bool read_steps(const api_query *q, const api_node *given, const api_place *up, size_t most, size_t *steps)
{
    api_place at = api_place_key(up, "steps");
    double    n  = 0;
    if (!api_node_get(given, "steps"))
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "a phase needs its number of steps");
    if (!api_read_number(q, api_node_get(given, "steps"), &at, &n)) return false;
    if (!(n >= 1 && n == floor(n)))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a whole number of steps from 1 on expected",
                           API_NUMBER_TEXT(n));
    if (n > (double)most)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE, "%s steps given, %zu of the nodes of torques are left",
                           API_NUMBER_TEXT(n), most);
    *steps = (size_t)n;
    return true;
}

/* Appends the ranges of a phase that begins at `node`: only its first node if it begins with an impact. */
static void append_phase(api_held_ranges *ranges, api_held_range phase, size_t node, size_t steps)
{
    const api_held_range *before = ranges->n > 0 ? &ranges->range[ranges->n - 1] : NULL;
    phase.first                  = node;
    phase.impact                 = before && holds_more(&phase, before);
    ranges->range[ranges->n++]   = phase;
    if (!phase.impact || steps == 1) return;
    phase.first++;
    phase.impact               = false;
    ranges->range[ranges->n++] = phase;
}

bool api_phases_read(api_query *q, const api_node *given, const api_place *up, size_t nodes, api_held_ranges *ranges)
{
    static const char *const fields[] = {"steps", "held", NULL};
    const api_node          *list     = api_node_get(given, "phases");
    api_place                at       = api_place_key(up, "phases");
    size_t                   n, node = 0;
    bool                     held = false;
    if (api_contact_is_given(given))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "phases given beside held: give one of them");
    if (!api_check_list(q, list, &at, "a phase")) return false;
    n = api_node_size(list);
    if (n > nodes)
        return api_fail_at(q->problem, &at, API_WRONG_SHAPE, "%zu phases given for %zu nodes of torques", n, nodes);
    *ranges = (api_held_ranges){.range = api_take(q->pool, 2 * n * sizeof *ranges->range)};
    if (!ranges->range) return false;
    for (size_t i = 0; i < n; i++) {
        api_node       item;
        api_held_range phase = {.first = 0};
        size_t         steps = 0;
        api_place      entry = api_place_index(&at, i);
        if (!api_node_item(list, i, &item) || !api_check_keys(q, &item, &entry, fields, "a phase") ||
            !read_steps(q, &item, &entry, nodes - node, &steps) ||
            !api_contact_read(q, &item, &entry, &phase.contact) ||
            !api_contact_refuse_rolling(q, phase.contact, &entry, not_rolling))
            return false;
        append_phase(ranges, phase, node, steps);
        node += steps;
        held = held || phase.contact;
    }
    if (!api_contact_read_damping(q, given, up, held, &ranges->damping)) return false;
    return node == nodes || api_fail_at(q->problem, &at, API_WRONG_SHAPE,
                                        "the phases have %zu steps, %zu expected as torques has nodes", node, nodes);
}

bool api_held_check_loops(const api_query *q, const api_held_ranges *ranges, const api_place *at, const char *what)
{
    bool held = false;
    for (size_t r = 0; r < ranges->n; r++)
        held = held || ranges->range[r].contact;
    return !held || !q->model->loops ||
           api_fail_at(q->problem, at, API_NOT_FOR_LOOPS,
                       "%s with held frames are for models without loops, which %s has", what, q->model->name);
}

/* --- kernel ----------------------------------------------------------------------------------------------------- */

/* Returns the site of the wrench that holds a frame. That of a mechanism with loops is in the axes along which the
 * frame is held. */
static dyn_wrench_site site_of(const api_query *q, const dyn_held_frame *held, double damping)
{
    dyn_wrench_site site = dyn_held_site(held, damping);
    if (q->model->loops) site.world_axes = !held->frame_axes;
    return site;
}

bool api_held_prepare(const api_query *q, api_held_ranges *ranges)
{
    const size_t given = q->scene.n_wrenches;
    for (size_t r = 0; r < ranges->n; r++) {
        api_held_range     *range   = &ranges->range[r];
        const dyn_held_set *contact = range->contact;
        range->sites                = NULL;
        if (!contact) continue;
        if (q->model->loops && api_has_load(q)) return api_fail_load(q, "a step with loops and held frames");
        dyn_wrench_site *sites = api_take(q->pool, (given + contact->n) * sizeof *sites);
        if (!sites) return false;
        if (given > 0) memcpy(sites, q->scene.wrench, given * sizeof *sites);
        for (size_t i = 0; i < contact->n; i++)
            sites[given + i] = site_of(q, &range->contact->frame[i], ranges->damping);
        range->sites = sites;
    }
    return true;
}

size_t api_held_work(const api_query *q, const api_held_ranges *ranges)
{
    const dyn_model *m    = q->model->dyn;
    size_t           most = 0;
    for (size_t r = 0; r < ranges->n && !q->model->loops; r++) {
        const api_held_range *range = &ranges->range[r];
        size_t                entries =
            range->contact ? dyn_step_held_work(m, q->scene.n_wrenches, range->contact->n, range->contact->k) : 0;
        if (range->impact) entries += dyn_step_impact_work(m);
        if (entries > most) most = entries;
    }
    return most;
}

const api_held_range *api_held_range_of(const api_held_ranges *ranges, size_t node)
{
    const api_held_range *range = ranges->range;
    for (size_t r = 1; r < ranges->n && ranges->range[r].first <= node; r++)
        range = &ranges->range[r];
    return range;
}
