/* calibration.c - see calibration.h. Each figure is the minimum over a few short runs, because other programs can only
 * add time. */
#include "calibration.h"
#include "api/codec/emit.h"
#include "api/codec/json.h"
#include "api/codec/nodes/node_read.h"
#include "api/codec/compress.h"
#include "api/base/work/deadline.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, NUMBERS = 1000, BODIES = 8, BLOCKS = 16 };

static double now(void)
{
    return 1e-9 * (double)api_now();
}

static double smaller(double a, double b)
{
    return b < a ? b : a;
}

/* Writes an array of numbers with 16 or 17 significant digits, as sensors and planners send them. */
static void sample(api_media media, api_buffer *b)
{
    api_emit e;
    api_emit_init(&e, media, b);
    double numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (double)(i + 1) / 7;
    api_emit_numbers(&e, numbers, 1, (size_t[]){NUMBERS});
}

static void measure_coding(const api_buffer *text, api_coding coding, api_calibration *calibration)
{
    api_buffer  b;
    api_problem problem;
    api_problem_clear(&problem);
    api_buffer_init(&b, api_compress_bound(coding, text->length));
    double start = now();
    if (api_compress(coding, text->data, text->length, NULL, &b, &problem))
        calibration->compress[coding] = smaller(calibration->compress[coding], (now() - start) / (double)text->length);
    api_buffer_free(&b);
}

static void measure_write(api_media format, api_buffer *b, api_calibration *calibration)
{
    api_buffer_init(b, 64 * NUMBERS);
    double start = now();
    sample(format, b);
    calibration->write[format] = smaller(calibration->write[format], (now() - start) / NUMBERS);
}

static void measure_read(api_media format, const api_buffer *b, api_calibration *calibration)
{
    api_problem      problem = {0};
    api_scratch      scratch = {0};
    api_budget       budget  = {.limit = SIZE_MAX};
    api_share        share   = {.budget = &budget};
    api_pool         pool    = {&share, &scratch, &problem, 0, 0};
    api_read_options how     = {.pool = &pool, .nesting = 4};
    api_node         root;
    double           numbers[NUMBERS], start = now();
    if (!b->failed && api_read_request(&how, format, b->data, b->length, &root)) {
        api_node_numbers(&root, 0, NUMBERS, numbers);
        calibration->read[format] = smaller(calibration->read[format], (now() - start) / (double)b->length);
    }
    api_scratch_free(&scratch);
}

static void measure_parse(const api_buffer *b, api_calibration *calibration)
{
    api_problem problem;
    api_problem_clear(&problem);
    double  start = now();
    json_t *read  = b->failed ? NULL : api_json_parse(b->data, b->length, 2, &problem);
    json_decref(read);
    if (read) calibration->parse = smaller(calibration->parse, (now() - start) / (double)b->length);
}

static void measure_text(api_calibration *calibration)
{
    for (int run = 0; run < RUNS; run++) {
        api_buffer b;
        for (api_media format = API_FORMAT_COUNT;
             format-- > 0;) { /* JSON is format 0 and thus measured last: its text is used below */
            measure_write(format, &b, calibration);
            measure_read(format, &b, calibration);
            if (format > 0) api_buffer_free(&b);
        }
        measure_parse(&b, calibration);
        for (api_coding coding = API_CODING_ZSTD; !b.failed && coding < API_CODING_COUNT; coding++)
            measure_coding(&b, coding, calibration);
        api_buffer_free(&b);
    }
}

/* Builds a serial chain of BODIES links of unit mass with revolute joints about the axes x, y, z in turn. */
static dyn_model *chain(void)
{
    const dyn_pose  none = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link        links[BODIES];
    dyn_description description = {.gravity = {0, 0, -9.81}, .n_links = BODIES, .links = links};
    dyn_model      *model       = NULL;
    for (int i = 0; i < BODIES; i++) {
        links[i] = (dyn_link){.parent = i - 1, .joint = DYN_REVOLUTE, .before = none, .after = none, .ratio = 1};
        links[i].axis[i % 3] = 1;
        links[i].before.p[2] = 0.2;
        links[i].inertia     = (dyn_inertia){.mass = 1, .about_com = {0.1, 0, 0, 0.1, 0, 0.1}};
    }
    return dyn_model_build(&description, &model, NULL) == DYN_OK ? model : NULL;
}

static void measure_kernel(const dyn_kernels *kernels, api_calibration *calibration)
{
    dyn_model *model  = chain();
    size_t     states = (size_t)(BLOCKS * kernels->lanes), bytes = states * BODIES * sizeof(double);
    double    *q = aligned_alloc(DYN_ALIGN, bytes), *tau = aligned_alloc(DYN_ALIGN, bytes);
    size_t     workspace_bytes = model ? kernels->workspace_size(model) : 0;
    void      *workspace       = aligned_alloc(DYN_ALIGN, (workspace_bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN);
    if (model && q && tau && workspace) {
        dyn_scene            scene = {.model = model, .gravity = {0, 0, -9.81}, .terms = DYN_ALL_TERMS};
        dyn_inverse_dynamics io    = {.q = q, .qd = q, .qdd = q, .tau = tau};
        for (size_t i = 0; i < states * BODIES; i++)
            q[i] = 0.5;
        for (int run = 0; run < RUNS; run++) {
            double start = now();
            kernels->inverse_dynamics(&scene, workspace, &io, BLOCKS);
            calibration->body = smaller(calibration->body, (now() - start) / (double)(states * BODIES));
        }
    }
    free(workspace);
    free(tau);
    free(q);
    dyn_model_free(model);
}

api_calibration api_calibrate(const dyn_kernels *kernels)
{
    api_calibration calibration = {/* defaults, which a measurement only lowers */
                                   .parse    = 100e-9,
                                   .compress = {[API_CODING_ZSTD] = 50e-9, [API_CODING_GZIP] = 100e-9},
                                   .body     = 100e-9};
    for (int format = 0; format < API_FORMAT_COUNT; format++) {
        calibration.read[format]  = 100e-9;
        calibration.write[format] = 200e-9;
    }
    measure_text(&calibration);
    measure_kernel(kernels, &calibration);
    return calibration;
}
