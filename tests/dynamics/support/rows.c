/* rows.c - copies rows into blocks, runs a kernel, and checks the memory behind its outputs (rows.h). */
#include "rows.h"
#include "check.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUARD = 256
}; /* number of guard bytes after every array; these and the array itself are first set to 0xff (a
      NaN) */

/* Describes one array member of the struct of a kernel's arguments. */
typedef struct port {
    size_t offset;
    bool   in;
    size_t entries; /* doubles per state */
} port;

#define IN(type, field, entries)                                                                                       \
    {                                                                                                                  \
        offsetof(type, field), true, entries                                                                           \
    }
#define OUT(type, field, entries)                                                                                      \
    {                                                                                                                  \
        offsetof(type, field), false, entries                                                                          \
    }

static char *guarded(size_t bytes)
{
    size_t whole = (bytes + GUARD + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    char  *p     = aligned_alloc(DYN_ALIGN, whole);
    assert_non_null(p);
    memset(p, 0xff, whole);
    return p;
}

static void free_guarded(char *p, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++)
        if ((unsigned char)p[bytes + i] != 0xff)
            fail_msg("byte %zu behind an array of %zu bytes was written", i, bytes);
    free(p);
}

static size_t block_bytes(const dyn_kernels *k, size_t rows, size_t entries)
{
    size_t lanes = (size_t)k->lanes, blocks = (rows + lanes - 1) / lanes;
    return blocks * lanes * entries * sizeof(double);
}

static size_t slot(const dyn_kernels *k, size_t entries, size_t row, size_t entry)
{
    size_t lanes = (size_t)k->lanes;
    return (row / lanes * entries + entry) * lanes + row % lanes;
}

/* Replaces the rows of one port by blocks; returns the rows for `blocks_to_rows`. */
static double *rows_to_blocks(const dyn_kernels *k, size_t rows, port p, char *io)
{
    double *from, *to;
    memcpy(&from, io + p.offset, sizeof from);
    if (!from) return NULL;
    size_t bytes = block_bytes(k, rows, p.entries), places = p.entries ? bytes / sizeof(double) / p.entries : 0;
    to = (double *)(void *)guarded(bytes);
    for (size_t r = 0; p.in && r < places; r++)
        for (size_t e = 0; e < p.entries; e++)
            to[slot(k, p.entries, r, e)] = from[(r < rows ? r : rows - 1) * p.entries + e];
    memcpy(io + p.offset, &to, sizeof to);
    return from;
}

static void blocks_to_rows(const dyn_kernels *k, size_t rows, port p, const char *io, double *to)
{
    double *from;
    if (!to) return;
    memcpy(&from, io + p.offset, sizeof from);
    for (size_t r = 0; !p.in && r < rows; r++)
        for (size_t e = 0; e < p.entries; e++)
            to[r * p.entries + e] = from[slot(k, p.entries, r, e)];
    free_guarded((char *)from, block_bytes(k, rows, p.entries));
}

#define COUNT(ports) (sizeof(ports) / sizeof(ports)[0])
#define MAX_PORTS    24

/* Stops the compiler where a kernel's struct, all of whose members are pointers, has one that `ports` lacks: the kernel
 * would write lanes into rows, beyond their end. */
#define EVERY_POINTER_IS_LISTED(io, ports)                                                                             \
    _Static_assert(COUNT(ports) * sizeof(double *) == sizeof(io), "each array of the kernel's struct is in ports")

#define RUN(name, k, scene, rows, io, ports) RUN_KERNEL((k)->name, k, scene, rows, io, ports)

/* Runs a kernel on `io`, whose pointers are listed in `ports`, in a workspace of so many bytes. */
#define RUN_IN(bytes, kernel, k, scene, rows, io, ports)                                                               \
    do {                                                                                                               \
        double *plain[MAX_PORTS];                                                                                      \
        size_t  size      = (bytes);                                                                                   \
        char   *workspace = guarded(size);                                                                             \
        for (size_t i = 0; i < COUNT(ports); i++)                                                                      \
            plain[i] = rows_to_blocks(k, rows, (ports)[i], (char *)&(io));                                             \
        (kernel)(scene, workspace, &(io), ((rows) + (size_t)(k)->lanes - 1) / (size_t)(k)->lanes);                     \
        for (size_t i = 0; i < COUNT(ports); i++)                                                                      \
            blocks_to_rows(k, rows, (ports)[i], (const char *)&(io), plain[i]);                                        \
        free_guarded(workspace, size);                                                                                 \
    } while (0)
#define RUN_KERNEL(kernel, k, scene, rows, io, ports)                                                                  \
    RUN_IN((k)->workspace_size((scene)->model), kernel, k, scene, rows, io, ports)
#define RUN_STEP_KERNEL(kernel, k, scene, rows, io, ports)                                                             \
    RUN_IN((k)->step_workspace_size((scene)->model), kernel, k, scene, rows, io, ports)

#define SIZES                                                                                                          \
    size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv;                                               \
    (void)nq, (void)nv

#define STATE_AND_TAU(type)                                                                                            \
    IN(type, q, nq), IN(type, qd, nv), IN(type, tau, nv), IN(type, wrenches, 9 * scene->n_wrenches)

/* The inputs of a kernel along directions of q, qd and tau. */
#define DIRECTIONS(type)                                                                                               \
    IN(type, direction_q, io.n *nv), IN(type, direction_qd, io.n *nv), IN(type, direction_tau, io.n *nv)

#define PRODUCTS(type) OUT(type, product_q, io.n *nv), OUT(type, product_qd, io.n *nv), OUT(type, product_tau, io.n *nv)

void rows_inverse_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_inverse_dynamics io)
{
    SIZES;
    const port ports[] = {
        IN(dyn_inverse_dynamics, q, nq),    IN(dyn_inverse_dynamics, qd, nv),
        IN(dyn_inverse_dynamics, qdd, nv),  IN(dyn_inverse_dynamics, wrenches, 9 * scene->n_wrenches),
        OUT(dyn_inverse_dynamics, tau, nv), OUT(dyn_inverse_dynamics, joint_wrenches, 6 * scene->model->n_rows)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(inverse_dynamics, k, scene, rows, io, ports);
}

void rows_forward_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_dynamics io)
{
    SIZES;
    const port ports[] = {STATE_AND_TAU(dyn_forward_dynamics), IN(dyn_forward_dynamics, driven_qdd, nv),
                          OUT(dyn_forward_dynamics, qdd, nv), OUT(dyn_forward_dynamics, singular, 1)};
    RUN(forward_dynamics, k, scene, rows, io, ports);
}

void rows_mass_matrix(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_mass_matrix io)
{
    SIZES;
    const port ports[] = {IN(dyn_mass_matrix, q, nq), OUT(dyn_mass_matrix, mass_matrix, nv * nv),
                          OUT(dyn_mass_matrix, inverse, nv * nv), OUT(dyn_mass_matrix, singular, 1)};
    RUN(mass_matrix, k, scene, rows, io, ports);
}

void rows_bias(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_bias io)
{
    SIZES;
    const port ports[] = {
        IN(dyn_bias, q, nq),        IN(dyn_bias, qd, nv),        IN(dyn_bias, wrenches, 9 * scene->n_wrenches),
        OUT(dyn_bias, bias, nv),    OUT(dyn_bias, coriolis, nv), OUT(dyn_bias, gravity, nv),
        OUT(dyn_bias, friction, nv)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(bias, k, scene, rows, io, ports);
}

void rows_kinematics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_kinematics io)
{
    SIZES;
    const port ports[] = {IN(dyn_kinematics, q, nq),
                          IN(dyn_kinematics, qd, nv),
                          IN(dyn_kinematics, qdd, nv),
                          IN(dyn_kinematics, qddd, nv),
                          OUT(dyn_kinematics, positions, 3 * io.n_frames),
                          OUT(dyn_kinematics, orientations, 4 * io.n_frames),
                          OUT(dyn_kinematics, jacobian, 6 * nv),
                          OUT(dyn_kinematics, jacobian_dot, 6 * nv),
                          OUT(dyn_kinematics, velocity, 6),
                          OUT(dyn_kinematics, acceleration, 6),
                          OUT(dyn_kinematics, jerk, 6)};
    RUN(kinematics, k, scene, rows, io, ports);
}

void rows_energy(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_energy io)
{
    SIZES;
    const port ports[] = {IN(dyn_energy, q, nq),
                          IN(dyn_energy, qd, nv),
                          OUT(dyn_energy, kinetic, 1),
                          OUT(dyn_energy, potential, 1),
                          OUT(dyn_energy, com, 3),
                          OUT(dyn_energy, com_velocity, 3),
                          OUT(dyn_energy, com_jacobian, 3 * nv),
                          OUT(dyn_energy, momentum, 6),
                          OUT(dyn_energy, momentum_matrix, 6 * nv),
                          OUT(dyn_energy, centroidal_inertia, 9)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(energy, k, scene, rows, io, ports);
}

void rows_energy_regressor(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_energy_regressor io)
{
    SIZES;
    const dyn_model *m       = scene->model;
    const port       ports[] = {IN(dyn_energy_regressor, q, nq),
                                IN(dyn_energy_regressor, qd, nv),
                                OUT(dyn_energy_regressor, kinetic, 10 * m->n_rows),
                                OUT(dyn_energy_regressor, potential, 10 * m->n_rows),
                                OUT(dyn_energy_regressor, momentum, 60 * m->n_rows),
                                OUT(dyn_energy_regressor, joint_kinetic, 3 * m->n_movers),
                                OUT(dyn_energy_regressor, joint_momentum, 18 * m->n_movers)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(energy_regressor, k, scene, rows, io, ports);
}

void rows_centroidal(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_centroidal io)
{
    SIZES;
    const port ports[] = {IN(dyn_centroidal, q, nq),
                          IN(dyn_centroidal, qd, nv),
                          IN(dyn_centroidal, qdd, nv),
                          IN(dyn_centroidal, qddd, nv),
                          OUT(dyn_centroidal, com_acceleration, 3),
                          OUT(dyn_centroidal, com_jerk, 3),
                          OUT(dyn_centroidal, momentum_rate, 6),
                          OUT(dyn_centroidal, momentum_matrix_dot, 6 * nv),
                          OUT(dyn_centroidal, momentum_by_q, 6 * nv),
                          OUT(dyn_centroidal, rate_by_q, 6 * nv),
                          OUT(dyn_centroidal, rate_by_qd, 6 * nv)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(centroidal, k, scene, rows, io, ports);
}

void rows_torque_derivative(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_torque_derivative io)
{
    SIZES;
    const port ports[] = {IN(dyn_torque_derivative, q, nq),
                          IN(dyn_torque_derivative, qd, nv),
                          IN(dyn_torque_derivative, qdd, nv),
                          IN(dyn_torque_derivative, qddd, nv),
                          IN(dyn_torque_derivative, wrenches, 9 * scene->n_wrenches),
                          IN(dyn_torque_derivative, wrench_rates, 6 * scene->n_wrenches),
                          OUT(dyn_torque_derivative, tau, nv),
                          OUT(dyn_torque_derivative, tau_dot, nv),
                          OUT(dyn_torque_derivative, joint_wrenches, 6 * scene->model->n_rows),
                          OUT(dyn_torque_derivative, joint_wrench_rates, 6 * scene->model->n_rows)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(torque_derivative, k, scene, rows, io, ports);
}

void rows_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_sensitivity io)
{
    SIZES;
    size_t     nw = scene->n_wrenches, nj = 6 * scene->model->n_rows * nv;
    const port ports[] = {IN(dyn_sensitivity, q, nq),
                          IN(dyn_sensitivity, qd, nv),
                          IN(dyn_sensitivity, qdd, nv),
                          IN(dyn_sensitivity, wrenches, 9 * nw),
                          OUT(dyn_sensitivity, dtau_dq, nv * nv),
                          OUT(dyn_sensitivity, dtau_dqd, nv * nv),
                          OUT(dyn_sensitivity, dtau_dqdd, nv * nv),
                          OUT(dyn_sensitivity, djoint_wrenches_dq, nj),
                          OUT(dyn_sensitivity, djoint_wrenches_dqd, nj),
                          OUT(dyn_sensitivity, djoint_wrenches_dqdd, nj),
                          OUT(dyn_sensitivity, dtau_dwrench, nw * nv * 6),
                          OUT(dyn_sensitivity, dtau_dgravity, nv * 3)};
    RUN(sensitivity, k, scene, rows, io, ports);
}

void rows_sensitivity_rate(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_sensitivity_rate io)
{
    SIZES;
    const port ports[] = {IN(dyn_sensitivity_rate, q, nq),
                          IN(dyn_sensitivity_rate, qd, nv),
                          IN(dyn_sensitivity_rate, qdd, nv),
                          IN(dyn_sensitivity_rate, qddd, nv),
                          IN(dyn_sensitivity_rate, wrenches, 9 * scene->n_wrenches),
                          OUT(dyn_sensitivity_rate, dtau_dq_dot, nv * nv),
                          OUT(dyn_sensitivity_rate, dtau_dqd_dot, nv * nv),
                          OUT(dyn_sensitivity_rate, dtau_dqdd_dot, nv * nv)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(sensitivity_rate, k, scene, rows, io, ports);
}

void rows_forward_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_sensitivity io)
{
    SIZES;
    size_t     nw      = scene->n_wrenches;
    const port ports[] = {IN(dyn_forward_sensitivity, q, nq),
                          IN(dyn_forward_sensitivity, qd, nv),
                          IN(dyn_forward_sensitivity, tau, nv),
                          IN(dyn_forward_sensitivity, wrenches, 9 * nw),
                          OUT(dyn_forward_sensitivity, qdd, nv),
                          OUT(dyn_forward_sensitivity, dqdd_dq, nv * nv),
                          OUT(dyn_forward_sensitivity, dqdd_dqd, nv * nv),
                          OUT(dyn_forward_sensitivity, dqdd_dtau, nv * nv),
                          OUT(dyn_forward_sensitivity, dqdd_dwrench, nw * nv * 6),
                          OUT(dyn_forward_sensitivity, singular, 1)};
    RUN(forward_sensitivity, k, scene, rows, io, ports);
}

void rows_hessian(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_hessian io)
{
    SIZES;
    const size_t n       = io.multipliers ? nv * nv : nv * nv * nv;
    const port   ports[] = {IN(dyn_hessian, q, nq),           IN(dyn_hessian, qd, nv),
                            IN(dyn_hessian, qdd, nv),         IN(dyn_hessian, wrenches, 9 * scene->n_wrenches),
                            IN(dyn_hessian, multipliers, nv), OUT(dyn_hessian, q_q, n),
                            OUT(dyn_hessian, q_qd, n),        OUT(dyn_hessian, q_qdd, n),
                            OUT(dyn_hessian, qd_qd, n),       OUT(dyn_hessian, qd_qdd, n)};
    RUN_KERNEL(k->hessian, k, scene, rows, io, ports);
}

void rows_forward_hessian(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_hessian io)
{
    SIZES;
    const size_t n = io.multipliers ? nv * nv : nv * nv * nv, entries = dyn_forward_hessian_work(scene->model);
    double      *work  = calloc(rows * entries, sizeof *work);
    io.n               = nv;
    const port ports[] = {STATE_AND_TAU(dyn_forward_hessian),   IN(dyn_forward_hessian, multipliers, nv),
                          OUT(dyn_forward_hessian, q_q, n),     OUT(dyn_forward_hessian, q_qd, n),
                          OUT(dyn_forward_hessian, qd_qd, n),   OUT(dyn_forward_hessian, q_tau, n),
                          OUT(dyn_forward_hessian, qd_tau, n),  OUT(dyn_forward_hessian, work, entries),
                          OUT(dyn_forward_hessian, singular, 1)};
    assert_non_null(work);
    io.work = work;
    RUN_KERNEL(k->forward_hessian, k, scene, rows, io, ports);
    free(work);
}

void rows_torque_series(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_torque_series io)
{
    SIZES;
    const size_t order = (size_t)io.order, entries = dyn_torque_series_work(scene->model, io.order);
    double      *work    = calloc(rows * entries, sizeof *work);
    const port   ports[] = {IN(dyn_torque_series, motion, nq + (order + 2) * nv),
                            IN(dyn_torque_series, wrenches, 9 * scene->n_wrenches),
                            OUT(dyn_torque_series, tau, (order + 1) * nv), OUT(dyn_torque_series, work, entries)};
    assert_non_null(work);
    io.work = work;
    assert_non_null(k->torque_series);
    RUN_KERNEL(k->torque_series, k, scene, rows, io, ports);
    free(work);
}

size_t step_work(const dyn_scene *scene, const dyn_step *io)
{
    size_t inputs = dyn_step_inputs(scene, io->wrench_matrix, io->parameter_matrix), k = 0;
    size_t entries = dyn_step_work(scene->model, io->method, inputs);
    for (size_t i = 0; i < io->n_held; i++)
        k += io->held[i].n;
    k += io->n_stopping;
    if (k > 0) entries += dyn_step_held_work(scene->model, scene->n_wrenches, io->n_held, k);
    return entries + (io->impact ? dyn_step_impact_work(scene->model) : 0);
}

void rows_step(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step io)
{
    SIZES;
    size_t     entries = step_work(scene, &io);
    double    *work    = calloc(rows * entries, sizeof *work);
    const port ports[] = {STATE_AND_TAU(dyn_step),
                          IN(dyn_step, stops, io.n_stopping),
                          OUT(dyn_step, q_after, nq),
                          OUT(dyn_step, qd_after, nv),
                          OUT(dyn_step, state_matrix, 4 * nv * nv),
                          OUT(dyn_step, input_matrix, 2 * nv * nv),
                          OUT(dyn_step, wrench_matrix, 12 * scene->n_wrenches * nv),
                          OUT(dyn_step, parameter_matrix, 20 * scene->model->n_rows * nv),
                          OUT(dyn_step, work, entries),
                          OUT(dyn_step, singular, 1),
                          OUT(dyn_step, unsolved, 1),
                          OUT(dyn_step, contradictory, 1)};
    assert_non_null(work);
    io.work = work;
    assert_non_null(k->step);
    RUN_KERNEL(k->step, k, scene, rows, io, ports);
    free(work);
}

void rows_coriolis(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_coriolis io)
{
    SIZES;
    const port ports[] = {IN(dyn_coriolis, q, nq), IN(dyn_coriolis, qd, nv),
                          OUT(dyn_coriolis, coriolis_matrix, nv * nv), OUT(dyn_coriolis, christoffel, nv * nv * nv)};
    RUN(coriolis, k, scene, rows, io, ports);
}

void rows_reference_dynamics(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_reference_dynamics io)
{
    SIZES;
    const port ports[] = {IN(dyn_reference_dynamics, q, nq),
                          IN(dyn_reference_dynamics, qd, nv),
                          IN(dyn_reference_dynamics, qd_reference, nv),
                          IN(dyn_reference_dynamics, qdd_reference, nv),
                          IN(dyn_reference_dynamics, wrenches, 9 * scene->n_wrenches),
                          OUT(dyn_reference_dynamics, tau, nv)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN(reference_dynamics, k, scene, rows, io, ports);
}

void rows_regressor(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_regressor io)
{
    SIZES;
    const dyn_model *m       = scene->model;
    const port       ports[] = {IN(dyn_regressor, q, nq),
                                IN(dyn_regressor, qd, nv),
                                IN(dyn_regressor, qdd, nv),
                                IN(dyn_regressor, qd_reference, nv),
                                IN(dyn_regressor, qdd_reference, nv),
                                IN(dyn_regressor, wrenches, 9 * scene->n_wrenches),
                                IN(dyn_regressor, qddd, nv),
                                OUT(dyn_regressor, regressor, nv * 10 * m->n_rows),
                                OUT(dyn_regressor, regressor_dot, nv * 10 * m->n_rows),
                                OUT(dyn_regressor, joint_regressor, nv * 3 * m->n_movers)};
    RUN(regressor, k, scene, rows, io, ports);
}

void rows_closure(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_closure io)
{
    SIZES;
    size_t     n       = io.n_pairs;
    const port ports[] = {IN(dyn_closure, q, nq),
                          IN(dyn_closure, qd, nv),
                          IN(dyn_closure, qdd, nv),
                          OUT(dyn_closure, positions, 3 * n),
                          OUT(dyn_closure, rotations, 9 * n),
                          OUT(dyn_closure, jacobian, 6 * n * nv),
                          OUT(dyn_closure, jacobian_dot, 6 * n * nv),
                          OUT(dyn_closure, jacobian_ddot, 6 * n * nv)};
    RUN(closure, k, scene, rows, io, ports);
}

void rows_frame_sensitivity(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_frame_sensitivity io)
{
    SIZES;
    const port ports[] = {IN(dyn_frame_sensitivity, q, nq),
                          IN(dyn_frame_sensitivity, qd, nv),
                          IN(dyn_frame_sensitivity, qdd, nv),
                          OUT(dyn_frame_sensitivity, dvelocity_dq, 6 * nv * io.n_frames),
                          OUT(dyn_frame_sensitivity, dacceleration_dq, 6 * nv * io.n_frames),
                          OUT(dyn_frame_sensitivity, dacceleration_dqd, 6 * nv * io.n_frames),
                          OUT(dyn_frame_sensitivity, djacobian_dq, 6 * nv * nv * io.n_frames)};
    assert_non_null(k->frame_sensitivity);
    RUN_KERNEL(k->frame_sensitivity, k, scene, rows, io, ports);
}

#define GRADIENTS_OF_SCENE(type)                                                                                       \
    OUT(type, gradient_parameters, 10 * scene->model->n_rows), OUT(type, gradient_wrenches, 6 * scene->n_wrenches),    \
        OUT(type, gradient_gravity, 3)

void rows_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_gradient io)
{
    SIZES;
    const port ports[] = {IN(dyn_gradient, q, nq),
                          IN(dyn_gradient, qd, nv),
                          IN(dyn_gradient, qdd, nv),
                          IN(dyn_gradient, wrenches, 9 * scene->n_wrenches),
                          IN(dyn_gradient, multipliers, nv),
                          OUT(dyn_gradient, tau, nv),
                          OUT(dyn_gradient, gradient_q, nv),
                          OUT(dyn_gradient, gradient_qd, nv),
                          OUT(dyn_gradient, gradient_qdd, nv),
                          GRADIENTS_OF_SCENE(dyn_gradient)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN_KERNEL(k->gradient, k, scene, rows, io, ports);
}

void rows_forward_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_gradient io)
{
    SIZES;
    const port ports[] = {STATE_AND_TAU(dyn_forward_gradient),        IN(dyn_forward_gradient, multipliers, nv),
                          OUT(dyn_forward_gradient, qdd, nv),         OUT(dyn_forward_gradient, gradient_q, nv),
                          OUT(dyn_forward_gradient, gradient_qd, nv), OUT(dyn_forward_gradient, gradient_tau, nv),
                          OUT(dyn_forward_gradient, singular, 1),     GRADIENTS_OF_SCENE(dyn_forward_gradient)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN_KERNEL(k->forward_gradient, k, scene, rows, io, ports);
}

void rows_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_directional io)
{
    SIZES;
    const port ports[] = {IN(dyn_directional, q, nq),
                          IN(dyn_directional, qd, nv),
                          IN(dyn_directional, qdd, nv),
                          IN(dyn_directional, wrenches, 9 * scene->n_wrenches),
                          IN(dyn_directional, direction_q, io.n * nv),
                          IN(dyn_directional, direction_qd, io.n * nv),
                          IN(dyn_directional, direction_qdd, io.n * nv),
                          OUT(dyn_directional, rates, io.n * nv),
                          OUT(dyn_directional, tau, nv)};
    RUN_KERNEL(k->directional, k, scene, rows, io, ports);
}

void rows_forward_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_forward_directional io)
{
    SIZES;
    const port ports[] = {STATE_AND_TAU(dyn_forward_directional), DIRECTIONS(dyn_forward_directional),
                          OUT(dyn_forward_directional, rates, io.n * nv), OUT(dyn_forward_directional, qdd, nv),
                          OUT(dyn_forward_directional, singular, 1)};
    RUN_KERNEL(k->forward_directional, k, scene, rows, io, ports);
}

void rows_friction_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_friction_gradient io)
{
    SIZES;
    const port ports[] = {IN(dyn_friction_gradient, qd, nv), IN(dyn_friction_gradient, T, nv),
                          IN(dyn_friction_gradient, multipliers, nv),
                          OUT(dyn_friction_gradient, gradient, DYN_FRICTION_PARAMETERS * scene->model->n_movers)};
    EVERY_POINTER_IS_LISTED(io, ports);
    RUN_KERNEL(k->friction_gradient, k, scene, rows, io, ports);
}

void rows_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_hessian_product io)
{
    SIZES;
    const port ports[] = {IN(dyn_hessian_product, q, nq),
                          IN(dyn_hessian_product, qd, nv),
                          IN(dyn_hessian_product, qdd, nv),
                          IN(dyn_hessian_product, wrenches, 9 * scene->n_wrenches),
                          IN(dyn_hessian_product, multipliers, nv),
                          IN(dyn_hessian_product, direction_q, io.n * nv),
                          IN(dyn_hessian_product, direction_qd, io.n * nv),
                          IN(dyn_hessian_product, direction_qdd, io.n * nv),
                          OUT(dyn_hessian_product, product_q, io.n * nv),
                          OUT(dyn_hessian_product, product_qd, io.n * nv),
                          OUT(dyn_hessian_product, product_qdd, io.n * nv)};
    RUN_KERNEL(k->hessian_product, k, scene, rows, io, ports);
}

void rows_forward_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows,
                                  dyn_forward_hessian_product io)
{
    SIZES;
    const port ports[] = {STATE_AND_TAU(dyn_forward_hessian_product),
                          IN(dyn_forward_hessian_product, multipliers, nv),
                          DIRECTIONS(dyn_forward_hessian_product),
                          PRODUCTS(dyn_forward_hessian_product),
                          OUT(dyn_forward_hessian_product, rates, io.n * nv),
                          OUT(dyn_forward_hessian_product, qdd, nv),
                          OUT(dyn_forward_hessian_product, singular, 1)};
    RUN_KERNEL(k->forward_hessian_product, k, scene, rows, io, ports);
}

void rows_step_gradient(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_gradient io)
{
    SIZES;
    const size_t entries = dyn_step_gradient_work(scene, io.method);
    double      *work    = calloc(rows * entries, sizeof *work);
    const port   ports[] = {STATE_AND_TAU(dyn_step_gradient),          IN(dyn_step_gradient, multipliers_q, nv),
                            IN(dyn_step_gradient, multipliers_qd, nv), OUT(dyn_step_gradient, gradient_q, nv),
                            OUT(dyn_step_gradient, gradient_qd, nv),   OUT(dyn_step_gradient, gradient_tau, nv),
                            OUT(dyn_step_gradient, work, entries),     OUT(dyn_step_gradient, singular, 1),
                            OUT(dyn_step_gradient, unsolved, 1),       GRADIENTS_OF_SCENE(dyn_step_gradient)};
    assert_non_null(work);
    io.work = work;
    RUN_STEP_KERNEL(k->step_gradient, k, scene, rows, io, ports);
    free(work);
}

void rows_step_directional(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_directional io)
{
    SIZES;
    const size_t entries = dyn_step_gradient_work(scene, io.method) + dyn_step_tangent_work(scene, io.method);
    double      *work    = calloc(rows * entries, sizeof *work);
    const port   ports[] = {STATE_AND_TAU(dyn_step_directional),           DIRECTIONS(dyn_step_directional),
                            OUT(dyn_step_directional, rates_q, io.n * nv), OUT(dyn_step_directional, rates_qd, io.n * nv),
                            OUT(dyn_step_directional, work, entries),      OUT(dyn_step_directional, singular, 1)};
    assert_non_null(work);
    io.work = work;
    RUN_STEP_KERNEL(k->step_directional, k, scene, rows, io, ports);
    free(work);
}

void rows_step_hessian_product(const dyn_kernels *k, const dyn_scene *scene, size_t rows, dyn_step_hessian_product io)
{
    SIZES;
    const size_t entries = dyn_step_gradient_work(scene, io.gradient.method),
                 more    = dyn_step_tangent_work(scene, io.gradient.method);
    double    *work = calloc(rows * entries, sizeof *work), *tangent = calloc(rows * more, sizeof *tangent);
    const port ports[] = {IN(dyn_step_hessian_product, gradient.q, nq),
                          IN(dyn_step_hessian_product, gradient.qd, nv),
                          IN(dyn_step_hessian_product, gradient.tau, nv),
                          IN(dyn_step_hessian_product, gradient.wrenches, 9 * scene->n_wrenches),
                          IN(dyn_step_hessian_product, gradient.multipliers_q, nv),
                          IN(dyn_step_hessian_product, gradient.multipliers_qd, nv),
                          OUT(dyn_step_hessian_product, gradient.gradient_q, nv),
                          OUT(dyn_step_hessian_product, gradient.gradient_qd, nv),
                          OUT(dyn_step_hessian_product, gradient.gradient_tau, nv),
                          OUT(dyn_step_hessian_product, gradient.work, entries),
                          OUT(dyn_step_hessian_product, gradient.singular, 1),
                          OUT(dyn_step_hessian_product, gradient.unsolved, 1),
                          DIRECTIONS(dyn_step_hessian_product),
                          IN(dyn_step_hessian_product, multiplier_rates_q, io.n * nv),
                          IN(dyn_step_hessian_product, multiplier_rates_qd, io.n * nv),
                          PRODUCTS(dyn_step_hessian_product),
                          OUT(dyn_step_hessian_product, work, more)};
    assert_true(work && tangent);
    io.gradient.work = work;
    io.work          = tangent;
    RUN_STEP_KERNEL(k->step_hessian_product, k, scene, rows, io, ports);
    free(work), free(tangent);
}
