/* robots.c - makes robots and states, and reads the clock, for the benchmark programs (robots.h). */
#define _GNU_SOURCE
#include "robots.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Draws a number from [0, 1) by xorshift64. */
static double uniform(uint64_t *seed)
{
    uint64_t s = *seed;
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    *seed = s;
    return (double)(s >> 11) * 0x1p-53;
}

robot robot_from_file(const char *path)
{
    static char text[1 << 20];
    FILE       *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "bench: cannot read %s (run from the root of the tree)\n", path);
        exit(1);
    }
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    api_problem problem;
    api_problem_clear(&problem);
    json_t    *document = api_json_parse(text, length, 32, &problem);
    api_model *named    = document ? api_model_from_document(document, "robot", 1000, &problem) : NULL;
    json_decref(document);
    if (!named) {
        fprintf(stderr, "bench: %s: %s\n", path, problem.detail);
        exit(1);
    }
    robot r     = {.named = named, .model = named->dyn};
    r.tip       = (dyn_frame){.body = (int)r.model->n_bodies - 1, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    bool floats = r.model->body[0].joint.kind == DYN_FLOATING;
    snprintf(r.label, sizeof r.label, "%.*s, %s%d joints", (int)(strcspn(path + 7, ".")), path + 7,
             floats ? "floating, " : "", r.model->nv - (floats ? 6 : 0));
    return r;
}

static const dyn_inertia kilogram = {.mass = 1, .com = {0.01, 0.02, 0.1}, .about_com = {0.02, 0, 0, 0.02, 0, 0.01}};

/* Makes a revolute link of about one kilogram; its axis is rotated in the plane of two axes of its frame. */
static dyn_link random_link(int parent, int along, uint64_t *seed)
{
    double   turn = uniform(seed);
    dyn_link l    = {.parent = parent, .joint = DYN_REVOLUTE, .ratio = 1};
    l.before = l.after = (dyn_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    l.before.p[0] = 0.05 * uniform(seed), l.before.p[2] = 0.2;
    l.axis[along % 3] = cos(turn), l.axis[(along + 1) % 3] = sin(turn);
    l.inertia = kilogram;
    l.inertia.mass += uniform(seed);
    return l;
}

/* Returns the sine of the angle from one joint axis of a limb to the next: none or a right angle. */
static double limb_sine(int joint)
{
    if (joint % 3 == 0) return 0;
    return joint % 2 ? 1 : -1;
}

/* Makes link `joint` of a limb of a typical machine: its axis is parallel to the previous one or at a right angle, its
 * origin moved along one direction. The first link has any orientation, unless it is on the ground. */
static dyn_link limb_link(int parent, int joint, uint64_t *seed)
{
    dyn_link l      = {.parent = parent, .joint = DYN_REVOLUTE, .ratio = 1, .axis = {0, 0, 1}, .inertia = kilogram};
    bool     anyhow = joint == 0 && parent != DYN_WORLD;
    double   alpha = 3 * (2 * uniform(seed) - 1), gamma = 3 * (2 * uniform(seed) - 1);
    double   sa = anyhow ? sin(alpha) : limb_sine(joint), ca = anyhow ? cos(alpha) : sa == 0;
    double   sg = anyhow ? sin(gamma) : 0, cg = anyhow ? cos(gamma) : 1;
    l.after  = (dyn_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    l.before = (dyn_pose){.R = {{cg, -sg * ca, sg * sa}, {sg, cg * ca, -cg * sa}, {0, sa, ca}}};
    for (int k = 0; k < 3; k++)
        l.before.p[k] = joint == 0 || k == joint % 3 ? 0.15 * (2 * uniform(seed) - 1) : 0;
    l.inertia.mass += uniform(seed);
    return l;
}

static robot built(const dyn_link *links, size_t n, int tip, const char *name)
{
    dyn_description d = {.gravity = {0, 0, -9.81}, .n_links = n, .links = links};
    robot           r = {.tip = {.body = tip, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
    snprintf(r.label, sizeof r.label, "%s, %zu joints", name, n);
    if (dyn_model_build(&d, &r.model, NULL) != DYN_OK) abort();
    return r;
}

typedef dyn_link make_link(int parent, int number, uint64_t *seed);

/* Makes a tree of spine, head, arms and legs. `in_all`: links are numbered through the tree, not within their limb. */
static robot tree(make_link *make, bool in_all, const char *name)
{
    static const struct {
        int joints, parent;
    } limbs[] = {{3, DYN_WORLD}, {2, 2}, {7, 2}, {7, 2}, {6, DYN_WORLD}, {6, DYN_WORLD}};
    dyn_link links[31];
    uint64_t seed = 88172645463325252u;
    int      n    = 0;
    for (size_t l = 0; l < sizeof limbs / sizeof *limbs; l++)
        for (int j = 0; j < limbs[l].joints; j++, n++)
            links[n] = make(j ? n - 1 : limbs[l].parent, in_all ? n : j, &seed);
    return built(links, (size_t)n, 11, name);
}

robot robot_humanoid(void)
{
    return tree(limb_link, false, "humanoid tree");
}

robot robot_general_tree(void)
{
    return tree(random_link, true, "general tree");
}

static robot chain(int joints, const char *name)
{
    static dyn_link links[DYN_MAX_DOF];
    uint64_t        seed = 88172645463325252u;
    for (int j = 0; j < joints; j++)
        links[j] = random_link(j - 1, j, &seed); /* DYN_WORLD is -1 */
    return built(links, (size_t)joints, joints - 1, name);
}

robot robot_general_arm(void)
{
    return chain(7, "general arm");
}

robot robot_chain(int joints)
{
    return chain(joints, "chain");
}

void robot_release(robot *r)
{
    if (r->named)
        api_model_release(r->named);
    else
        dyn_model_free(r->model);
}

void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(DYN_ALIGN, (bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN);
    if (!memory) abort();
    return memset(memory, 0, bytes);
}

/* Draws n random entries of each state, state by state. */
static double *random_entries(size_t n, size_t n_states, size_t lanes, uint64_t seed)
{
    double *a = aligned(n * n_states * sizeof *a);
    for (size_t state = 0; state < n_states; state++)
        for (size_t entry = 0; entry < n; entry++)
            a[(state / lanes * n + entry) * lanes + state % lanes] = 2 * uniform(&seed) - 1;
    return a;
}

/* Normalises the quaternion in q = [x y z, qx qy qz qw, ...] of a floating base. */
static void normalise(double *q, size_t nq, size_t n_states, size_t lanes)
{
    for (size_t state = 0; state < n_states; state++) {
        double *quaternion = q + (state / lanes * nq + 3) * lanes + state % lanes, square = 0;
        for (size_t i = 0; i < 4; i++)
            square += quaternion[i * lanes] * quaternion[i * lanes];
        for (size_t i = 0; i < 4; i++)
            quaternion[i * lanes] /= sqrt(square);
    }
}

void states_prepare(states *s, const dyn_model *m, const dyn_kernels *kernels, size_t n_states, size_t entries)
{
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, lanes = (size_t)kernels->lanes;
    s->q    = random_entries(nq, n_states, lanes, 0x9e3779b97f4a7c15u);
    s->qd   = random_entries(nv, n_states, lanes, 0xbf58476d1ce4e5b9u);
    s->qdd  = random_entries(nv, n_states, lanes, 0x94d049bb133111ebu);
    s->qddd = random_entries(nv, n_states, lanes, 0xd6e8feb86659fd93u);
    s->tau  = random_entries(nv, n_states, lanes, 0xa0761d6478bd642fu);
    if (m->body[0].joint.kind == DYN_FLOATING) normalise(s->q, nq, n_states, lanes);
    for (int i = 0; i < 4; i++)
        s->out[i] = aligned(entries * n_states * sizeof(double));
    s->workspace = aligned(kernels->step_workspace_size(m));
}

void states_release(states *s)
{
    free(s->q), free(s->qd), free(s->qdd), free(s->qddd), free(s->tau);
    for (int i = 0; i < 4; i++)
        free(s->out[i]);
    free(s->workspace);
}

/* Returns the processor time of the thread: other work on the machine prolongs it only through caches and clock
 * rates. */
static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double attempt(void (*pass)(void *what), void *what, long passes)
{
    double start = seconds();
    for (long p = 0; p < passes; p++)
        pass(what);
    return seconds() - start;
}

double ns_per_state(void (*pass)(void *what), void *what, size_t n_states)
{
    for (long passes = 1;; passes *= 2) { /* the first, shorter attempts warm the caches; the faster of two attempts
                                             counts, so that a disturbance does not end the loop early */
        double spent = fmin(attempt(pass, what, passes), attempt(pass, what, passes));
        if (spent >= 5e-4) return spent * 1e9 / ((double)passes * (double)n_states);
    }
}

size_t runs_asked(int argc, char **argv, long otherwise)
{
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : otherwise;
    if (argc <= 2 && runs >= 1 && runs <= MAX_RUNS) return (size_t)runs;
    fprintf(stderr, "usage: %s [RUNS], at most %d\n", argv[0], MAX_RUNS);
    exit(2);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_runs(double *runs, size_t n)
{
    qsort(runs, n, sizeof *runs, ascending);
}

const dyn_kernels *one_lane(void)
{
    const dyn_kernels *fma = dyn_kernels_find("fma");
    return fma ? fma : dyn_kernels_find("scalar");
}
