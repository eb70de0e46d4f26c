/* kinematics.c - computes poses of frames; Jacobian, Jacobian rate, velocity, acceleration and jerk of one frame; and
 * position, Jacobian, Jacobian rate, velocity and acceleration of several points, with derivatives. */
#include "api/requests/evaluate/point_motion.h"
#include "api/requests/fields/frame_fields.h"
#include "api/requests/fields/point_fields.h"
#include <string.h>

/* The operation's options. */
typedef struct kinematics_options {
    const int       *index;      /* [n] the frames of the poses, indices in the model's frames */
    const dyn_frame *frames;     /* [n] the same frames for the kernel */
    const dyn_frame *frame;      /* the frame that all other outputs describe; NULL: not given */
    const dyn_frame *points;     /* [API_FIXED_POINTS] frames at the points; NULL: not given */
    bool             frame_axes; /* true: "reference" is "frame" */
} kinematics_options;

enum {
    POSES,
    JACOBIAN,
    JACOBIAN_DOT,
    VELOCITY,
    ACCELERATION,
    JERK,
    POINT_POSITIONS,
    POINT_JACOBIANS,
    POINT_JACOBIANS_DOT,
    POINT_VELOCITIES,
    POINT_ACCELERATIONS,
    D_POINT_JACOBIANS_DQ,
    D_POINT_VELOCITIES_DQ,
    D_POINT_ACCELERATIONS_DQ,
    D_POINT_ACCELERATIONS_DQD
};
#define OF_FRAME  (API_BIT(JACOBIAN) | API_BIT(JACOBIAN_DOT) | API_BIT(VELOCITY) | API_BIT(ACCELERATION) | API_BIT(JERK))
#define OF_POINTS (~(API_BIT(POINT_POSITIONS) - 1))

/* Reads "frames", the names of the frames whose poses are requested, each at most once; without the field all frames.
 */
static bool read_frames(api_query *q, api_selection *selected, kinematics_options *o, const api_node *list,
                        const api_place *at)
{
    const api_model *m = q->model;
    if (list && !api_node_is(list, API_ARRAY) && !api_node_is(list, API_STRING))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of frames' names expected",
                           api_node_kind_text(list));
    size_t     n      = list ? api_count_names(list) : m->n_frames;
    int       *frame  = api_take(q->pool, n * sizeof *frame);
    dyn_frame *frames = api_take(q->pool, n * sizeof *frames);
    bool      *seen   = api_take(q->pool, m->n_frames);
    if (!frame || !frames || !seen) return false;
    memset(seen, 0, m->n_frames);
    for (size_t i = 0; i < n; i++) {
        api_node  name;
        api_place entry = api_place_index(at, i);
        if (list) entry = api_take_name(list, at, i, &name);
        frame[i] = list ? api_read_frame(q, &name, &entry) : (int)i;
        if (frame[i] < 0) return false;
        if (seen[frame[i]])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "the frame %.64s is listed twice",
                               m->frames[frame[i]].name);
        seen[frame[i]] = true;
        frames[i]      = m->frames[frame[i]].frame;
    }
    o->index  = frame;
    o->frames = frames;
    api_set_extent(selected, API_SELECTED_FRAMES, n);
    return true;
}

/* Reads "points". With them, their positions are the default output. */
static bool read_points(api_query *q, api_selection *selected, kinematics_options *o, const api_node *given,
                        const api_place *up)
{
    const api_node *list = api_node_get(given, "points");
    api_place       at   = api_place_key(up, "points");
    size_t          n    = 0;
    if (!list)
        return !(selected->outputs & OF_POINTS) ||
               api_fail_at(q->problem, &at, API_MISSING_FIELD, "the outputs of points need \"points\"");
    o->points = api_read_fixed_points(q, list, &at, &n);
    if (!o->points) return false;
    api_set_extent(selected, API_FIXED_POINTS, n);
    if (!api_node_get(given, "outputs")) selected->outputs |= API_BIT(POINT_POSITIONS);
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_node     *frame     = api_node_get(given, "frame");
    api_place           frames_at = api_place_key(up, "frames"), frame_at = api_place_key(up, "frame");
    api_place           reference_at = api_place_key(up, "reference");
    kinematics_options *o            = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o                = (kinematics_options){.frame = NULL};
    selected->options = o;
    if (!read_frames(q, selected, o, api_node_get(given, "frames"), &frames_at)) return false;
    if (!(selected->outputs & API_BIT(POSES))) api_set_extent(selected, API_SELECTED_FRAMES, 0);
    if (frame) {
        int i = api_read_frame(q, frame, &frame_at);
        if (i < 0) return false;
        o->frame = &q->model->frames[i].frame;
    } else if (selected->outputs & OF_FRAME) {
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD,
                           "all outputs but poses need \"frame\", the frame that they describe");
    }
    return read_points(q, selected, o, given, up) &&
           api_read_reference(q, api_node_get(given, "reference"), &reference_at, &o->frame_axes);
}

static const char *frame_name(const api_model *model, const api_selection *selected, size_t i)
{
    const kinematics_options *o = selected->options;
    return model->frames[o->index[i]].name;
}

static bool evaluate_points(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const kinematics_options *o      = selected->options;
    api_fixed_points          points = {api_selected_extent(selected, API_FIXED_POINTS), o->points, o->frame_axes};
    api_point_motion          to     = {.positions          = api_result_block(e, selected, POINT_POSITIONS, block),
                                        .jacobians          = api_result_block(e, selected, POINT_JACOBIANS, block),
                                        .jacobians_dot      = api_result_block(e, selected, POINT_JACOBIANS_DOT, block),
                                        .velocities         = api_result_block(e, selected, POINT_VELOCITIES, block),
                                        .accelerations      = api_result_block(e, selected, POINT_ACCELERATIONS, block),
                                        .velocities_by_q    = api_result_block(e, selected, D_POINT_VELOCITIES_DQ, block),
                                        .accelerations_by_q = api_result_block(e, selected, D_POINT_ACCELERATIONS_DQ, block),
                                        .accelerations_by_qd = api_result_block(e, selected, D_POINT_ACCELERATIONS_DQD, block),
                                        .jacobians_by_q      = api_result_block(e, selected, D_POINT_JACOBIANS_DQ, block)};
    return api_point_motion_evaluate(e, block, &points, &to);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    /* The lanes of `poses` contain all positions, then all orientations (api/requests/answer/answer.c). */
    const kinematics_options *o            = selected->options;
    size_t                    n            = api_selected_extent(selected, API_SELECTED_FRAMES);
    double                   *positions    = selected->result[POSES];
    double                   *orientations = positions ? api_behind(e, positions, 3 * n, e->plan->window) : NULL;
    dyn_kinematics            io           = {
                             .q             = api_state_block(e, API_Q, block),
                             .qd            = api_state_block(e, API_QD, block),
                             .qdd           = api_state_block(e, API_QDD, block),
                             .qddd          = api_state_block(e, API_QDDD, block),
                             .n_frames      = n,
                             .frames        = o->frames,
                             .positions     = api_block(e, positions, 3 * n, block),
                             .orientations  = api_block(e, orientations, 4 * n, block),
                             .frame         = o->frame,
                             .frame_axes    = o->frame_axes,
                             .zeros_are_set = e->zeros_written,
                             .jacobian      = api_result_block(e, selected, JACOBIAN, block),
                             .jacobian_dot  = api_result_block(e, selected, JACOBIAN_DOT, block),
                             .velocity      = api_result_block(e, selected, VELOCITY, block),
                             .acceleration  = api_result_block(e, selected, ACCELERATION, block),
                             .jerk          = api_result_block(e, selected, JERK, block),
    };
    if (selected->outputs & ~OF_POINTS) e->kernels->kinematics(&e->query->scene, e->workspace, &io, blocks);
    for (size_t i = 0; (selected->outputs & OF_POINTS) && i < blocks; i++)
        if (!evaluate_points(e, selected, block + i)) return false;
    return true;
}

const api_operation api_kinematics = {
    .name       = "kinematics",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS) | API_BIT(API_FRAMES) | API_BIT(API_FRAME) |
             API_BIT(API_REFERENCE) | API_BIT(API_POINTS_FIELD),
    .outputs    = {[POSES]                     = {"poses", true, {API_SELECTED_FRAMES, 7}},
                   [JACOBIAN]                  = {"jacobian", false, {6, API_NV}},
                   [JACOBIAN_DOT]              = {"jacobian_dot", false, {6, API_NV}},
                   [VELOCITY]                  = {"velocity", false, {6}},
                   [ACCELERATION]              = {"acceleration", false, {6}},
                   [JERK]                      = {"jerk", false, {6}},
                   [POINT_POSITIONS]           = {"point_positions", false, {API_FIXED_POINTS, 3}},
                   [POINT_JACOBIANS]           = {"point_jacobians", false, {API_FIXED_POINTS, 6, API_NV}},
                   [POINT_JACOBIANS_DOT]       = {"point_jacobians_dot", false, {API_FIXED_POINTS, 6, API_NV}},
                   [POINT_VELOCITIES]          = {"point_velocities", false, {API_FIXED_POINTS, 6}},
                   [POINT_ACCELERATIONS]       = {"point_accelerations", false, {API_FIXED_POINTS, 6}},
                   [D_POINT_JACOBIANS_DQ]      = {"d_point_jacobians_dq", false, {API_FIXED_POINTS, 6, API_NV, API_NV}},
                   [D_POINT_VELOCITIES_DQ]     = {"d_point_velocities_dq", false, {API_FIXED_POINTS, 6, API_NV}},
                   [D_POINT_ACCELERATIONS_DQ]  = {"d_point_accelerations_dq", false, {API_FIXED_POINTS, 6, API_NV}},
                   [D_POINT_ACCELERATIONS_DQD] = {"d_point_accelerations_dqd", false, {API_FIXED_POINTS, 6, API_NV}}},
    .weight     = 1,
    .options    = options,
    .frame_name = frame_name,
    .evaluate   = evaluate,
};
