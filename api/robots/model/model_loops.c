/* model_loops.c - describes in words why loops cannot be closed, and finds the reference of a model (model_loops.h). */
#include "model_loops.h"
#include "dynamics/loop_reference/reference.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void fail_open(const dyn_loop_failure *f, const char *pointer, api_problem *problem)
{
    const char *which = f->worst < f->loops->n ? f->loops->loop[f->worst].name : "platform";
    if (!isfinite(f->error)) {
        api_fail(problem, API_LOOP_OPEN, pointer, "the loop error cannot be computed: a number is too large");
        return;
    }
    api_fail(
        problem, API_LOOP_OPEN, pointer,
        "no position of the %s joints was found that closes the loops: they are open by %.3g, \"%.64s\" by %.3g (in "
        "units of %.3g m, and rad); it is out of reach, or \"guess\" and \"home\" are too far",
        f->platform ? "actuated and passive" : "passive", f->error, which, f->worst_error, f->loops->length);
}

static void fail_crossing(const dyn_loop_failure *f, const char *pointer, api_problem *problem)
{
    static const char *const along[] = {
        [DYN_ROUTE_FROM_REFERENCE] = "the straight line from the model's reference to this state",
        [DYN_ROUTE_OF_GUESS]       = "the path on which the guess's loop error shrinks to zero",
        [DYN_ROUTE_OF_CURVE]       = "the motion from the previous sample to this one",
        [DYN_ROUTE_FROM_STATE]     = "the path from the previous state to this one",
        [DYN_ROUTE_OF_PLATFORM]    = "the straight line from the frame's reference pose to this one",
    };
    api_fail(problem, API_LOOP_CROSSING, pointer,
             "%s meets a singular position of the loops at %.9g of its length: it is out of reach in this assembly%s",
             along[f->route], f->fraction,
             f->route == DYN_ROUTE_OF_GUESS ? ", or another guess is nearer" : "; a guess selects another");
    problem->fraction = f->fraction;
}

static void fail_undetermined(const dyn_loop_failure *f, const char *pointer, api_problem *problem)
{
    if (f->platform)
        api_fail(
            problem, API_LOOP_SINGULAR, pointer,
            "the pose of the frame does not determine the joints: %zu of the tree's %zu coordinates follow from it",
            f->found, f->unknowns);
    else
        api_fail(
            problem, API_LOOP_SINGULAR, pointer,
            "the loops do not determine the passive joints at this state: %zu of their %zu coordinates follow from "
            "the actuated ones",
            f->found, f->unknowns);
}

static void fail_dependent(const dyn_loop_failure *f, const char *pointer, api_problem *problem)
{
    if (f->platform)
        api_fail(problem, API_LOOP_SINGULAR, pointer,
                 "the loops do not allow the given velocity or acceleration of the frame");
    else
        api_fail(problem, API_LOOP_SINGULAR, pointer,
                 "the loops do not let all %zu actuated coordinates move independently: fewer joints of this mechanism "
                 "can be actuated",
                 f->unknowns);
}

bool api_loop_fail(dyn_loop_failure failure, const char *pointer, long long row, api_problem *problem)
{
    switch (failure.status) {
    case DYN_LOOPS_CLOSED: return true;
    case DYN_LOOPS_OPEN: fail_open(&failure, pointer, problem); break;
    case DYN_LOOPS_PATH_SINGULAR: fail_crossing(&failure, pointer, problem); break;
    case DYN_LOOPS_PASSIVE_UNDETERMINED: fail_undetermined(&failure, pointer, problem); break;
    case DYN_LOOPS_ACTUATED_DEPENDENT: fail_dependent(&failure, pointer, problem); break;
    case DYN_LOOPS_STOPPED:
        api_fail(problem, API_DEADLINE_PASSED, pointer,
                 "the row has used up its share of the request's time before its loops were closed: give more time in "
                 "Request-Timeout, or send the row alone");
        break;
    }
    problem->row = row;
    return false;
}

unsigned api_loop_late_lanes(const dyn_loop_workspace *closed, size_t live)
{
    unsigned late = 0;
    for (size_t lane = 0; lane < live; lane++) {
        const dyn_loop_failure f = dyn_loop_failure_of(closed, lane);
        late |= (unsigned)(f.status == DYN_LOOPS_STOPPED && f.fraction < 1) << lane;
    }
    return late;
}

dyn_loop_workspace *api_loop_workspace_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                            dyn_deadline deadline, size_t n_wrenches, size_t extra)
{
    const dyn_mechanism mechanism = api_model_mechanism(model);
    return dyn_loop_workspace_open(api_pool_memory(pool), &mechanism, tree, deadline, n_wrenches, extra);
}

/* --- reference ---------------------------------------------------------------------------------------------------- */

static bool fail_reference(dyn_loop_failure failure, api_problem *problem)
{
    api_problem found;
    api_problem_clear(&found);
    if (api_loop_fail(failure, NULL, -1, &found))
        return api_fail(problem, API_LOOP_OPEN, "/loops",
                        "the loops cannot be closed near the joints' \"home\": give the joints, actuated ones too, a "
                        "\"home\" near a position in which the loops are closed");
    if (failure.status == DYN_LOOPS_OPEN && isfinite(failure.error))
        return api_fail(
            problem, API_LOOP_OPEN, "/loops",
            "the model has no reference, a position near the joints' \"home\" in which the loops are closed "
            "and the passive joints follow from the actuated ones: loop \"%.64s\" stays open by %.3g (in units "
            "of %.3g m, and rad) however far the search from there moves the joints: give its joints a \"home\" near "
            "a position in which it is closed, or correct the axes, frames and lengths along it",
            failure.loops->loop[failure.worst].name, failure.worst_error, failure.loops->length);
    if (failure.status == DYN_LOOPS_ACTUATED_DEPENDENT && failure.worst < failure.loops->n)
        return api_fail(
            problem, API_LOOP_SINGULAR, "/loops",
            "the model has no reference, a position near the joints' \"home\" in which the loops are closed "
            "and the passive joints follow from the actuated ones: where the loops are closed, loop \"%.64s\" "
            "does not let all %zu actuated coordinates move independently: correct the axes and frames along "
            "it, or let fewer joints of this mechanism be actuated",
            failure.loops->loop[failure.worst].name, failure.unknowns);
    return api_fail(
        problem, found.code == API_LOOP_SINGULAR ? found.code : API_LOOP_OPEN, "/loops",
        "the model has no reference, a position near the joints' \"home\" in which the loops are closed and the "
        "passive joints follow from the actuated ones: %s",
        found.detail);
}

static void fail(const api_model *model, dyn_loop_failure failure, api_problem *problem)
{
    fail_reference(failure, problem);
    size_t length = strlen(problem->detail);
    snprintf(problem->detail + length, sizeof problem->detail - length, "%s", model->loop_remedy);
}

api_model *api_find_reference(api_model *model, api_share *share, const api_deadline *deadline, api_problem *problem)
{
    if (!model || !model->loops) return model;
    api_scratch      scratch   = {0};
    api_budget       budget    = {.limit = SIZE_MAX};
    api_share        own       = {.budget = &budget};
    api_pool         pool      = {share ? share : &own, &scratch, problem, 0, 0};
    dyn_mechanism    mechanism = api_model_mechanism(model);
    dyn_loop_failure failure;
    bool             found =
        dyn_loop_find_reference(api_pool_memory(&pool), &mechanism, api_deadline_for_dynamics(deadline), &failure);
    if (!found && problem->code == API_NO_PROBLEM && api_deadline_check(deadline, problem))
        fail(model, failure, problem);
    api_pool_end(&pool);
    api_scratch_free(&scratch);
    if (found) return model;
    api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the model's loops");
    api_model_release(model);
    return NULL;
}
