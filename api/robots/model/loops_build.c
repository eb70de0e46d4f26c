/* loops_build.c - see loops_build.h: resolve the frames of loops, and separate actuated from passive coordinates. */
#include "loops_build.h"
#include "dynamics/loops/loops.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- loops -------------------------------------------------------------------------------------------------------- */

static bool fail_frame(const api_model *model, api_reader *reader, size_t loop, char which, const char *name)
{
    char      pointer[64], list[API_NAMES_TEXT];
    api_names known = api_model_frames(model);
    snprintf(pointer, sizeof pointer, "/loops/%zu/frame_%c", loop, which);
    api_names_write(&known, name, list);
    return api_fail(reader->problem, API_UNKNOWN_NAME, pointer, "there is no frame or link \"%.*s\" in this model%s",
                    api_text_shown(name), name, list);
}

static bool find_frames(const api_model *model, const api_document_loop *in, size_t k, dyn_frame_pair *pair,
                        dyn_loop *loop, api_reader *reader)
{
    char pointer[64];
    int  a = api_model_frame(model, in->frame_a, strlen(in->frame_a));
    int  b = api_model_frame(model, in->frame_b, strlen(in->frame_b));
    if (a < 0) return fail_frame(model, reader, k, 'a', in->frame_a);
    if (b < 0) return fail_frame(model, reader, k, 'b', in->frame_b);
    *pair         = (dyn_frame_pair){model->frames[a].frame, model->frames[b].frame};
    loop->frame_a = model->frames[a].name;
    loop->frame_b = model->frames[b].name;
    snprintf(pointer, sizeof pointer, "/loops/%zu", k);
    return pair->a.body != pair->b.body ||
           api_fail(reader->problem, API_BAD_MODEL, pointer,
                    "the loop \"%.*s\" closes nothing: its frames are on one body", api_text_shown(in->name), in->name);
}

static bool put_loops(api_model *model, const api_document *document, dyn_loops *loops, api_reader *reader)
{
    dyn_loop       *loop = api_arena_take(&model->arena, loops->n, sizeof *loop);
    dyn_frame_pair *pair = api_arena_take(&model->arena, loops->n, sizeof *pair);
    if (!loop || !pair) {
        api_reader_no_memory(reader);
        return false;
    }
    loops->loop = loop;
    loops->pair = pair;
    for (size_t k = 0; k < loops->n; k++) {
        const api_document_loop *in = &document->loops[k];
        loop[k]                     = (dyn_loop){.type = in->type, .kind = in->kind, .pitch = in->pitch};
        loop[k].name                = api_arena_text(&model->arena, in->name);
        if (!loop[k].name) return api_reader_no_memory(reader);
        memcpy(loop[k].u, in->axis, sizeof loop[k].u);
        memcpy(loop[k].u_b, in->axis_b, sizeof loop[k].u_b);
        if (!find_frames(model, in, k, &pair[k], &loop[k], reader)) return false;
    }
    return true;
}

/* Sets the unit of length for closing loops: the greatest distance between joints in the tree, or from a body to a
 * loop frame. */
static void measure(const api_model *model, dyn_loops *loops)
{
    for (size_t i = 0; i < model->dyn->n_bodies; i++)
        loops->length = fmax(loops->length, dyn_norm(model->dyn->body[i].pose.p_pc));
    for (size_t k = 0; k < loops->n; k++)
        loops->length = fmax(loops->length, fmax(dyn_norm(loops->pair[k].a.X_bf.p), dyn_norm(loops->pair[k].b.X_bf.p)));
    if (!(loops->length > 0)) loops->length = 1;
}

static void put_rows(dyn_loops *loops)
{
    for (size_t k = 0; k < loops->n; k++) {
        dyn_loop_rows(&loops->loop[k], loops->length);
        loops->loop[k].first = loops->rows;
        loops->rows += loops->loop[k].rows;
        loops->has_universal = loops->has_universal || loops->loop[k].kind == DYN_LOOP_UNIVERSAL;
    }
}

/* --- coordinates -------------------------------------------------------------------------------------------------- */

/* Number of a body's own coordinates; a mimic joint has none. */
static size_t positions_of(const dyn_body *b)
{
    return b->joint.mimic ? 0 : (size_t)dyn_joint_nq(b->joint.kind);
}
static size_t velocities_of(const dyn_body *b)
{
    return b->joint.mimic ? 0 : (size_t)dyn_joint_nv(b->joint.kind);
}

static const api_document_link *link_of(const api_document *document, const dyn_body *b)
{
    return b->tree.link == DYN_WORLD ? NULL : &document->links[document->order[b->tree.link]];
}

typedef struct sorting {
    int *active, *passive, *place; /* [n] active, passive: indices of these coordinates; place: index among the actuated
                                      ones, -1: passive */
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

/* Sets home to the joints' home in the document, otherwise to zero and no rotation. */
static bool put_home(api_model *model, const api_document *document, dyn_loops *loops)
{
    double *home     = api_arena_take(&model->arena, loops->nq, sizeof *home);
    bool   *has_home = api_arena_take(&model->arena, loops->nv, sizeof *has_home);
    size_t  first    = 0;
    for (size_t i = 0; home && has_home && i < model->dyn->n_bodies; i++) {
        const dyn_body          *b    = &model->dyn->body[i];
        const api_document_link *link = link_of(document, b);
        size_t                   n    = positions_of(b);
        /* A joint may consist of several bodies; a motor coordinate has the home of its joint. */
        if (i > 0 && (b->joint.is_rotor || b->tree.link != model->dyn->body[i - 1].tree.link))
            first = (size_t)b->joint.q;
        if (n > 1) home[(size_t)b->joint.q + n - 1] = 1;
        if (n > 0 && link && link->has_home)
            memcpy(home + b->joint.q, link->home + ((size_t)b->joint.q - first), n * sizeof *home);
        if (n > 0 && link && link->has_home) memset(has_home + b->joint.v, true, velocities_of(b) * sizeof *has_home);
    }
    loops->home     = home;
    loops->has_home = has_home;
    return home && has_home;
}

static bool sort_coordinates(api_model *model, const api_document *document, dyn_loops *loops)
{
    api_arena *arena = &model->arena;
    sorting    q, v;
    if (!sort_open(&q, arena, loops->nq) || !sort_open(&v, arena, loops->nv)) return false;
    for (size_t i = 0; i < model->dyn->n_bodies; i++) {
        const dyn_body          *b       = &model->dyn->body[i];
        const api_document_link *link    = link_of(document, b);
        bool                     passive = link && !link->actuated;
        sort_in(&q, b->joint.q, positions_of(b), passive);
        sort_in(&v, b->joint.v, velocities_of(b), passive);
    }
    loops->active_q = q.active, loops->passive_q = q.passive, loops->active_index_q = q.place;
    loops->active_v = v.active, loops->passive_v = v.passive, loops->active_index_v = v.place;
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

/* --- motion in loops ---------------------------------------------------------------------------------------------- */

/* Inverts the marks of a body and its ancestors. Called for both frames of a loop, it marks bodies that carry one. */
static void turn_over(const dyn_model *m, int body, bool *mark)
{
    for (int i = body; i != DYN_WORLD; i = m->body[i].tree.parent)
        mark[i] = !mark[i];
}

/* Marks the coordinates that move the two frames of some loop against each other: those of bodies that carry exactly
 * one of the frames. */
static void mark_moving(const dyn_model *m, const dyn_loops *loops, bool *carries, bool *moves)
{
    for (size_t k = 0; k < loops->n; k++) {
        memset(carries, 0, m->n_bodies * sizeof *carries);
        turn_over(m, loops->pair[k].a.body, carries);
        turn_over(m, loops->pair[k].b.body, carries);
        for (size_t i = 0; i < m->n_bodies; i++)
            if (carries[i])
                memset(moves + m->body[i].joint.v, true, (size_t)dyn_joint_nv(m->body[i].joint.kind) * sizeof *moves);
    }
}

/* Computes loops->travel. A mimic joint moves `ratio` times as far as the coordinate that it follows. */
static bool put_travel(api_model *model, dyn_loops *loops, const bool *moves)
{
    const dyn_model *m      = model->dyn;
    double          *travel = api_arena_take(&model->arena, loops->nv, sizeof *travel);
    for (size_t i = 0; travel && i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        size_t          n = (size_t)dyn_joint_nv(b->joint.kind);
        for (size_t k = 0; k < n; k++) {
            bool   slides = n == 1 ? b->joint.kind == DYN_PRISMATIC : n == 6 && k < 3;
            double by     = (n == 1 ? fabs(b->joint.ratio) : 1) / (slides ? loops->length : 1);
            size_t v      = (size_t)b->joint.v + k;
            if (moves[v]) travel[v] = fmax(travel[v], by);
        }
    }
    loops->travel = travel;
    return travel != NULL;
}

/* Checks that a loop passes through every passive joint. Whether the loops determine the joint in every position is
 * checked in evaluation. */
static bool check_passive(api_model *model, const api_document *document, dyn_loops *loops, api_reader *reader)
{
    const dyn_model *m       = model->dyn;
    bool            *carries = api_arena_take(reader->arena, m->n_bodies, sizeof *carries);
    bool            *moves   = api_arena_take(reader->arena, loops->nv, sizeof *moves);
    char             pointer[64];
    if (!carries || !moves) return api_reader_no_memory(reader);
    mark_moving(m, loops, carries, moves);
    if (!put_travel(model, loops, moves)) return api_reader_no_memory(reader);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (velocities_of(b) == 0 || loops->active_index_v[b->joint.v] >= 0 || moves[b->joint.v]) continue;
        snprintf(pointer, sizeof pointer, "/links/%d/joint/actuated", document->order[b->tree.link]);
        return api_fail(reader->problem, API_BAD_MODEL, pointer,
                        "no loop passes through \"%s\", so its motion is undetermined: make it actuated",
                        loops->velocity_names[b->joint.v]);
    }
    return true;
}

static bool check(const api_model *model, const dyn_loops *loops, api_reader *reader)
{
    if (loops->n_passive == 0)
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "all joints are actuated: set \"actuated\": false for the joints that the loops move");
    if (model->nv == 0)
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "no joint is actuated, so the motion of the loops is undetermined");
    return true;
}

/* Sets loops->loaded to the bodies with friction that move actuated coordinates. */
static bool put_loaded(api_model *model, dyn_loops *loops)
{
    if (!model->loaded) return true;
    dyn_body  *body   = api_arena_take(&model->arena, model->n_loaded, sizeof *body);
    dyn_model *joints = api_arena_take(&model->arena, 1, sizeof *joints);
    if (!body || !joints) return false;
    *joints = (dyn_model){.nv = (int)model->nv, .has_load = true, .body = body};
    for (size_t i = 0; i < model->n_loaded; i++) {
        const int v = loops->active_index_v[model->loaded[i].joint.v];
        if (v < 0) continue;
        body[joints->n_bodies]           = model->loaded[i];
        body[joints->n_bodies++].joint.v = v;
    }
    loops->loaded = joints;
    return true;
}

bool api_loops_build(api_model *model, const api_document *document, api_reader *reader)
{
    if (document->n_loops == 0) return true;
    dyn_loops *loops = api_arena_take(&model->arena, 1, sizeof *loops);
    if (!loops) return api_reader_no_memory(reader);
    *loops = (dyn_loops){.n = document->n_loops, .nq = model->nq, .nv = model->nv};
    if (!put_loops(model, document, loops, reader)) return false;
    measure(model, loops);
    put_rows(loops);
    if (!put_home(model, document, loops) || !sort_coordinates(model, document, loops) || !put_loaded(model, loops))
        return api_reader_no_memory(reader);
    loops->reference = api_arena_take(&model->arena, loops->nq, sizeof *loops->reference);
    if (!loops->reference) return api_reader_no_memory(reader);
    model->loops = loops;
    return check(model, loops, reader) && check_passive(model, document, loops, reader);
}
