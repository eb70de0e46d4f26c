/* ode_limits.c - compares simulated states with joint limits (ode_limits.h). */
#include "ode_limits.h"
#include "api/requests/control/joint_limits.h"
#include "api/requests/evaluate/mimic_efforts.h"
#include "dynamics/rigid_contact/ode_rigid.h"
#include "dynamics/simulation/ode_held_frames.h"
#include <math.h>
#include <string.h>

/* The means to find the efforts of mimic joints. */
struct api_ode_limits {
    api_mimics      followers;
    api_mimic_block block;
    dyn_scene       scene; /* scene of the request, with the wrenches of held frames and rigid contacts after its own */
    double         *wrenches; /* 9 for each wrench of `scene`, in lanes */
    double         *efforts;  /* nv + mimic joints, in lanes */
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Appends the wrenches on held frames and at rigid contacts to the scene. Returns false with a problem. */
static bool add_contacts(const api_evaluation *e, const api_simulated_rows *r, api_ode_limits *limits)
{
    const dyn_held_set *contact = r->ode.s->contact;
    dyn_scene          *scene   = &limits->scene;
    const size_t        n = scene->n_wrenches, held = contact ? contact->n : 0, rigid = r->ode.s->n_rigid;
    bool                room  = true;
    dyn_wrench_site    *sites = api_take(e->query->pool, (n + held + rigid + 1) * sizeof *sites);
    limits->wrenches          = api_take_zeroed(e->query->pool, 9 * (n + held + rigid) * r->ode.W, &room);
    if (!sites || !room) return false;
    if (n > 0) memcpy(sites, scene->wrench, n * sizeof *sites);
    for (size_t i = 0; i < held; i++) {
        const dyn_held_frame *frame = &contact->frame[i];
        sites[n + i] =
            (dyn_wrench_site){.body = frame->frame.body, .X_bl = frame->frame.X_bf, .world_axes = !frame->frame_axes};
    }
    for (size_t i = 0; i < rigid; i++) {
        const dyn_frame *frame = &r->ode.s->rigid[i].frame;
        sites[n + held + i]    = (dyn_wrench_site){.body = frame->body, .X_bl = frame->X_bf, .world_axes = true};
    }
    scene->wrench     = sites;
    scene->n_wrenches = n + held + rigid;
    return true;
}

static bool open_followers(api_evaluation *e, api_simulated_rows *r)
{
    bool            room   = true;
    api_ode_limits *limits = api_take(e->query->pool, sizeof *limits);
    if (!limits) return false;
    *limits = (api_ode_limits){.scene = *r->ode.s->scene};
    if (!api_mimics_open(e->query, &r->s->limits.list, &limits->followers) || !add_contacts(e, r, limits)) return false;
    const size_t efforts = e->model->nv + limits->followers.n;
    limits->efforts      = api_take_zeroed(e->query->pool, efforts * r->ode.W, &room);
    limits->block        = (api_mimic_block){
               .followers = &limits->followers,
               .tree      = r->ode.loops ? dyn_loop_tree_kernels(r->ode.loops) : r->ode.kernels,
               .loops     = r->ode.loops,
               .scene     = &limits->scene,
               .room      = api_take_zeroed(e->query->pool, api_mimics_room(&limits->followers, false) * r->ode.W, &room)};
    r->limits = limits;
    return room;
}

bool api_ode_limits_open(api_evaluation *e, api_simulated_rows *r)
{
    size_t n = r->s->limits.list.n;
    if (!r->s->limits.violation || n == 0) return true;
    r->violation = api_take(e->query->pool, n * r->ode.W * sizeof *r->violation);
    return r->violation && (r->s->limits.list.n_followers == 0 || open_followers(e, r));
}

/* --- comparison --------------------------------------------------------------------------------------------------- */

/* Copies the wrenches on held frames and at rigid contacts after the first n wrenches of limits->wrenches. */
static void copy_contacts(const api_simulated_rows *r, size_t n, api_ode_limits *limits)
{
    const size_t W = r->ode.W, frames = r->ode.s->contact ? r->ode.s->contact->n : 0;
    for (size_t i = 0; i < frames; i++)
        memcpy(limits->wrenches + 9 * (n + i) * W, dyn_ode_held_wrenches(r->ode.contact) + 6 * i * W,
               6 * W * sizeof *limits->wrenches);
    for (size_t i = 0; i < r->ode.s->n_rigid; i++)
        memcpy(limits->wrenches + 9 * (n + frames + i) * W, r->ode.rigid->forces + 3 * i * W,
               3 * W * sizeof *limits->wrenches);
}

/* Returns the efforts before clipping, with those of mimic joints after them, at the accelerations of the last
 * dyn_robot_ode_rate. */
static const double *find_efforts(api_simulated_rows *r, const double *qd)
{
    const size_t    W = r->ode.W, nv = r->e->model->nv, n = r->ode.s->scene->n_wrenches;
    api_ode_limits *limits = r->limits;
    if (!limits) return r->ode.unclipped;
    limits->scene.model = r->ode.s->scene->model; /* models and gravity may differ from row to row */
    memcpy(limits->scene.gravity, r->ode.s->scene->gravity, sizeof limits->scene.gravity);
    dyn_torque_derivative motion = {
        .q = r->ode.q, .qd = qd, .qdd = r->ode.state.stage_rate[0] + r->e->model->nq * W, .wrenches = limits->wrenches};
    if (n > 0) memcpy(limits->wrenches, r->ode.wrenches, 9 * n * W * sizeof *limits->wrenches);
    copy_contacts(r, n, limits);
    memcpy(limits->efforts, r->ode.unclipped, nv * W * sizeof *limits->efforts);
    api_mimic_efforts(&limits->block, &motion, limits->efforts + nv * W, NULL);
    return limits->efforts;
}

/* Compares a value with the bounds of a limit, and keeps the largest violation. `narrowing`: by how much the speed
 * narrows the bounds (dyn_limit_narrowing). */
static void compare_with_bounds(const dyn_limit *limit, double value, double narrowing, double t,
                                api_limit_violation *found)
{
    double over = value - limit->upper, under = limit->lower - value,
           excess = (over > under ? over : under) + narrowing;
    if (excess > found->excess)
        *found =
            (api_limit_violation){.excess = excess, .time = t, .limit = over > under ? limit->upper : limit->lower};
}

static void compare_lane(api_simulated_rows *r, size_t k, size_t l, const double *const of[DYN_LIMIT_KINDS], double t)
{
    const dyn_limit *limit     = &r->s->limits.list.limit[k];
    const double     value     = dyn_limit_quantity(limit, of[limit->kind], r->ode.W, l);
    const double     narrowing = dyn_limit_narrowing(limit, of[DYN_LIMIT_VELOCITY], r->ode.W, l);
    if (isfinite(value) && isfinite(narrowing))
        compare_with_bounds(limit, value, narrowing, t, &r->violation[k * r->ode.W + l]);
    else /* a torque that overflows has no excess that the answer could contain */
        dyn_fault_record(&r->ode.state.fault[l], DYN_FAULT_LIMIT, t, k);
}

void api_ode_limits_compare(api_simulated_rows *r, double t, const double *qd)
{
    const api_limit_list *list = &r->s->limits.list;
    if (!r->violation) return;
    const double *of[DYN_LIMIT_KINDS] = {[DYN_LIMIT_EFFORT]   = find_efforts(r, qd),
                                         [DYN_LIMIT_POSITION] = r->ode.loops ? dyn_loop_tree_q(r->ode.loops) : r->ode.q,
                                         [DYN_LIMIT_VELOCITY] =
                                             r->ode.loops ? dyn_loop_tree_velocities(r->ode.loops, qd) : qd};
    of[DYN_LIMIT_EFFORT_SPEED]        = of[DYN_LIMIT_EFFORT];
    for (size_t k = 0; k < list->n; k++)
        for (size_t l = 0; l < r->ode.state.rows; l++)
            compare_lane(r, k, l, of, t);
}

void api_ode_limits_store(const api_simulated_rows *r)
{
    const api_joint_limits *limits = &r->s->limits;
    for (size_t l = 0; r->violation && l < r->ode.state.rows; l++)
        for (size_t k = 0; k < limits->list.n; k++)
            limits->violation[r->ode.row[l] * limits->list.n + k] = r->violation[k * r->ode.W + l];
}
