/* ode_contact.c - see ode_contact.h. */
#include "ode_contact.h"
#include "api/model/coordinates.h"
#include "ode_prescribed.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 2 /* of Newton's method: steps are short, and rounding is reached */ };

#define UNSETTLED 1e-4  /* of a drift: within a step velocities are not what they are after it */
#define RESTING   1e-9  /* m/s and rad/s for every 1 of the velocities that bring them about, */
#define STILL     1e-12 /* and in any case: what rounding leaves of a motion that begins at rest */

struct api_ode_contact {
    api_contact       places;   /* what positions are held, in axes of the world; k may be 0 */
    api_contact_block velocity; /* of all that is held */
    api_contact_block position; /* of `places` */
    dyn_frame        *frames;   /* [n] */
    double           *began;    /* lanes: 3 of each frame's origin, then 4 of each one's turn */
    double           *now;      /* the same */
    double           *wrenches; /* lanes: 6 of each frame */
    double           *q, *qd;   /* lanes, to work with */
    double           *step;     /* lanes: nv */
};

/* --- opening ---------------------------------------------------------------------------------------------------- */

static void add_axes(api_held_frame *place, int first)
{
    for (int i = first; i < first + 3; i++)
        place->axis[place->n++] = i;
}

/* The positions that go with what is held of one frame. */
static api_held_frame place_of(const api_held_frame *held)
{
    api_held_frame place = {.frame = held->frame};
    int            lines = 0, turns = 0;
    for (size_t i = 0; i < held->n; i++)
        *(held->axis[i] < 3 ? &lines : &turns) += 1;
    if (lines == 3) add_axes(&place, 0);
    for (size_t i = 0; i < held->n; i++)
        if (lines < 3 && held->axis[i] < 3 && !held->frame_axes) place.axis[place.n++] = held->axis[i];
    if (turns == 3) add_axes(&place, 3);
    return place;
}

static bool take_places(api_evaluation *e, api_ode_contact *c, const api_contact *contact)
{
    c->places = (api_contact){.n = contact->n, .held = api_take(e->pool, contact->n * sizeof *c->places.held)};
    c->frames = api_take(e->pool, contact->n * sizeof *c->frames);
    for (size_t i = 0; c->places.held && c->frames && i < contact->n; i++) {
        c->places.held[i] = place_of(&contact->held[i]);
        c->places.k += c->places.held[i].n;
        c->frames[i] = contact->held[i].frame;
    }
    return c->places.held && c->frames;
}

api_ode_contact *api_ode_contact_open(api_evaluation *e, const api_ode *p, const api_contact *contact)
{
    size_t           nq = e->model->nq, nv = e->model->nv;
    bool             room = true;
    api_ode_contact *c    = api_take(e->pool, sizeof *c);
    if (!c || !take_places(e, c, contact)) return NULL;
    double *velocity = api_take_zeroed(e->pool, api_contact_entries(nv, contact) * p->W, &room);
    double *position = api_take_zeroed(e->pool, api_contact_entries(nv, &c->places) * p->W, &room);
    c->began         = api_take_zeroed(e->pool, 7 * contact->n * p->W, &room);
    c->now           = api_take_zeroed(e->pool, 7 * contact->n * p->W, &room);
    c->wrenches      = api_take_zeroed(e->pool, API_FRAME_AXES * contact->n * p->W, &room);
    c->q             = api_take_zeroed(e->pool, nq * p->W, &room);
    c->qd            = api_take_zeroed(e->pool, nv * p->W, &room);
    c->step          = api_take_zeroed(e->pool, nv * p->W, &room);
    if (!room) return NULL;
    c->velocity        = api_contact_lay_out(contact, nv, p->W, velocity);
    c->position        = api_contact_lay_out(&c->places, nv, p->W, position);
    c->velocity.driven = c->position.driven = p->s->prescribed.mask;
    return c;
}

const double *api_ode_contact_wrenches(const api_ode_contact *c)
{
    return c->wrenches;
}

/* --- lanes ------------------------------------------------------------------------------------------------------ */

/* Lanes that differ: columns of a Jacobian are states of their own. */
static size_t live(const api_ode *p)
{
    return p->s->stiff ? p->W : p->rows;
}

static void fill(const api_ode *p, const api_contact_block *b, const double *q, const double *qd)
{
    api_contact_states states = {
        .kernels = p->kernels, .scene = &p->e->scene, .workspace = p->workspace, .q = q, .qd = qd};
    api_contact_evaluate(b, &states);
}

static void find_places(const api_ode *p, const double *q, double *to)
{
    const api_ode_contact *c  = p->contact;
    size_t                 n  = c->places.n;
    dyn_kinematics         io = {
                .q = q, .n_frames = n, .frames = c->frames, .positions = to, .orientations = to + 3 * n * p->W};
    p->kernels->kinematics(&p->e->scene, p->workspace, &io, 1);
}

/* --- the rate --------------------------------------------------------------------------------------------------- */

static void tell(api_ode *p, size_t lane, double t, api_code code, const char *text)
{
    api_fault *f = &p->fault[lane];
    if (f->kind != API_FAULT_NONE) return;
    *f = (api_fault){.kind = API_FAULT_PROBLEM, .time = t};
    api_problem_clear(&f->told);
    api_fail(&f->told, code, NULL, "%s", text);
}

void api_ode_contact_rate(api_ode *p, double t, const double *qd, double *qdd)
{
    api_ode_contact   *c = p->contact;
    api_contact_block *b = &c->velocity;
    fill(p, b, p->q, qd);
    for (size_t l = 0; l < live(p); l++) {
        double along[API_MAX_HELD * API_FRAME_AXES];
        if (!api_contact_solve(b, l)) continue; /* its figures show it */
        if (!api_contact_is_consistent(b, qd, api_ode_prescribed_accelerations(p), l, UNSETTLED))
            tell(p, l, t, API_CONTRADICTORY_CONTACTS, API_CONTRADICTORY_TEXT);
        for (size_t a = 0; a < b->task.k; a++)
            along[a] = b->drift[a * p->W + l];
        api_contact_add_jacobian_product(b, qdd, l, along);
        api_contact_put_wrenches(b, along, l, c->wrenches);
        api_contact_apply_correction(b, along, l, qdd);
    }
    api_contact_pad(b, live(p), b->nv, qdd);
    api_contact_pad(b, live(p), API_FRAME_AXES * c->places.n, c->wrenches);
}

void api_ode_contact_subtract_efforts(const api_ode *p, double *tau)
{
    const api_ode_contact *c = p->contact;
    for (size_t l = 0; l < live(p); l++)
        api_contact_subtract_efforts(&c->velocity, c->wrenches, l, tau);
    api_contact_pad(&c->velocity, live(p), c->velocity.nv, tau);
}

/* --- between steps ---------------------------------------------------------------------------------------------- */

/* The turn from one unit quaternion to another, in axes of the world: 2 atan2(|v|, s) v/|v| of r b^-1. */
static void turn_between(const double *r, const double *b, size_t W, double turn[3])
{
    const double x = r[0], y = r[W], z = r[2 * W], w = r[3 * W], a = b[0], e = b[W], f = b[2 * W], g = b[3 * W];
    double       v[3] = {x * g - w * a - y * f + z * e, y * g - w * e - z * a + x * f, z * g - w * f - x * e + y * a};
    double       s = w * g + x * a + y * e + z * f, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double       scale = length > 0 ? 2 * atan2(s < 0 ? -length : length, fabs(s)) / length : 2;
    for (int i = 0; i < 3; i++)
        turn[i] = scale * v[i];
}

/* How far the frames of a lane are from where they began, along the rows of `position`. */
static void find_gaps(const api_ode *p, size_t l, double *gaps)
{
    const api_ode_contact *c = p->contact;
    size_t                 W = p->W, n = c->places.n, row = 0;
    for (size_t i = 0; i < n; i++) {
        double gap[API_FRAME_AXES];
        for (size_t k = 0; k < 3; k++)
            gap[k] = c->now[(3 * i + k) * W + l] - c->began[(3 * i + k) * W + l];
        size_t turn = (3 * n + 4 * i) * W + l;
        turn_between(c->now + turn, c->began + turn, W, gap + 3);
        for (size_t k = 0; k < c->places.held[i].n; k++)
            gaps[row++] = gap[c->places.held[i].axis[k]];
    }
}

static void move(const api_ode *p, size_t l)
{
    const api_model *m = p->e->model;
    api_ode_contact *c = p->contact;
    for (size_t i = 0; i < m->dyn->n_bodies; i++) {
        const dyn_body *body = &m->dyn->body[i];
        if (body->mimic || api_first_position(m, body) < 0) continue; /* passive ones follow */
        size_t q = (size_t)api_first_position(m, body), v = (size_t)api_first_velocity(m, body);
        api_coordinates_move(body, c->q + q * p->W + l, p->W, c->step + v * p->W + l, 1);
    }
}

static void put_back_positions(api_ode *p, double t, size_t lanes)
{
    api_ode_contact   *c = p->contact;
    api_contact_block *b = &c->position;
    for (int round = 0; round < ROUNDS && b->task.k > 0; round++) {
        api_ode_close_loops(p, t, c->q);
        find_places(p, c->q, c->now);
        fill(p, b, c->q, NULL);
        memset(c->step, 0, b->nv * p->W * sizeof *c->step);
        for (size_t l = 0; l < lanes; l++) {
            double gaps[API_MAX_HELD * API_FRAME_AXES];
            if (!api_contact_solve(b, l)) continue;
            find_gaps(p, l, gaps);
            api_contact_apply_correction(b, gaps, l, c->step);
            move(p, l);
        }
        api_contact_pad(b, lanes, p->e->model->nq, c->q);
    }
}

static void put_back_velocities(api_ode *p, double t, size_t lanes)
{
    api_ode_contact   *c = p->contact;
    api_contact_block *b = &c->velocity;
    api_ode_close_loops(p, t, c->q);
    fill(p, b, c->q, NULL);
    for (size_t l = 0; l < lanes; l++) {
        double along[API_MAX_HELD * API_FRAME_AXES] = {0};
        if (!api_contact_solve(b, l)) continue;
        api_contact_add_jacobian_product(b, c->qd, l, along);
        api_contact_apply_correction(b, along, l, c->qd);
    }
}

void api_ode_contact_finish_step(api_ode *p, double t, double *y, size_t stride, size_t lanes)
{
    api_ode_contact *c  = p->contact;
    size_t           nq = p->e->model->nq, nv = p->e->model->nv, W = p->W;
    for (size_t l = 0; l < W; l++) {
        size_t from = l < lanes ? l : lanes - 1;
        for (size_t i = 0; i < nq; i++)
            c->q[i * W + l] = y[i * stride + from];
        for (size_t i = 0; i < nv; i++)
            c->qd[i * W + l] = y[(nq + i) * stride + from];
    }
    size_t different = lanes < p->rows ? lanes : p->rows;
    put_back_positions(p, t, different);
    put_back_velocities(p, t, different);
    api_contact_pad(&c->velocity, different, nq, c->q);
    api_contact_pad(&c->velocity, different, nv, c->qd);
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < nq; i++)
            y[i * stride + l] = c->q[i * W + l];
        for (size_t i = 0; i < nv; i++)
            y[(nq + i) * stride + l] = c->qd[i * W + l];
    }
}

/* Of one simulation: whether what is held rests, but for rounding. */
static bool rests(const api_ode *p, size_t l)
{
    const api_contact_block *b                                    = &p->contact->velocity;
    const double            *qd                                   = p->y + p->e->model->nq * p->W;
    double                   along[API_MAX_HELD * API_FRAME_AXES] = {0};
    api_contact_add_jacobian_product(b, qd, l, along);
    for (size_t a = 0; a < b->task.k; a++) {
        double size = 0;
        for (size_t v = 0; v < b->nv; v++)
            size += fabs(b->J[(a * b->nv + v) * p->W + l] * qd[v * p->W + l]);
        if (!(fabs(along[a]) <= RESTING * size + STILL)) return false;
    }
    return true;
}

void api_ode_contact_start(api_ode *p)
{
    api_ode_close_loops(p, 0, p->y);
    fill(p, &p->contact->velocity, p->y, NULL);
    for (size_t l = 0; l < p->rows; l++)
        if (!rests(p, l))
            tell(p, l, 0, API_CONTRADICTORY_CONTACTS,
                 "a frame that is held moves along an axis along which it is: what it does when it hits, impact says");
    find_places(p, p->y, p->contact->began);
}
