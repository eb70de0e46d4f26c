/* loops_build.c - resolves the frames of a document's loops, and describes in words why loops cannot be built
 * (dynamics/loops/loops_build.h). */
#include "loops_build.h"
#include "dynamics/loops/loops_build.h"
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
    int a = api_model_frame(model, in->frame_a, strlen(in->frame_a));
    int b = api_model_frame(model, in->frame_b, strlen(in->frame_b));
    if (a < 0) return fail_frame(model, reader, k, 'a', in->frame_a);
    if (b < 0) return fail_frame(model, reader, k, 'b', in->frame_b);
    *pair         = (dyn_frame_pair){model->frames[a].frame, model->frames[b].frame};
    loop->frame_a = model->frames[a].name;
    loop->frame_b = model->frames[b].name;
    return true;
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

static const char **choose(api_arena *arena, const char **names, const int *which, size_t n)
{
    const char **chosen = api_arena_take(arena, n, sizeof *chosen);
    for (size_t i = 0; chosen && i < n; i++)
        chosen[i] = names[which[i]];
    return chosen;
}

/* Lists the actuated coordinates, which become those of the model, and the passive ones. */
static bool name_coordinates(api_model *model, dyn_loops *loops)
{
    api_arena *arena      = &model->arena;
    model->nq             = loops->nq - loops->n_passive_q;
    model->nv             = loops->nv - loops->n_passive;
    loops->position_names = model->position_names;
    loops->velocity_names = model->velocity_names;
    model->position_names = choose(arena, loops->position_names, loops->active_q, model->nq);
    model->velocity_names = choose(arena, loops->velocity_names, loops->active_v, model->nv);
    loops->passive_names  = choose(arena, loops->position_names, loops->passive_q, loops->n_passive_q);
    return model->position_names && model->velocity_names && loops->passive_names;
}

/* Says what is wrong with the loops of a document. `where` is the index that dyn_loops_result names. */
static bool fail_loops(const api_model *model, const api_document *document, dyn_loops_result found, size_t where,
                       api_reader *reader)
{
    char            pointer[64];
    const dyn_body *body = &model->dyn->body[found == DYN_LOOPS_UNDETERMINED ? where : 0];
    switch (found) {
    case DYN_LOOPS_BUILT: return true;
    case DYN_LOOPS_NO_MEMORY: return api_reader_no_memory(reader);
    case DYN_LOOPS_ONE_BODY:
        snprintf(pointer, sizeof pointer, "/loops/%zu", where);
        return api_fail(reader->problem, API_BAD_MODEL, pointer,
                        "the loop \"%.*s\" closes nothing: its frames are on one body",
                        api_text_shown(document->loops[where].name), document->loops[where].name);
    case DYN_LOOPS_ALL_ACTUATED:
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "all joints are actuated: set \"actuated\": false for the joints that the loops move");
    case DYN_LOOPS_ALL_PASSIVE:
        return api_fail(reader->problem, API_BAD_MODEL, "/loops",
                        "no joint is actuated, so the motion of the loops is undetermined");
    case DYN_LOOPS_UNDETERMINED:
        snprintf(pointer, sizeof pointer, "/links/%d/joint/actuated", document->order[body->tree.link]);
        return api_fail(reader->problem, API_BAD_MODEL, pointer,
                        "no loop passes through \"%s\", so its motion is undetermined: make it actuated",
                        model->velocity_names[body->joint.v]);
    }
    return false;
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

/* Lists what the document says about the joints, in the order document->order of their links. */
static dyn_loop_joint *list_joints(const api_document *document, api_arena *arena)
{
    dyn_loop_joint *joint = api_arena_take(arena, document->n_links, sizeof *joint);
    for (size_t k = 0; joint && k < document->n_links; k++) {
        const api_document_link *link = &document->links[document->order[k]];
        joint[k] = (dyn_loop_joint){.passive = !link->actuated, .home = link->has_home ? link->home : NULL};
    }
    return joint;
}

bool api_loops_build(api_model *model, const api_document *document, api_reader *reader)
{
    if (document->n_loops == 0) return true;
    size_t          where = 0;
    dyn_loops      *loops = api_arena_take(&model->arena, 1, sizeof *loops);
    dyn_loop_joint *joint = list_joints(document, reader->arena);
    if (!loops || !joint) return api_reader_no_memory(reader);
    *loops = (dyn_loops){.n = document->n_loops};
    if (!put_loops(model, document, loops, reader)) return false;
    dyn_loops_result found = dyn_loops_build(api_arena_memory(&model->arena), model->dyn, joint, loops, &where);
    if (found != DYN_LOOPS_BUILT) return fail_loops(model, document, found, where, reader);
    if (!name_coordinates(model, loops) || !put_loaded(model, loops)) return api_reader_no_memory(reader);
    model->loops = loops;
    return true;
}
