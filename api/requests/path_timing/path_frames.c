/* path_frames.c - reads limits of the motion of frames along a path and writes their rows and norms (path_frames.h). */
#include "path_frames.h"
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include <math.h>

const char *const api_frame_limit_names[API_FRAME_LIMIT_KINDS] = {"speed", "angular_speed", "linear_acceleration",
                                                                  "angular_acceleration"};

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const char *const keys[] = {"frame", "speed", "angular_speed", "linear_acceleration", "angular_acceleration",
                                   NULL};

static bool read_frame_limit(const api_query *q, const api_node *value, const api_place *where, double *most)
{
    if (!api_read_number(q, value, where, most)) return false;
    return *most > 0 || api_fail_at(q->problem, where, API_BAD_VALUE, "%s given, a limit greater than 0 expected",
                                    API_NUMBER_TEXT(*most));
}

/* Reads the limits of one frame, whose index in the model's frames is `frame`. */
static bool read_frame_limits(const api_query *q, const api_node *entry, const api_place *up, int frame,
                              api_path_frames *to)
{
    const size_t before = to->n_limits;
    for (size_t kind = 0; kind < API_FRAME_LIMIT_KINDS; kind++) {
        const api_node *value = api_node_get(entry, api_frame_limit_names[kind]);
        const api_place where = api_place_key(up, api_frame_limit_names[kind]);
        api_frame_limit limit = {
            .frame = to->n, .name = q->model->frames[frame].name, .kind = (api_frame_limit_kind)kind};
        if (!value) continue;
        if (!read_frame_limit(q, value, &where, &limit.most)) return false;
        to->limit[to->n_limits++] = limit;
        if (api_frame_limit_is_speed(&limit))
            to->n_speeds++;
        else
            to->n_accelerations++;
    }
    return to->n_limits > before ||
           api_fail_at(q->problem, up, API_MISSING_FIELD,
                       "a limit of %.64s is needed: speed, angular_speed, linear_acceleration or angular_acceleration",
                       q->model->frames[frame].name);
}

static bool read_limited_frame(const api_query *q, const api_node *entry, const api_place *up, api_path_frames *to)
{
    const api_node *value = api_node_get(entry, "frame");
    const api_place where = api_place_key(up, "frame");
    if (!api_check_keys(q, entry, up, keys, "an entry of frame_limits")) return false;
    if (!value) return api_fail_at(q->problem, &where, API_MISSING_FIELD, "the name of a link or frame is needed");
    const int frame = api_read_frame(q, value, &where);
    if (frame < 0) return false;
    const dyn_frame *found = &q->model->frames[frame].frame;
    for (size_t i = 0; i < to->n; i++)
        if (to->frame[i] == found)
            return api_fail_at(q->problem, &where, API_DUPLICATE_NAME, "the frame %.64s is listed twice",
                               q->model->frames[frame].name);
    if (found->body == DYN_WORLD)
        return api_fail_at(q->problem, &where, API_BAD_VALUE, "no joint moves %.64s, which is fixed to the world",
                           q->model->frames[frame].name);
    to->frame[to->n] = found;
    if (!read_frame_limits(q, entry, up, frame, to)) return false;
    to->n++;
    return true;
}

bool api_path_frames_read(api_query *q, const api_node *list, api_path_frames *frames)
{
    const api_place where = api_place_key(NULL, "frame_limits");
    *frames               = (api_path_frames){.n = 0};
    if (!list) return true;
    if (!api_check_list(q, list, &where, "an object with a frame and its limits")) return false;
    const size_t n = api_node_size(list);
    if (n > API_MOST_LIMITED_FRAMES)
        return api_fail_at(q->problem, &where, API_WRONG_SHAPE, "%zu frames given, at most %d expected", n,
                           API_MOST_LIMITED_FRAMES);
    frames->limit = api_take(q->pool, n * API_FRAME_LIMIT_KINDS * sizeof *frames->limit);
    for (size_t i = 0; frames->limit && i < n; i++) {
        const api_place entry = api_place_index(&where, i);
        api_node        item;
        if (!api_node_item(list, i, &item) || !read_limited_frame(q, &item, &entry, frames)) return false;
    }
    return frames->limit != NULL;
}

void api_path_frames_emit(const api_path_frames *frames, api_emit *to)
{
    for (size_t i = 0; i < frames->n_limits; i++) {
        const api_frame_limit *l = &frames->limit[i];
        api_emit_object(to);
        api_emit_string_member(to, "frame", l->name);
        api_emit_string_member(to, "kind", api_frame_limit_names[l->kind]);
        api_emit_number_member(to, "lower", 0);
        api_emit_number_member(to, "upper", l->most);
        api_emit_end(to);
    }
}

/* --- rows and norms ----------------------------------------------------------------------------------------------- */

enum { AXES = 3, FIRST = 0, SECOND = API_FRAME_AXES /* entries of a frame: p' and w, then p'' and w' */ };

void api_path_frames_evaluate(const api_evaluation *e, const api_path_frames *frames, size_t block, double *lanes)
{
    for (size_t i = 0; i < frames->n; i++, lanes += 2 * API_FRAME_AXES * e->lanes)
        e->kernels->kinematics(&e->query->scene, e->workspace,
                               &(dyn_kinematics){.q            = api_state_block(e, API_Q, block),
                                                 .qd           = api_state_block(e, API_QD, block),
                                                 .qdd          = api_state_block(e, API_QDD, block),
                                                 .frame        = frames->frame[i],
                                                 .velocity     = lanes + FIRST * e->lanes,
                                                 .acceleration = lanes + SECOND * e->lanes},
                               1);
}

/* Copies a vector of a limit in a lane, divided by the limit: `derivative` is FIRST or SECOND. */
static void copy_vector(const api_frame_limit *l, const double *lanes, size_t W, size_t lane, size_t derivative,
                        double to[AXES])
{
    const bool   angular = l->kind == API_FRAME_ANGULAR_SPEED || l->kind == API_FRAME_ANGULAR_ACCELERATION;
    const size_t first   = 2 * API_FRAME_AXES * l->frame + derivative + (angular ? AXES : 0);
    for (size_t i = 0; i < AXES; i++)
        to[i] = lanes[(first + i) * W + lane] / l->most;
}

static double product_of_axes(const double a[AXES], const double b[AXES])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static dyn_timing_norm norm_between(const double p[AXES], const double q[AXES])
{
    const double cross[AXES] = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
    return (dyn_timing_norm){.pp    = product_of_axes(p, p),
                             .pq    = product_of_axes(p, q),
                             .qq    = product_of_axes(q, q),
                             .cross = sqrt(product_of_axes(cross, cross))};
}

void api_path_frames_limits(const api_path_frames *frames, const double *lanes, size_t W, size_t lane,
                            dyn_timing_row *rows, dyn_timing_norm *norms)
{
    for (size_t i = 0; i < frames->n_limits; i++) {
        const api_frame_limit *l = &frames->limit[i];
        double                 first[AXES], second[AXES];
        copy_vector(l, lanes, W, lane, FIRST, first);
        if (api_frame_limit_is_speed(l)) {
            *rows++ = (dyn_timing_row){.d = sqrt(product_of_axes(first, first)), .r = 1};
            continue;
        }
        copy_vector(l, lanes, W, lane, SECOND, second);
        *norms++ = norm_between(first, second);
    }
}

void api_path_frames_smooth_limits(const api_path_frames *frames, const double *lanes, size_t W, size_t lane,
                                   const dyn_grading *where, api_smooth_limits to)
{
    for (size_t i = 0; i < frames->n_limits; i++) {
        const api_frame_limit *l = &frames->limit[i];
        double                 first[AXES], second[AXES];
        copy_vector(l, lanes, W, lane, FIRST, first);
        if (api_frame_limit_is_speed(l)) {
            *to.row++ = (dyn_smooth_row){
                .b1 = product_of_axes(first, first) * where->d1 * where->d1, .low = -HUGE_VAL, .high = 1};
            continue;
        }
        copy_vector(l, lanes, W, lane, SECOND, second);
        *to.norm = (dyn_smooth_norm){.high = 1};
        for (size_t k = 0; k < AXES; k++) {
            to.norm->p[k] = first[k] * where->d1;
            to.norm->q[k] = second[k] * where->d1 * where->d1 + first[k] * where->d2;
        }
        to.norm++;
    }
}
