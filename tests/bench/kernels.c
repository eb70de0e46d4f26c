/* kernels.c - kernels [RUNS]: ns per state of each kernel, robot and vector width, everything in cache.
 *
 * A few blocks of random states go through each kernel again and again; the figure is the least of RUNS (20) runs,
 * which are interleaved over kernels, widths and robots so that a disturbance does not fall on one of them. Prints
 * one line a figure: robot, kernel, target, lanes, ns. */
#define _GNU_SOURCE
#include "api/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STATES = 32, MAX_TARGETS = 8, N_ROBOTS = 3, N_KERNELS = 8 };

typedef struct robot {
    char       label[64];
    dyn_model *model;
    api_model *named; /* owner of `model`, or NULL: then the robot owns it */
    dyn_frame  tip;
} robot;

/* States and results of one robot at one width: what some kernel reads, and room for what it writes. */
typedef struct arrays {
    double *q, *qd, *qdd, *tau;
    double *out[4]; /* each large enough for a matrix */
    void   *workspace;
} arrays;

static void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(DYN_ALIGN, (bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN);
    if (!memory) abort();
    return memset(memory, 0, bytes);
}

static double uniform(void)
{
    static uint64_t s = 88172645463325252u; /* xorshift64 */
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    return (double)(s >> 11) * 0x1p-53;
}

static double *doubles(size_t entries, bool random)
{
    double *a = aligned(entries * STATES * sizeof *a);
    for (size_t i = 0; random && i < entries * STATES; i++)
        a[i] = 2 * uniform() - 1;
    return a;
}

static void prepare(arrays *a, const dyn_model *m, const dyn_kernels *kernels)
{
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    a->q   = doubles(nq, true);
    a->qd  = doubles(nv, true);
    a->qdd = doubles(nv, true);
    a->tau = doubles(nv, true);
    for (int i = 0; i < 4; i++)
        a->out[i] = doubles(nv * (nv + 6), false);
    a->workspace = aligned(kernels->workspace_size(m));
}

static void release(arrays *a)
{
    free(a->q), free(a->qd), free(a->qdd), free(a->tau);
    for (int i = 0; i < 4; i++)
        free(a->out[i]);
    free(a->workspace);
}

static const char *const kernel_names[N_KERNELS] = {
    "inverse dynamics",
    "inverse dynamics and joint wrenches",
    "forward dynamics",
    "mass matrix",
    "mass matrix and inverse",
    "bias",
    "Jacobian, rate, velocity, acceleration",
    "energies, centre of mass",
};

static void call(int kernel, const dyn_kernels *k, const robot *r, const arrays *a, size_t blocks)
{
    double *const       *out   = a->out;
    dyn_scene            scene = {.model = r->model, .gravity = {0, 0, -9.81}, .terms = DYN_ALL_TERMS};
    dyn_inverse_dynamics id    = {.q = a->q, .qd = a->qd, .qdd = a->qdd, .tau = out[0]};
    dyn_forward_dynamics fd    = {.q = a->q, .qd = a->qd, .tau = a->tau, .qdd = out[0], .singular = out[1]};
    dyn_mass_matrix      mm    = {.q = a->q, .mass_matrix = out[0]};
    dyn_bias             bias  = {.q = a->q, .qd = a->qd, .bias = out[0]};
    dyn_energy           e     = {.q = a->q, .qd = a->qd, .kinetic = out[0], .potential = out[1], .com = out[2]};
    dyn_kinematics       kin   = {.q            = a->q,
                                  .qd           = a->qd,
                                  .qdd          = a->qdd,
                                  .at           = &r->tip,
                                  .jacobian     = out[0],
                                  .jacobian_dot = out[1],
                                  .velocity     = out[2],
                                  .acceleration = out[3]};
    switch (kernel) {
    case 1: id.joint_wrenches = out[1]; /* fall through */
    case 0: k->inverse_dynamics(&scene, a->workspace, &id, blocks); break;
    case 2: k->forward_dynamics(&scene, a->workspace, &fd, blocks); break;
    case 4: mm.inverse = out[1], mm.singular = out[2]; /* fall through */
    case 3: k->mass_matrix(&scene, a->workspace, &mm, blocks); break;
    case 5: k->bias(&scene, a->workspace, &bias, blocks); break;
    case 6: k->kinematics(&scene, a->workspace, &kin, blocks); break;
    default: k->energy(&scene, a->workspace, &e, blocks); break;
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ns per state: enough passes over the states for about half a millisecond. */
static double measure(int kernel, const dyn_kernels *k, const robot *r, const arrays *a)
{
    size_t blocks = STATES / (size_t)k->lanes;
    double start  = seconds(), spent;
    int    passes = 0;
    do {
        call(kernel, k, r, a, blocks);
        passes++;
        spent = seconds() - start;
    } while (spent < 5e-4);
    return spent * 1e9 / passes / STATES;
}

static void load_robot(robot *r, const char *path)
{
    static char text[1 << 20];
    FILE       *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "kernels: cannot read %s (run from the root of the tree)\n", path);
        exit(1);
    }
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    api_problem problem;
    api_problem_clear(&problem);
    json_t *document = api_json_parse(text, length, 32, &problem);
    r->named         = document ? api_model_from_document(document, "robot", 1000, &problem) : NULL;
    json_decref(document);
    if (!r->named) {
        fprintf(stderr, "kernels: %s: %s\n", path, problem.detail);
        exit(1);
    }
    r->model = r->named->dyn;
    r->tip   = (dyn_frame){.body = (int)r->model->n_bodies - 1, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    snprintf(r->label, sizeof r->label, "%.*s, %d joints", (int)(strcspn(path + 7, ".")), path + 7, r->model->nv);
}

/* 31 revolute joints as a humanoid has them: spine 3, head 2, arms 2 x 7, legs 2 x 6; axes in all directions. */
static void make_humanoid(robot *r)
{
    static const struct {
        int joints, parent;
    } chains[] = {{3, DYN_WORLD}, {2, 2}, {7, 2}, {7, 2}, {6, DYN_WORLD}, {6, DYN_WORLD}};
    dyn_link links[31];
    int      n = 0;
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int j = 0; j < chains[c].joints; j++, n++) {
            dyn_link *l    = &links[n];
            double    turn = uniform();
            *l             = (dyn_link){.parent = j ? n - 1 : chains[c].parent, .joint = DYN_REVOLUTE, .ratio = 1};
            l->before = l->after = (dyn_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
            l->before.p[0] = 0.05 * uniform(), l->before.p[2] = 0.2;
            l->axis[n % 3] = cos(turn), l->axis[(n + 1) % 3] = sin(turn);
            l->inertia = (dyn_inertia){
                .mass = 1 + uniform(), .com = {0.01, 0.02, 0.1}, .about_com = {0.02, 0, 0, 0.02, 0, 0.01}};
        }
    dyn_description d = {.gravity = {0, 0, -9.81}, .n_links = (size_t)n, .links = links};
    if (dyn_model_build(&d, &r->model, NULL) != DYN_OK) abort();
    r->tip = (dyn_frame){.body = 11, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    snprintf(r->label, sizeof r->label, "humanoid tree, %d joints", r->model->nv);
}

int main(int argc, char **argv)
{
    robot  robots[N_ROBOTS] = {0};
    arrays states[N_ROBOTS][MAX_TARGETS];
    double least[N_ROBOTS][MAX_TARGETS][N_KERNELS];
    size_t targets = 0;
    long   runs    = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    load_robot(&robots[0], "models/ur5.json");
    load_robot(&robots[1], "models/panda.json");
    make_humanoid(&robots[2]);
    while (targets < MAX_TARGETS && dyn_kernels_at(targets))
        targets++;

    for (int r = 0; r < N_ROBOTS; r++)
        for (size_t t = 0; t < targets; t++)
            prepare(&states[r][t], robots[r].model, dyn_kernels_at(t));
    for (long run = 0; run < runs; run++)
        for (int k = 0; k < N_KERNELS; k++)
            for (int r = 0; r < N_ROBOTS; r++)
                for (size_t t = 0; t < targets; t++) {
                    double ns = measure(k, dyn_kernels_at(t), &robots[r], &states[r][t]);
                    if (run == 0 || ns < least[r][t][k]) least[r][t][k] = ns;
                }
    for (int r = 0; r < N_ROBOTS; r++)
        for (int k = 0; k < N_KERNELS; k++)
            for (size_t t = 0; t < targets; t++)
                printf("%s\t%s\t%s\t%d\t%.1f\n", robots[r].label, kernel_names[k], dyn_kernels_at(t)->target,
                       dyn_kernels_at(t)->lanes, least[r][t][k]);

    for (int r = 0; r < N_ROBOTS; r++) {
        for (size_t t = 0; t < targets; t++)
            release(&states[r][t]);
        if (robots[r].named)
            api_model_release(robots[r].named);
        else
            dyn_model_free(robots[r].model);
    }
    return 0;
}
