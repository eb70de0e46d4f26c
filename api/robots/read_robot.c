/* read_robot.c - reads a robot and locks its joints: see read_robot.h. */
#include "read_robot.h"
#include "api/robots/locked_joints/locked.h"
#include "api/robots/locked_joints/locked_query.h"
#include "api/robots/model/model_loops.h"
#include "api/robots/report_order.h"
#include <stdlib.h>
#include <string.h>

static bool has_entry(const json_t *report, const json_t *entry)
{
    for (size_t i = 0; i < json_array_size(report); i++)
        if (json_equal(json_array_get(report, i), entry)) return true;
    return false;
}

/* Puts the entries about the file, which the report of the document lacks, into the report of the reduced model. */
static bool add_report(api_model *reduced, const json_t *file, api_problem *problem)
{
    size_t  i;
    json_t *entry;
    bool    joined = true;
    json_array_foreach (file, i, entry)
        joined = joined && (has_entry(reduced->report, entry) || json_array_append(reduced->report, entry) == 0);
    return (joined && api_report_order(reduced->report)) ||
           api_fail(problem, API_MEMORY_FULL, NULL, "no memory to hold the model");
}

/* Replaces a model by the one with locked joints. */
static api_model *lock_robot(api_model *model, const json_t *locked, api_share *share, const api_deadline *deadline,
                             api_problem *problem)
{
    api_model *reduced = api_model_lock(model, locked, share, deadline, problem);
    if (reduced && !add_report(reduced, model->report, problem)) {
        api_model_release(reduced);
        reduced = NULL;
    }
    api_model_release(model);
    return reduced;
}

api_model *api_read_robot(const api_model_format *format, const api_model_source *source, const api_deadline *deadline,
                          api_problem *problem)
{
    api_locked_query split;
    api_model       *model  = NULL;
    api_model_source inner  = *source;
    const bool       parsed = api_locked_query_read(source->query, &split, problem);
    inner.query             = split.rest;
    if (parsed && (!*split.rest || format->check_query(split.rest, problem)))
        model = api_find_reference(format->read(&inner, problem), source->share, deadline, problem);
    if (model && split.locked) model = lock_robot(model, split.locked, source->share, deadline, problem);
    api_locked_query_free(&split);
    return model;
}
