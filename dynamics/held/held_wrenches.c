/* held_wrenches.c - chooses the wrenches on held frames under a given motion (held_wrenches.h). */
#include "held_wrenches.h"
#include "dynamics/contact/rolling.h"
#include "dynamics/held_directions.h"
#include <math.h>
#include <string.h>

/* --- a block of states ------------------------------------------------------------------------------------------ */

size_t dyn_held_entries(size_t nv, const dyn_held_choice *choice)
{
    const size_t k = choice->contact->k, n = choice->n_passive;
    return 3 * k + n * k + n * n + 3 * n + 6 * nv + 12 + 3 * choice->contact->n + 7;
}

dyn_held_block dyn_held_lay_out(const dyn_held_choice *choice, size_t nv, size_t W, double *lanes)
{
    const size_t   k = choice->contact->k, n = choice->n_passive;
    dyn_held_block b = {.choice = choice, .nv = nv, .W = W, .moves = lanes};
    b.moves_scale    = b.moves + k * W;
    b.x              = b.moves_scale + k * W;
    b.E              = b.x + k * W;
    b.R              = b.E + n * k * W;
    b.e              = b.R + n * n * W;
    b.remains        = b.e + n * W;
    b.remains_scale  = b.remains + n * W;
    b.frame_J        = b.remains_scale + n * W;
    b.velocity       = b.frame_J + 6 * nv * W;
    b.acceleration   = b.velocity + 6 * W;
    b.levers         = b.acceleration + 6 * W;
    b.frame_turn     = b.levers + 3 * choice->contact->n * W;
    b.frame_rate     = b.frame_turn + 4 * W;
    return b;
}

/* --- motion of the held frames ----------------------------------------------------------------------------------- */

/* Sets the accelerations of row `row` of a frame. In the frame's axes the time derivatives of the components of its
 * velocity (v, w) are a - w x v. */
static void set_acceleration(const dyn_held_block *b, const dyn_held_frame *frame, size_t axis, size_t row)
{
    const size_t  W = b->W, y = (axis + 1) % 3, z = (axis + 2) % 3;
    const double *v = b->velocity, *w = v + 3 * W;
    memcpy(b->moves + row * W, b->acceleration + axis * W, W * sizeof *b->moves);
    for (size_t lane = 0; frame->frame_axes && axis < 3 && lane < W; lane++)
        b->moves[row * W + lane] -= w[y * W + lane] * v[z * W + lane] - w[z * W + lane] * v[y * W + lane];
}

/* If frame i rolls, moves its Jacobian and acceleration from the frame's origin to its contact point. */
static void move_motion_to_contact(const dyn_held_block *b, const dyn_rolling *rolling, size_t i)
{
    const size_t  W = b->W;
    const double *w = b->velocity + 3 * W;
    double       *s = b->levers + 3 * i * W;
    for (size_t lane = 0; lane < W; lane++)
        dyn_rolling_find_lever(rolling, W, b->frame_turn + lane, w + lane, s + lane, b->frame_rate + lane);
    dyn_rolling_add_rate(W, w, b->frame_rate, b->acceleration);
    dyn_rolling_move(rolling, W, s, 1, b->acceleration);
    dyn_rolling_move(rolling, W, s, b->nv, b->frame_J);
}

/* Adds the sum over v of |J_av qdd_v| to the scale of row a. J: the row. */
static void add_sizes(const dyn_held_block *b, const double *J, const double *qdd, double *scale)
{
    for (size_t v = 0; qdd && v < b->nv; v++)
        for (size_t lane = 0; lane < b->W; lane++)
            scale[lane] += fabs(J[v * b->W + lane] * qdd[v * b->W + lane]);
}

/* Sets the rows of held frame `place` from row `first` on: accelerations, their scales s_a, and A diag(w)^-1/2 in E. */
static void set_frame(const dyn_held_block *b, size_t place, const dyn_contact_states *states, const double *qdd,
                      size_t first)
{
    const dyn_held_choice  *c     = b->choice;
    const dyn_held_frame   *frame = &c->contact->frame[place];
    const size_t            W = b->W, k = c->contact->k;
    const dyn_contact_block sized = {
        .nv = b->nv, .W = W, .frame_J = b->frame_J, .sizes = b->moves_scale, .unsettled = 1};
    dyn_kinematics io = {.q            = states->q,
                         .qd           = states->qd,
                         .qdd          = qdd,
                         .n_frames     = frame->rolling ? 1 : 0,
                         .frames       = &frame->frame,
                         .orientations = frame->rolling ? b->frame_turn : NULL,
                         .frame        = &frame->frame,
                         .frame_axes   = frame->frame_axes,
                         .jacobian     = b->frame_J,
                         .velocity     = b->velocity,
                         .acceleration = b->acceleration};
    states->kernels->kinematics(states->scene, states->workspace, &io, 1);
    if (frame->rolling) move_motion_to_contact(b, frame->rolling, place);
    for (size_t lane = 0; lane < W; lane++)
        dyn_contact_set_sizes(&sized, frame, states, first, lane);
    for (size_t i = 0; i < frame->n; i++) {
        const size_t  row = first + i, axis = (size_t)frame->axis[i];
        const double *J = b->frame_J + axis * b->nv * W;
        set_acceleration(b, frame, axis, row);
        add_sizes(b, J, qdd, b->moves_scale + row * W);
        if (b->J) memcpy(b->J + row * b->nv * W, J, b->nv * W * sizeof *J);
        for (size_t u = 0; u < c->n_passive; u++)
            for (size_t lane = 0; lane < W; lane++)
                b->E[(u * k + row) * W + lane] = J[c->passive[u] * W + lane] * c->root[row];
    }
}

/* --- least norm --------------------------------------------------------------------------------------------------- */

/* Sets `to` (lanes) to the sum of a_i c_i over n entries. */
static void multiply_lanes(const double *a, const double *c, size_t n, size_t W, double *to)
{
    memset(to, 0, W * sizeof *to);
    for (size_t i = 0; i < n; i++)
        for (size_t lane = 0; lane < W; lane++)
            to[lane] += a[i * W + lane] * c[i * W + lane];
}

/* Subtracts from row u of E its parts along the rows before it, twice for the rounding errors, and divides it by its
 * length. The row becomes zero, with R_uu = 0, if it depends on them. */
static void orthonormalise(const dyn_held_block *b, size_t u)
{
    const size_t W = b->W, k = b->choice->contact->k, n = b->choice->n_passive;
    double      *row = b->E + u * k * W, *R = b->R + u * n * W, part[DYN_MAX_LANES], size[DYN_MAX_LANES];
    memset(R, 0, n * W * sizeof *R);
    multiply_lanes(row, row, k, W, size);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < u; i++) {
            const double *before = b->E + i * k * W;
            multiply_lanes(before, row, k, W, part);
            for (size_t lane = 0; lane < W; lane++)
                R[i * W + lane] += part[lane];
            for (size_t a = 0; a < k; a++)
                for (size_t lane = 0; lane < W; lane++)
                    row[a * W + lane] -= part[lane] * before[a * W + lane];
        }
    multiply_lanes(row, row, k, W, part);
    for (size_t lane = 0; lane < W; lane++) {
        const bool counts = part[lane] > DYN_DEPENDENT * size[lane];
        R[u * W + lane]   = counts ? sqrt(part[lane]) : 0;
        part[lane]        = counts ? 1 / R[u * W + lane] : 0;
    }
    for (size_t a = 0; a < k; a++)
        for (size_t lane = 0; lane < W; lane++)
            row[a * W + lane] *= part[lane];
}

/* Sets e_u, the part of effort u that the rows before do not determine, and its scale s_u. The rows before are done. */
static void set_right(const dyn_held_block *b, size_t u, const double *tau)
{
    const size_t  W = b->W, n = b->choice->n_passive;
    const double *R = b->R + u * n * W;
    for (size_t lane = 0; lane < W; lane++) {
        double sum = tau[b->choice->passive[u] * W + lane], scale = b->choice->scale[u];
        for (size_t i = 0; i < u; i++) {
            const double pivot = b->R[(i * n + i) * W + lane];
            sum -= R[i * W + lane] * b->e[i * W + lane];
            if (pivot > 0) scale += fabs(R[i * W + lane] / pivot) * b->remains_scale[i * W + lane];
        }
        const bool counts              = R[u * W + lane] > 0;
        b->e[u * W + lane]             = counts ? sum / R[u * W + lane] : 0;
        b->remains[u * W + lane]       = counts ? 0 : sum;
        b->remains_scale[u * W + lane] = scale;
    }
}

void dyn_held_solve(const dyn_held_block *b, const dyn_contact_states *states, const double *qdd, const double *tau)
{
    const dyn_held_set *contact = b->choice->contact;
    const size_t        W = b->W, k = contact->k;
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n)
        set_frame(b, i, states, qdd, first);
    memset(b->x, 0, k * W * sizeof *b->x);
    for (size_t u = 0; u < b->choice->n_passive && dyn_may_continue(contact->deadline); u++) {
        orthonormalise(b, u);
        set_right(b, u, tau);
        for (size_t a = 0; a < k; a++)
            for (size_t lane = 0; lane < W; lane++)
                b->x[a * W + lane] += b->E[(u * k + a) * W + lane] * b->e[u * W + lane];
    }
}

/* --- one state -------------------------------------------------------------------------------------------------- */

bool dyn_held_is_finite(const dyn_held_block *b, size_t lane)
{
    double sum = 0;
    for (size_t a = 0; a < b->choice->contact->k; a++)
        sum += fabs(b->moves[a * b->W + lane]) + b->moves_scale[a * b->W + lane] + fabs(b->x[a * b->W + lane]);
    for (size_t u = 0; u < b->choice->n_passive; u++)
        sum += fabs(b->remains[u * b->W + lane]) + b->remains_scale[u * b->W + lane];
    return isfinite(sum);
}

/* Returns 0, or 1 + the first of n values that is not negligible beside its scale. */
static size_t find_first(const dyn_held_block *b, const double *values, const double *scale, size_t n, size_t lane)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i * b->W + lane]) <= DYN_HELD_MOTION * scale[i * b->W + lane])) return 1 + i;
    return 0;
}

size_t dyn_held_find_moving(const dyn_held_block *b, size_t lane)
{
    return find_first(b, b->moves, b->moves_scale, b->choice->contact->k, lane);
}

size_t dyn_held_find_unbalanced(const dyn_held_block *b, size_t lane)
{
    return find_first(b, b->remains, b->remains_scale, b->choice->n_passive, lane);
}

/* Returns entry i of the combination z of the rows of A that is zero, with z_u = 1, by back substitution in R.
 * `scratch` holds the entries after i. */
static double dependence_factor(const dyn_held_block *b, size_t lane, size_t u, size_t i, const double *scratch)
{
    const size_t  W = b->W, n = b->choice->n_passive;
    const double *R = b->R + lane, pivot = R[(i * n + i) * W];
    double        sum = R[(u * n + i) * W];
    for (size_t j = i + 1; j < u; j++)
        sum += scratch[j * W] * R[(j * n + i) * W];
    return pivot > 0 ? -sum / pivot : 0;
}

size_t dyn_held_describe_unbalanced(const dyn_held_block *b, size_t lane, size_t u, double *remains)
{
    const size_t W     = b->W;
    double      *z     = b->e + lane; /* e is not needed any more and serves as scratch */
    double       total = b->remains[u * W + lane], most = b->choice->scale[u];
    size_t       found = u;
    *remains           = total;
    for (size_t i = u; i-- > 0;) {
        z[i * W] = dependence_factor(b, lane, u, i, z);
        if (!(fabs(z[i * W]) * b->choice->scale[i] > most)) continue;
        most     = fabs(z[i * W]) * b->choice->scale[i];
        *remains = total / z[i * W];
        found    = i;
    }
    return found;
}

/* True if, for the x of a lane, the efforts of the coordinates U balance up to rounding errors. Wrenches that are very
 * large beside the robot's weight do not balance so well. */
static bool is_balanced(const dyn_held_block *b, size_t lane, const dyn_least_norm *s)
{
    const size_t W = b->W, n = b->choice->n_passive;
    for (size_t u = 0; u < n; u++) {
        double left = 0;
        for (size_t i = 0; i <= u; i++) {
            double part = s->right[i];
            for (size_t a = 0; a < s->k; a++)
                part -= s->equation[i * s->k + a] * s->x[a];
            left += b->R[(u * n + i) * W + lane] * part;
        }
        if (!(fabs(left) <= DYN_HELD_BALANCE * b->choice->scale[u])) return false;
    }
    return true;
}

dyn_least_norm_status dyn_held_limit(const dyn_held_block *b, size_t lane, dyn_least_norm *s)
{
    const dyn_held_choice *c = b->choice;
    const size_t           W = b->W;
    s->n_rows = c->n_rows, s->n_cones = c->n_cones;
    s->row = c->row, s->cone = c->cone;
    for (size_t i = 0; i < c->n_passive * s->k; i++)
        s->equation[i] = b->E[i * W + lane];
    for (size_t u = 0; u < c->n_passive; u++)
        s->right[u] = b->e[u * W + lane];
    for (size_t a = 0; a < s->k; a++)
        s->x[a] = b->x[a * W + lane];
    const dyn_least_norm_status status = dyn_least_norm_solve(s);
    for (size_t a = 0; a < s->k; a++)
        b->x[a * W + lane] = s->x[a];
    return status == DYN_LEAST_NORM_DONE && !is_balanced(b, lane, s) ? DYN_LEAST_NORM_UNDECIDED : status;
}

void dyn_held_put_wrenches(const dyn_held_block *b, double *wrenches)
{
    const dyn_held_choice *c = b->choice;
    const size_t           W = b->W;
    size_t                 entry[DYN_MAX_HELD_AXES];
    memset(wrenches, 0, c->contact->n * DYN_FRAME_AXES * W * sizeof *wrenches);
    dyn_contact_list_entries(c->contact, entry);
    for (size_t a = 0; a < c->contact->k; a++)
        for (size_t lane = 0; lane < W; lane++)
            wrenches[entry[a] * W + lane] = c->root[a] * b->x[a * W + lane];
    for (size_t i = 0, first = 0; i < c->contact->n; first += c->contact->frame[i++].n) {
        const dyn_held_frame *frame = &c->contact->frame[i];
        for (size_t lane = 0; frame->rolling && lane < W; lane++) {
            double along[DYN_FRAME_AXES];
            for (size_t a = 0; a < frame->n; a++)
                along[a] = c->root[first + a] * b->x[(first + a) * W + lane];
            dyn_rolling_put_wrench(frame, W, b->levers + 3 * i * W + lane, along,
                                   wrenches + i * DYN_FRAME_AXES * W + lane);
        }
    }
}
