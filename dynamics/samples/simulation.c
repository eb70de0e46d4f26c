/* simulation.c - simulates a four-bar linkage that swings freely, by fixed steps of the classical Runge-Kutta method
 * and by steps of an embedded pair with error control. Without friction and motor torque the sum of kinetic and
 * potential energy is constant. */
#include "samples.h"
#include "dynamics/simulation/robot_ode.h"
#include <stdio.h>

#define STEP      1e-3  /* s, of fixed steps */
#define TOLERANCE 1e-10 /* relative and absolute tolerance of steps with error control */
#define DURATION  1.0   /* s */

enum { SHOWN = 5 /* number of intervals, at whose ends a row is shown */ };

/* One simulation of the linkage. The kernels have one lane, so that an array in lanes holds one state. */
typedef struct swing {
    const char    *name;
    dyn_scene      scene;
    dyn_simulation simulation;
    dyn_robot_ode  ode;
} swing;

/* Sets up the simulation, starting at 0.9 rad and 6 rad/s of the crank. Returns false if that fails. */
static bool start(dyn_memory memory, const four_bar *linkage, const dyn_integrator *integrator, swing *s)
{
    *s            = (swing){.name = integrator->name, .scene = {.model = linkage->tree, .gravity = {0, -9.81, 0}}};
    s->simulation = (dyn_simulation){.integrator = integrator,
                                     .kernels    = dyn_kernels_for_one_state(dyn_kernels_find(NULL)),
                                     .scene      = &s->scene,
                                     .mechanism  = linkage->mechanism,
                                     .step       = STEP,
                                     .tolerance  = TOLERANCE,
                                     .duration   = DURATION,
                                     .end        = DURATION};
    if (!dyn_robot_ode_open(&s->ode, &s->simulation, (dyn_deadline){0}, memory)) return false;
    dyn_ode *state                         = &s->ode.state;
    state->rows                            = 1;
    state->y[0]                            = 0.9;
    dyn_ode_velocities(state, state->y)[0] = 6;
    dyn_robot_ode_start(&s->ode);
    return dyn_ode_is_sound(state);
}

/* Prints time, q and qd of the crank, and the energy. dyn_robot_ode_rate closes the loops at the printed state. */
static void show(swing *s, double time)
{
    const dyn_ode   *state     = &s->ode.state;
    const double    *qd        = dyn_ode_velocities(state, state->y);
    double           energy[2] = {0};
    const dyn_energy io        = {.q = state->y, .qd = qd, .kinetic = energy, .potential = energy + 1};
    dyn_robot_ode_rate(&s->ode, time, state->y, state->stage_rate[0]);
    s->ode.kernels->energy(&s->scene, s->ode.workspace, &io, 1);
    const double row[] = {time, state->y[0], qd[0], energy[0] + energy[1]};
    print_row(s->name, row, sizeof row / sizeof *row, 1);
}

static bool integrate(swing *s)
{
    show(s, 0);
    for (int k = 0; k < SHOWN; k++) {
        const dyn_interval    interval = {DURATION * k / SHOWN, DURATION * (k + 1) / SHOWN, false};
        const dyn_integration done     = s->simulation.integrator->integrate(&s->ode.state, interval);
        if (done.status != DYN_INTEGRATION_DONE) return false;
        show(s, interval.to);
    }
    return true;
}

static bool show_swing(dyn_memory memory, const four_bar *linkage, const dyn_integrator *integrator)
{
    swing s;
    if (!start(memory, linkage, integrator, &s)) return false;
    const bool opened = !integrator->open || integrator->open(&s.ode.state);
    const bool shown  = opened && integrate(&s);
    if (integrator->close) integrator->close(&s.ode.state);
    return shown;
}

bool show_simulation(void)
{
    dyn_arena  arena  = {0};
    dyn_memory memory = dyn_arena_memory(&arena);
    four_bar   linkage;
    bool       shown = build_four_bar(memory, &linkage);
    printf("# four-bar in free motion: time in s; q, qd of the crank; energy in J\n");
    shown = shown && show_swing(memory, &linkage, &dyn_integrator_rk4) &&
            show_swing(memory, &linkage, &dyn_integrator_dopri5);
    dyn_arena_free(&arena);
    dyn_model_free(linkage.tree);
    return shown;
}
