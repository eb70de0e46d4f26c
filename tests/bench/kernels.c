/* kernels.c - kernels [RUNS]: ns per state of each kernel, robot and vector width, everything in cache.
 *
 * A few blocks of random states go through each kernel again and again; the figures are the least and the median of
 * RUNS (20) runs, which are interleaved over kernels, widths and robots so that a disturbance does not fall on one of
 * them. Prints one line a figure: robot, kernel, target, lanes, least, median. */
#include "robots.h"
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TARGETS = 8, N_ROBOTS = 3, MAX_RUNS = 1000 };

/* One kernel of one robot at one width, and what it has cost so far. */
typedef struct figure {
    const dyn_kernels *kernels;
    const robot       *robot;
    const states      *states;
    dyn_scene          scene;
    size_t             blocks;
    double             ns[MAX_RUNS];
} figure;

static void inverse_dynamics(void *what)
{
    const figure        *f  = what;
    const states        *s  = f->states;
    dyn_inverse_dynamics io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = s->out[0]};
    f->kernels->inverse_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void joint_wrenches(void *what)
{
    const figure        *f  = what;
    const states        *s  = f->states;
    dyn_inverse_dynamics io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = s->out[0], .joint_wrenches = s->out[1]};
    f->kernels->inverse_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void torque_derivative(void *what)
{
    const figure         *f  = what;
    const states         *s  = f->states;
    dyn_torque_derivative io = {
        .q = s->q, .qd = s->qd, .qdd = s->qdd, .qddd = s->qddd, .tau = s->out[0], .tau_dot = s->out[1]};
    f->kernels->torque_derivative(&f->scene, s->workspace, &io, f->blocks);
}

static void sensitivity(void *what)
{
    const figure   *f  = what;
    const states   *s  = f->states;
    dyn_sensitivity io = {
        .q = s->q, .qd = s->qd, .qdd = s->qdd, .dtau_dq = s->out[0], .dtau_dqd = s->out[1], .dtau_dqdd = s->out[2]};
    f->kernels->sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

static void sensitivity_rate(void *what)
{
    const figure        *f  = what;
    const states        *s  = f->states;
    dyn_sensitivity_rate io = {.q             = s->q,
                               .qd            = s->qd,
                               .qdd           = s->qdd,
                               .qddd          = s->qddd,
                               .dtau_dq_dot   = s->out[0],
                               .dtau_dqd_dot  = s->out[1],
                               .dtau_dqdd_dot = s->out[2]};
    f->kernels->sensitivity_rate(&f->scene, s->workspace, &io, f->blocks);
}

static void forward_sensitivity(void *what)
{
    const figure           *f  = what;
    const states           *s  = f->states;
    double *const          *o  = s->out;
    dyn_forward_sensitivity io = {
        .q = s->q, .qd = s->qd, .tau = s->tau, .qdd = o[3], .dqdd_dq = o[0], .dqdd_dqd = o[1], .dqdd_dtau = o[2]};
    f->kernels->forward_sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

static void coriolis_matrix(void *what)
{
    const figure *f  = what;
    dyn_coriolis  io = {.q = f->states->q, .qd = f->states->qd, .coriolis_matrix = f->states->out[0]};
    f->kernels->coriolis(&f->scene, f->states->workspace, &io, f->blocks);
}

static void regressor(void *what)
{
    const figure *f  = what;
    const states *s  = f->states;
    dyn_regressor io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .regressor = s->out[0]};
    f->kernels->regressor(&f->scene, s->workspace, &io, f->blocks);
}

static void forward_dynamics(void *what)
{
    const figure        *f  = what;
    const states        *s  = f->states;
    dyn_forward_dynamics io = {.q = s->q, .qd = s->qd, .tau = s->tau, .qdd = s->out[0], .singular = s->out[1]};
    f->kernels->forward_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void mass_matrix(void *what)
{
    const figure   *f  = what;
    dyn_mass_matrix io = {.q = f->states->q, .mass_matrix = f->states->out[0]};
    f->kernels->mass_matrix(&f->scene, f->states->workspace, &io, f->blocks);
}

static void inverse(void *what)
{
    const figure   *f  = what;
    const states   *s  = f->states;
    dyn_mass_matrix io = {.q = s->q, .mass_matrix = s->out[0], .inverse = s->out[1], .singular = s->out[2]};
    f->kernels->mass_matrix(&f->scene, s->workspace, &io, f->blocks);
}

static void bias(void *what)
{
    const figure *f  = what;
    dyn_bias      io = {.q = f->states->q, .qd = f->states->qd, .bias = f->states->out[0]};
    f->kernels->bias(&f->scene, f->states->workspace, &io, f->blocks);
}

static void kinematics(void *what)
{
    const figure  *f  = what;
    const states  *s  = f->states;
    dyn_kinematics io = {.q            = s->q,
                         .qd           = s->qd,
                         .qdd          = s->qdd,
                         .at           = &f->robot->tip,
                         .jacobian     = s->out[0],
                         .jacobian_dot = s->out[1],
                         .velocity     = s->out[2],
                         .acceleration = s->out[3]};
    f->kernels->kinematics(&f->scene, s->workspace, &io, f->blocks);
}

static void energy(void *what)
{
    const figure *f  = what;
    const states *s  = f->states;
    dyn_energy    io = {.q = s->q, .qd = s->qd, .kinetic = s->out[0], .potential = s->out[1], .com = s->out[2]};
    f->kernels->energy(&f->scene, s->workspace, &io, f->blocks);
}

static const struct {
    const char *name;
    void (*pass)(void *figure);
} kernel[] = {
    {"inverse dynamics", inverse_dynamics},
    {"inverse dynamics and joint wrenches", joint_wrenches},
    {"torque derivative", torque_derivative},
    {"sensitivity: dtau by q, qd, qdd", sensitivity},
    {"sensitivity rate", sensitivity_rate},
    {"forward dynamics", forward_dynamics},
    {"forward sensitivity: qdd, dqdd by q, qd, tau", forward_sensitivity},
    {"mass matrix", mass_matrix},
    {"mass matrix and inverse", inverse},
    {"bias", bias},
    {"Coriolis matrix", coriolis_matrix},
    {"regressor of the bodies' parameters", regressor},
    {"Jacobian, rate, velocity, acceleration", kinematics},
    {"energies, centre of mass", energy},
};
enum { N_KERNELS = sizeof kernel / sizeof *kernel };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(figure *f, const char *name, size_t runs)
{
    qsort(f->ns, runs, sizeof *f->ns, ascending);
    printf("%s\t%s\t%s\t%d\t%.1f\t%.1f\n", f->robot->label, name, f->kernels->target, f->kernels->lanes, f->ns[0],
           f->ns[runs / 2]);
}

static figure figure_of(const robot *r, const states *s, const dyn_kernels *k)
{
    return (figure){.kernels = k,
                    .robot   = r,
                    .states  = s,
                    .scene   = {.model = r->model, .gravity = {0, 0, -9.81}, .terms = DYN_ALL_TERMS},
                    .blocks  = STATES / (size_t)k->lanes};
}

int main(int argc, char **argv)
{
    static figure figures[N_ROBOTS][N_KERNELS][MAX_TARGETS];
    static states all[N_ROBOTS][MAX_TARGETS];
    robot         robots[N_ROBOTS] = {robot_from_file("models/ur5.json"), robot_from_file("models/panda.json"),
                                      robot_humanoid()};
    size_t        targets          = 0;
    long          runs             = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: kernels [RUNS], at most %d\n", MAX_RUNS);
        return 2;
    }
    while (targets < MAX_TARGETS && dyn_kernels_at(targets))
        targets++;

    for (int r = 0; r < N_ROBOTS; r++)
        for (size_t t = 0; t < targets; t++) {
            states_prepare(&all[r][t], robots[r].model, dyn_kernels_at(t));
            for (int i = 0; i < N_KERNELS; i++)
                figures[r][i][t] = figure_of(&robots[r], &all[r][t], dyn_kernels_at(t));
        }
    for (long run = 0; run < runs; run++)
        for (int i = 0; i < N_KERNELS; i++)
            for (int r = 0; r < N_ROBOTS; r++)
                for (size_t t = 0; t < targets; t++)
                    figures[r][i][t].ns[run] = ns_per_state(kernel[i].pass, &figures[r][i][t]);
    for (int r = 0; r < N_ROBOTS; r++)
        for (int i = 0; i < N_KERNELS; i++)
            for (size_t t = 0; t < targets; t++)
                print(&figures[r][i][t], kernel[i].name, (size_t)runs);

    for (int r = 0; r < N_ROBOTS; r++) {
        for (size_t t = 0; t < targets; t++)
            states_release(&all[r][t]);
        robot_release(&robots[r]);
    }
    return 0;
}
