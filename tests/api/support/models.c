/* models.c - makes models from documents and evaluates the kernels for them (models.h). */
#include "models.h"
#include "api/robots/model/model_loops.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_of(const char *text)
{
    api_problem problem;
    char       *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    api_problem_clear(&problem);
    json_t *json = api_json_parse(copy, strlen(copy), 32, &problem);
    if (!json) print_error("%s: %s\n", copy, problem.detail);
    assert_non_null(json);
    free(copy);
    return json;
}

static api_model *model_named(const json_t *document, const char *name)
{
    api_problem problem;
    api_problem_clear(&problem);
    api_model *model =
        api_find_reference(api_model_from_document(document, name, 4096, &problem), NULL, NULL, &problem);
    if (!model) print_error("%s %s: %s\n", name, problem.pointer, problem.detail);
    assert_non_null(model);
    return model;
}

api_model *model_of_json(const json_t *document)
{
    return model_named(document, "robot");
}

api_model *model_of(const char *text)
{
    json_t    *document = json_of(text);
    api_model *model    = model_of_json(document);
    json_decref(document);
    return model;
}

api_model *model_again(const api_model *model)
{
    json_t *document = json_loads(model->document, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    api_model *again = model_named(document, model->name);
    json_decref(document);
    assert_string_equal(again->document, model->document);
    assert_string_equal(again->revision, model->revision);
    return again;
}

api_model *bundled_model(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "models/%s.json", name);
    json_t *document = json_load_file(path, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    api_model *model = model_named(document, name);
    json_decref(document);
    return model;
}

void assert_refused(const char *text, const char *code, const char *pointer, const char *words)
{
    api_problem problem;
    json_t     *document = json_of(text);
    api_problem_clear(&problem);
    api_model *model =
        api_find_reference(api_model_from_document(document, "robot", 4096, &problem), NULL, NULL, &problem);
    json_decref(document);
    if (model) print_error("taken, expected %s at %s: %s\n", code, pointer, text);
    assert_null(model);
    const char *refusal_code = api_problem_kind_of(problem.code)->code;
    if (strcmp(refusal_code, code) != 0 || strcmp(problem.pointer, pointer) != 0 || !strstr(problem.detail, words))
        print_error("%s\n  gave %s at %s: %s\n", text, refusal_code, problem.pointer, problem.detail);
    assert_string_equal(refusal_code, code);
    assert_true(problem.has_pointer);
    assert_string_equal(problem.pointer, pointer);
    assert_non_null(strstr(problem.detail, words));
}

static bool entry_is(const json_t *entry, const char *key, const char *value)
{
    return strcmp(json_string_value(json_object_get(entry, key)), value) == 0;
}

void assert_reported(const api_model *model, const char *code, const char *where)
{
    size_t  i;
    json_t *entry;
    json_array_foreach (model->report, i, entry)
        if (entry_is(entry, "code", code) && entry_is(entry, "where", where)) return;
    char *report = json_dumps(model->report, 0);
    print_error("no %s at %s in %s\n", code, where, report);
    free(report);
    fail();
}

size_t count_reports(const api_model *model, const char *code)
{
    size_t  i, count = 0;
    json_t *entry;
    json_array_foreach (model->report, i, entry)
        count += entry_is(entry, "code", code);
    return count;
}

/* --- kernels --------------------------------------------------------------------------------------------------- */

typedef struct bench {
    const dyn_kernels *kernels;
    dyn_scene          scene;
    void              *workspace;
    double            *array[4];
} bench;

/* Copies the arrays `in` of n[i] entries to memory aligned for the kernels; `array` are the copies. */
static void set_up(bench *b, const api_model *model)
{
    *b = (bench){.kernels = dyn_kernels_find("scalar"), .scene = {.model = model->dyn, .terms = DYN_ALL_TERMS}};
    assert_non_null(b->kernels);
    assert_int_equal(b->kernels->lanes, 1);
    memcpy(b->scene.gravity, model->dyn->gravity, sizeof b->scene.gravity);
    size_t bytes = b->kernels->workspace_size(model->dyn);
    b->workspace = aligned_alloc(DYN_ALIGN, (bytes / DYN_ALIGN + 1) * DYN_ALIGN);
    assert_non_null(b->workspace);
}

static double *take(bench *b, int slot, const double *from, size_t n)
{
    if (!from) return NULL;
    b->array[slot] = aligned_alloc(DYN_ALIGN, (n * sizeof *from / DYN_ALIGN + 1) * DYN_ALIGN);
    assert_non_null(b->array[slot]);
    memcpy(b->array[slot], from, n * sizeof *from);
    return b->array[slot];
}

static void tear_down(bench *b)
{
    free(b->workspace);
    for (int i = 0; i < 4; i++)
        free(b->array[i]);
}

static void run_inverse_dynamics(const api_model *model, const double *q, const double *qd, const double *qdd,
                                 double *tau, double *wrenches)
{
    bench  b;
    size_t n = tau ? model->nv : 6 * model->n_bodies;
    set_up(&b, model);
    double              *out    = take(&b, 3, tau ? tau : wrenches, n);
    dyn_inverse_dynamics arrays = {.q              = take(&b, 0, q, model->nq),
                                   .qd             = take(&b, 1, qd, model->nv),
                                   .qdd            = take(&b, 2, qdd, model->nv),
                                   .tau            = tau ? out : NULL,
                                   .joint_wrenches = tau ? NULL : out};
    b.kernels->inverse_dynamics(&b.scene, b.workspace, &arrays, 1);
    memcpy(tau ? tau : wrenches, out, n * sizeof *out);
    tear_down(&b);
}

void inverse_dynamics(const api_model *model, const double *q, const double *qd, const double *qdd, double *tau)
{
    run_inverse_dynamics(model, q, qd, qdd, tau, NULL);
}

void joint_wrenches(const api_model *model, const double *q, const double *qd, const double *qdd, double *wrenches)
{
    run_inverse_dynamics(model, q, qd, qdd, NULL, wrenches);
}

void mass_matrix(const api_model *model, const double *q, double *M)
{
    bench  b;
    size_t n = model->nv * model->nv;
    set_up(&b, model);
    dyn_mass_matrix arrays = {.q = take(&b, 0, q, model->nq), .mass_matrix = take(&b, 1, M, n)};
    b.kernels->mass_matrix(&b.scene, b.workspace, &arrays, 1);
    memcpy(M, arrays.mass_matrix, n * sizeof *M);
    tear_down(&b);
}

void frame_pose(const api_model *model, const char *frame, const double *q, double position[3], double orientation[4])
{
    bench b;
    int   index = api_model_frame(model, frame, strlen(frame));
    assert_true(index >= 0);
    set_up(&b, model);
    dyn_kinematics arrays = {.q            = take(&b, 0, q, model->nq),
                             .n_frames     = 1,
                             .frames       = &model->frames[index].frame,
                             .positions    = take(&b, 1, position, 3),
                             .orientations = take(&b, 2, orientation, 4)};
    b.kernels->kinematics(&b.scene, b.workspace, &arrays, 1);
    memcpy(position, arrays.positions, 3 * sizeof *position);
    memcpy(orientation, arrays.orientations, 4 * sizeof *orientation);
    tear_down(&b);
}

void assert_close(const double *a, const double *b, size_t n, double tolerance)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(b[i]));
    for (size_t i = 0; i < n; i++) {
        if (fabs(a[i] - b[i]) <= tolerance * largest) continue;
        print_error("entry %zu: %.17g, expected %.17g within %.2g\n", i, a[i], b[i], tolerance * largest);
        fail();
    }
}
