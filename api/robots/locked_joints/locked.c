/* locked.c - see locked.h: add "locked" to a model's document and read it again. */
#include "locked.h"
#include "api/base/memory/pool.h"
#include "api/codec/pointer.h"
#include "api/robots/model/model_loops.h"
#include <stdint.h>
#include <string.h>

static bool no_memory(api_problem *problem)
{
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to lock joints");
}

/* Adds the members of `locked` to those of the document. */
static bool add_locks(json_t *document, const json_t *locked, api_problem *problem)
{
    const char *name;
    json_t     *value, *locks = json_object_get(document, "locked");
    if (!locks && json_object_set_new(document, "locked", locks = json_object())) return no_memory(problem);
    json_object_foreach ((json_t *)(uintptr_t)locked, name, value) {
        if (json_object_get(locks, name)) {
            const api_place   all = api_place_key(NULL, "locked"), place = api_place_key(&all, name);
            const api_pointer pointer = api_place_pointer(&place);
            return api_fail(
                problem, API_DUPLICATE_NAME, api_pointer_text(&pointer),
                "the model itself locks joint \"%.64s\": leave it out, or PUT the model without its \"locked\"", name);
        }
        if (json_object_set(locks, name, value)) return no_memory(problem);
    }
    return true;
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

/* Coordinates of the actuated joints, with those of `locked` at their positions. Unknown names are left to the reader
 * of the document. */
static void place_actuated(const api_model *model, const json_t *locked, double *q)
{
    for (size_t i = 0; i < model->nq; i++)
        q[i] = model->loops->reference[model->loops->active_q[i]];
    for (size_t i = 0; i < model->n_joints; i++) {
        const api_joint_name *joint = &model->joints[i];
        const json_t         *value = json_object_get(locked, joint->name);
        const size_t          n     = (size_t)dyn_joint_nq(joint->kind);
        const int first = joint->leader || !value ? -1 : api_first_position(model, &model->dyn->body[joint->body]);
        if (first < 0) continue;
        const size_t last = (size_t)first + (size_t)dyn_joint_nq(model->dyn->body[joint->body].joint.kind);
        for (size_t k = 0; k < n; k++) {
            const json_t *number = json_is_array(value) ? json_array_get(value, k) : value;
            if (json_is_number(number)) q[last - n + k] = json_number_value(number);
        }
    }
}

/* Sets "home" of the joint that carries a link. */
static bool set_home(json_t *document, const char *link, size_t n, const double *home)
{
    size_t  i;
    json_t *entry;
    json_array_foreach (json_object_get(document, "links"), i, entry) {
        if (strcmp(json_string_value(json_object_get(entry, "name")), link) != 0) continue;
        json_t *value = n == 1 ? json_real(home[0]) : json_array();
        for (size_t k = 0; value && n > 1 && k < n; k++)
            if (json_array_append_new(value, json_real(home[k]))) {
                json_decref(value);
                return false;
            }
        return json_object_set_new(json_object_get(entry, "joint"), "home", value) == 0;
    }
    return true;
}

/* Makes the tree's coordinates q ([nq] of the tree) the home of all joints. */
static bool set_homes(json_t *document, const api_model *model, const double *q)
{
    for (size_t i = 0; i < model->n_joints; i++) {
        const api_joint_name *joint = &model->joints[i];
        const dyn_body       *body  = &model->dyn->body[joint->body];
        const int             n     = dyn_joint_nq(joint->kind);
        const double         *home  = q + body->joint.q + dyn_joint_nq(body->joint.kind) - n;
        if (!joint->leader && !set_home(document, joint->link, (size_t)n, home)) return false;
    }
    return true;
}

/* Closes the loops on the way from the reference to the positions of the locked joints, and makes that position the
 * home of the document's joints, where the reference of the reduced model is. */
static bool move_reference(json_t *document, const api_model *model, const json_t *locked, api_pool *pool,
                           const api_deadline *deadline)
{
    const dyn_kernels  *tree  = dyn_kernels_for_models();
    const size_t        W     = (size_t)tree->lanes;
    const dyn_deadline  until = api_deadline_for_dynamics(deadline);
    const dyn_scene     scene = {.model = model->dyn, .deadline = until};
    dyn_loop_workspace *c     = api_loop_workspace_open(pool, model, tree, until, 0, 0);
    double             *one = api_take(pool, model->loops->nq * sizeof *one), *lanes = NULL;
    if (!c || !one || !(lanes = api_take(pool, model->nq * W * sizeof *lanes))) return false;
    place_actuated(model, locked, one);
    for (size_t i = 0; i < model->nq * W; i++)
        lanes[i] = one[i / W];
    if (!dyn_loop_close(c, &scene, lanes, NULL, 1))
        return api_loop_fail(dyn_loop_failure_of(c, 0), "/locked", -1, pool->problem);
    const double *q = dyn_loop_tree_q(c);
    for (size_t i = 0; i < model->loops->nq; i++)
        one[i] = q[i * W];
    return set_homes(document, model, one) || no_memory(pool->problem);
}

static bool keep_assembly(json_t *document, const api_model *model, const json_t *locked, api_share *share,
                          const api_deadline *deadline, api_problem *problem)
{
    api_scratch scratch  = {0};
    api_budget  budget   = {.limit = SIZE_MAX};
    api_share   unshared = {.budget = &budget};
    api_pool    pool     = {share ? share : &unshared, &scratch, problem, 0, 0};
    const bool  moved    = move_reference(document, model, locked, &pool, deadline);
    api_pool_end(&pool);
    api_scratch_free(&scratch);
    return moved;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* Makes problems of the reduced document point into "locked" of the request, which caused them. */
static void point_at_locks(api_problem *problem)
{
    api_problem found = *problem;
    if (!found.has_pointer || strncmp(found.pointer, "/locked", 7) == 0) return;
    api_problem_clear(problem);
    api_fail(problem, found.code, "/locked", "with these joints locked: %s", found.detail);
}

api_model *api_model_lock(const api_model *model, const json_t *locked, api_share *share, const api_deadline *deadline,
                          api_problem *problem)
{
    const size_t tree = api_json_estimate_memory(model->document, model->document_length);
    if (share && !api_claim(share, tree, problem)) return NULL;
    json_t    *document = api_json_parse(model->document, model->document_length, API_EMIT_DEPTH, problem);
    api_model *reduced  = NULL;
    bool       ready = document && (!model->loops || keep_assembly(document, model, locked, share, deadline, problem));
    if (ready && add_locks(document, locked, problem)) {
        reduced = api_model_from_document(document, model->name, SIZE_MAX, problem);
        reduced = api_find_reference(reduced, share, deadline, problem);
        if (!reduced) point_at_locks(problem);
    }
    json_decref(document);
    if (share) api_unclaim(share, tree);
    return reduced;
}
