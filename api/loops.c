/* loops.c - see loops.h. */
#include "loops.h"
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- vectors ---------------------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Two unit vectors across u, the first from the coordinate axis that is least along it. */
static void find_across(api_loop *loop)
{
    const double *u = loop->u;
    int           k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(u[i]) < fabs(u[k])) k = i;
    double e[3] = {k == 0, k == 1, k == 2};
    cross(u, e, loop->across[1]);
    double length = sqrt(dot(loop->across[1], loop->across[1]));
    for (int i = 0; i < 3; i++)
        loop->across[1][i] /= length;
    cross(loop->across[1], u, loop->across[0]);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static void hold(api_loop *loop, const double linear[3], double factor, const double angular[3], double angle)
{
    for (int i = 0; i < 3; i++) {
        loop->E[loop->rows][i]     = factor * linear[i];
        loop->E[loop->rows][3 + i] = angle * angular[i];
    }
    loop->rows++;
}

static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* n directions of y, of the length's unit, then of w. */
static void hold_linear(api_loop *loop, const double (*d)[3], int n, double length)
{
    for (int i = 0; i < n; i++)
        hold(loop, d[i], 1 / length, d[i], 0);
}

static void hold_angular(api_loop *loop, const double (*d)[3], int n)
{
    for (int i = 0; i < n; i++)
        hold(loop, d[i], 0, d[i], 1);
}

/* The same rows in the same order as those of api_loop_residual. */
static void find_rows(api_loop *loop, double length)
{
    const double(*across)[3] = (const double(*)[3])loop->across, (*u)[3] = (const double(*)[3]) & loop->u;
    bool slides = loop->kind == API_LOOP_PRISMATIC || loop->kind == API_LOOP_HELICAL,
         plane  = loop->kind == API_LOOP_PLANAR;
    bool turns  = loop->kind == API_LOOP_FIXED || loop->kind == API_LOOP_PRISMATIC;
    loop->rows  = 0;
    hold_linear(loop, slides ? across : plane ? u : axes, slides ? 2 : plane ? 1 : 3, length);
    if (loop->kind != API_LOOP_SPHERICAL) hold_angular(loop, turns ? axes : across, turns ? 3 : 2);
    if (loop->kind == API_LOOP_HELICAL) hold(loop, loop->u, 1 / length, loop->u, -loop->pitch / length);
}

/* sin(angle) times the axis of a rotation, and cos(angle). */
static double sine_of(const double R[9], double sine[3])
{
    for (int i = 0; i < 3; i++)
        sine[i] = 0.5 * (R[3 * ((i + 2) % 3) + (i + 1) % 3] - R[3 * ((i + 1) % 3) + (i + 2) % 3]);
    return 0.5 * (R[0] + R[4] + R[8] - 1);
}

/* angle times axis; near a half turn, where the sine tells no axis, it is the longest column of 1 + R. */
static void rotation_vector(const double R[9], double vector[3])
{
    double cosine = sine_of(R, vector), sine = sqrt(dot(vector, vector)), angle = atan2(sine, cosine);
    if (sine < 1e-6 && cosine < 0) {
        int k = R[0] >= R[4] ? (R[0] >= R[8] ? 0 : 2) : (R[4] >= R[8] ? 1 : 2);
        for (int i = 0; i < 3; i++)
            vector[i] = R[3 * i + k] + (i == k);
        sine = sqrt(dot(vector, vector));
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        vector[i] *= angle / sine;
}

/* angle times axis of the least rotation that takes u to R u. */
static void swing_of(const api_loop *loop, const double R[9], double swing[3])
{
    double turned[3];
    for (int i = 0; i < 3; i++)
        turned[i] = dot(R + 3 * i, loop->u);
    cross(loop->u, turned, swing);
    double sine = sqrt(dot(swing, swing)), cosine = dot(loop->u, turned);
    if (sine == 0 && cosine < 0) {
        memcpy(swing, loop->across[0], sizeof loop->across[0]);
        sine = 1;
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        swing[i] *= atan2(sine, cosine) / sine;
}

/* y along u less the pitch times the angle about u, which is the one of all turns that fits best. */
static double advance_of(const api_loop *loop, const double y[3], const double R[9])
{
    double sine[3], cosine = sine_of(R, sine), along = dot(loop->u, y), turn = 2 * M_PI * loop->pitch;
    double rest = along - loop->pitch * atan2(dot(loop->u, sine), cosine);
    return turn != 0 ? rest - turn * nearbyint(rest / turn) : rest;
}

void api_loop_residual(const api_loops *loops, size_t k, const double y[3], const double R[9], double *residual)
{
    const api_loop *loop    = &loops->loop[k];
    double          turn[3] = {0};
    if (loop->kind == API_LOOP_FIXED || loop->kind == API_LOOP_PRISMATIC)
        rotation_vector(R, turn);
    else if (loop->kind != API_LOOP_SPHERICAL)
        swing_of(loop, R, turn);
    for (size_t i = 0; i < loop->rows; i++)
        residual[i] = dot(loop->E[i], y) + dot(loop->E[i] + 3, turn);
    if (loop->kind == API_LOOP_HELICAL) residual[loop->rows - 1] = advance_of(loop, y, R) / loops->length;
}

void api_place_residual(const double position[3], const double orientation[4], const double y[3], const double R[9],
                        double residual[6])
{
    const double *r = orientation, s = r[3];
    double        goal[9], turn[9];
    for (int i = 0; i < 3; i++) /* 2 r r^T + (s^2 - r.r) 1 + 2 s [r] */
        for (int k = 0; k < 3; k++) {
            double skew     = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * r[3 - i - k];
            goal[3 * i + k] = 2 * (r[i] * r[k] + s * skew) + (i == k ? s * s - dot(r, r) : 0);
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            turn[3 * i + k] = dot(R + 3 * i, goal + 3 * k);
    rotation_vector(turn, residual + 3);
    for (int i = 0; i < 3; i++)
        residual[i] = y[i] - position[i];
}

int api_place_of(const api_model *model, const dyn_body *body)
{
    return model->loops ? model->loops->place_q[body->q] : body->q;
}

int api_place_of_rate(const api_model *model, const dyn_body *body)
{
    return model->loops ? model->loops->place_v[body->v] : body->v;
}

/* --- building --------------------------------------------------------------------------------------------------- */

static const struct {
    const char   *type;
    api_loop_kind kind;
} kinds[] = {{"fixed", API_LOOP_FIXED},         {"spherical", API_LOOP_SPHERICAL}, {"revolute", API_LOOP_REVOLUTE},
             {"continuous", API_LOOP_REVOLUTE}, {"prismatic", API_LOOP_PRISMATIC}, {"planar", API_LOOP_PLANAR},
             {"helical", API_LOOP_HELICAL}};

static bool fail_frame(api_reader *reader, size_t loop, char which, const char *name)
{
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/loops/%zu/frame_%c", loop, which);
    return api_fail(reader->problem, API_UNKNOWN_NAME, pointer, "there is no frame or link \"%.*s\" in this model",
                    api_text_shown(name), name);
}

static bool find_frames(const api_model *model, const api_document_loop *in, size_t k, dyn_frame_pair *pair,
                        api_loop *loop, api_reader *reader)
{
    char pointer[64];
    int  a = api_model_frame(model, in->frame_a, strlen(in->frame_a));
    int  b = api_model_frame(model, in->frame_b, strlen(in->frame_b));
    if (a < 0) return fail_frame(reader, k, 'a', in->frame_a);
    if (b < 0) return fail_frame(reader, k, 'b', in->frame_b);
    *pair         = (dyn_frame_pair){model->frames[a].frame, model->frames[b].frame};
    loop->frame_a = model->frames[a].name;
    loop->frame_b = model->frames[b].name;
    snprintf(pointer, sizeof pointer, "/loops/%zu", k);
    return pair->a.body != pair->b.body ||
           api_fail(reader->problem, API_BAD_MODEL, pointer,
                    "the loop \"%.*s\" closes nothing: its frames are on one body", api_text_shown(in->name), in->name);
}

static bool put_loops(api_model *model, const api_document *document, api_loops *loops, api_reader *reader)
{
    api_loop       *loop = api_arena_take(&model->arena, loops->n, sizeof *loop);
    dyn_frame_pair *pair = api_arena_take(&model->arena, loops->n, sizeof *pair);
    if (!loop || !pair) {
        api_reader_no_memory(reader);
        return false;
    }
    loops->loop = loop;
    loops->pair = pair;
    for (size_t k = 0; k < loops->n; k++) {
        const api_document_loop *in = &document->loops[k];
        loop[k] = (api_loop){.type = in->type, .pitch = in->pitch, .name = api_arena_text(&model->arena, in->name)};
        if (!loop[k].name) return api_reader_no_memory(reader);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(kinds[i].type, in->type) == 0) loop[k].kind = kinds[i].kind;
        memcpy(loop[k].u, in->axis, sizeof loop[k].u);
        find_across(&loop[k]);
        if (!find_frames(model, in, k, &pair[k], &loop[k], reader)) return false;
    }
    return true;
}

/* The greatest distance in the tree and to the frames, in which closure is measured. */
static void measure(const api_model *model, api_loops *loops)
{
    for (size_t i = 0; i < model->dyn->n_bodies; i++)
        loops->length = fmax(loops->length, api_length(model->dyn->body[i].p_pc));
    for (size_t k = 0; k < loops->n; k++)
        loops->length =
            fmax(loops->length, fmax(api_length(loops->pair[k].a.X_bf.p), api_length(loops->pair[k].b.X_bf.p)));
    if (!(loops->length > 0)) loops->length = 1;
}

static void put_rows(api_loops *loops)
{
    for (size_t k = 0; k < loops->n; k++) {
        find_rows(&loops->loop[k], loops->length);
        loops->loop[k].first = loops->rows;
        loops->rows += loops->loop[k].rows;
    }
}

/* --- coordinates ------------------------------------------------------------------------------------------------ */

/* A body's own coordinates; of a mimic there are none. */
static size_t positions_of(const dyn_body *b)
{
    return b->mimic ? 0 : (size_t)dyn_joint_nq(b->joint);
}
static size_t velocities_of(const dyn_body *b)
{
    return b->mimic ? 0 : (size_t)dyn_joint_nv(b->joint);
}

static const api_document_link *link_of(const api_document *document, const dyn_body *b)
{
    return b->link == DYN_WORLD ? NULL : &document->links[document->order[b->link]];
}

typedef struct sorting {
    int   *active, *passive, *place; /* place may be NULL */
    size_t n_active, n_passive;
} sorting;

static bool sort_open(sorting *s, api_arena *arena, size_t n)
{
    *s         = (sorting){.active = api_arena_take(arena, n, sizeof *s->active)};
    s->passive = api_arena_take(arena, n, sizeof *s->passive);
    s->place   = api_arena_take(arena, n, sizeof *s->place);
    return s->active && s->passive && s->place;
}

static void sort_in(sorting *s, int first, size_t count, bool passive)
{
    for (int i = first; i < first + (int)count; i++) {
        s->place[i] = passive ? -1 : (int)s->n_active;
        if (passive)
            s->passive[s->n_passive++] = i;
        else
            s->active[s->n_active++] = i;
    }
}

static const char **choose(api_arena *arena, const char **names, const int *which, size_t n)
{
    const char **chosen = api_arena_take(arena, n, sizeof *chosen);
    for (size_t i = 0; chosen && i < n; i++)
        chosen[i] = names[which[i]];
    return chosen;
}

/* Where Newton's method begins: the joints' home, else zero and no rotation. */
static bool put_home(api_model *model, const api_document *document, api_loops *loops)
{
    double *home  = api_arena_take(&model->arena, loops->nq, sizeof *home);
    size_t  first = 0;
    for (size_t i = 0; home && i < model->dyn->n_bodies; i++) {
        const dyn_body          *b    = &model->dyn->body[i];
        const api_document_link *link = link_of(document, b);
        size_t                   n    = positions_of(b);
        if (i > 0 && b->link != model->dyn->body[i - 1].link) first = (size_t)b->q; /* joints may be several bodies */
        if (n > 1) home[(size_t)b->q + n - 1] = 1;
        if (n > 0 && link && link->has_home) memcpy(home + b->q, link->home + ((size_t)b->q - first), n * sizeof *home);
    }
    loops->home = home;
    return home != NULL;
}

static bool sort_coordinates(api_model *model, const api_document *document, api_loops *loops)
{
    api_arena *arena = &model->arena;
    sorting    q, v;
    if (!sort_open(&q, arena, loops->nq) || !sort_open(&v, arena, loops->nv)) return false;
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body          *b       = &model->dyn->body[i];
        const api_document_link *link    = link_of(document, b);
        bool                     passive = link && !link->actuated;
        sort_in(&q, b->q, positions_of(b), passive);
        sort_in(&v, b->v, velocities_of(b), passive);
    }
    loops->active_q = q.active, loops->passive_q = q.passive, loops->place_q = q.place;
    loops->active_v = v.active, loops->passive_v = v.passive, loops->place_v = v.place;
    loops->n_passive_q = q.n_passive, loops->n_passive = v.n_passive;
    loops->position_names = model->position_names;
    loops->velocity_names = model->velocity_names;
    model->nq             = q.n_active;
    model->nv             = v.n_active;
    model->position_names = choose(arena, loops->position_names, q.active, model->nq);
    model->velocity_names = choose(arena, loops->velocity_names, v.active, model->nv);
    loops->passive_names  = choose(arena, loops->position_names, q.passive, q.n_passive);
    return model->position_names && model->velocity_names && loops->passive_names;
}

static bool check(const api_model *model, const api_loops *loops, api_reader *reader)
{
    if (loops->n_passive == 0)
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "all joints are actuated: those that move as the loops make them are \"actuated\": false");
    if (model->nv == 0)
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "no joint is actuated: nothing says how the loops move");
    return true;
}

bool api_loops_build(api_model *model, const api_document *document, api_reader *reader)
{
    if (document->n_loops == 0) return true;
    api_loops *loops = api_arena_take(&model->arena, 1, sizeof *loops);
    if (!loops) return api_reader_no_memory(reader);
    *loops = (api_loops){.n = document->n_loops, .nq = model->nq, .nv = model->nv};
    if (!put_loops(model, document, loops, reader)) return false;
    measure(model, loops);
    put_rows(loops);
    if (!put_home(model, document, loops) || !sort_coordinates(model, document, loops))
        return api_reader_no_memory(reader);
    model->loops = loops;
    return check(model, loops, reader);
}
