/* test_simulate.c - checks simulations against motions in closed form, for equal bits on all targets and in all
 * batches, and their refusals, deadlines and divided steps. (Physics and other refusals:
 * tests/e2e/motion/test_simulate.py.) */
#include "tests/api/support/door.h"
#include "dynamics/dynamics.h"
#include "dynamics/integration/fixed_events.h"
#include "dynamics/memory/arena.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void near(const char *path, double expected, double error)
{
    double actual = number_at(path);
    if (!(fabs(actual - expected) <= error)) fail_msg("%s is %.17g, expected %.17g", path, actual, expected);
}

/* 1 kg on a rail: q'' = tau. Polynomials up to the third degree must be exact but for rounding. */
static void closed_forms(void **state)
{
    static const char *const methods[] = {"'step':0.25", "'step':0.3", "'tolerance':1e-9",
                                          "'tolerance':1e-9,'stiff':true"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char body[400];
        snprintf(body, sizeof body, "{'q':[1],'qd':[-1],'duration':2,'samples':3,%s,'input':{'tau':[2]}}", methods[i]);
        free(evaluated("simulate", "slider", body));
        near("q/1/0", 1, 1e-14);
        near("q/2/0", 3, 1e-14);
        near("qd/2/0", 3, 1e-14);
        near("kinetic/2", 4.5, 1e-13);
        near("tau/2/0", 2, 0);
        snprintf(body, sizeof body,
                 "{'q':[0],'duration':2,'times':[0.5,0.5,2],%s,'input':{'tau':{'values':[[0],[6]]}},"
                 "'outputs':['times','q','qd','qdd','tau','actuator_work']}",
                 methods[i]);
        free(evaluated("simulate", "slider", body)); /* tau = 3 t, q = t^3/2, q' = 3/2 t^2 */
        near("times/1", 0.5, 0);
        near("q/0/0", 0.0625, 1e-13);
        near("q/1/0", number_at("q/0/0"), 0);
        near("q/2/0", 4, 1e-13);
        near("qd/2/0", 6, 1e-13);
        near("qdd/2/0", 6, 1e-14);
        near("tau/0/0", 1.5, 1e-14);
        near("actuator_work/2", 18, 1e-8);
    }
}

/* An integrator that is requested by name must give the bits of the request without a name. */
static void named_integrators(void **state)
{
    static const char *const same[][2] = {{"'step':0.01", "'integrator':'rk4','step':0.01"},
                                          {"'tolerance':1e-7", "'integrator':'dopri5','tolerance':1e-7"},
                                          {"'tolerance':1e-7,'stiff':true", "'integrator':'esdirk5','tolerance':1e-7"}};
    char                    *first     = NULL;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *texts[2];
        for (size_t k = 0; k < 2; k++) {
            char body[300];
            snprintf(body, sizeof body,
                     "{'q':[1],'duration':2,'samples':3,'input':{'tau':{'amplitude':[2],'angular_frequency':[3]}},"
                     "'outputs':['q','qd','steps'],%s}",
                     same[i][k]);
            texts[k] = evaluated("simulate", "slider", body);
        }
        assert_string_equal(texts[0], texts[1]);
        if (first) assert_string_not_equal(first, texts[0]);
        free(first);
        free(texts[0]);
        first = texts[1];
    }
    free(first);
}

static void structure(void **state)
{
    char *text = evaluated("simulate", "slider",
                           "{'q':[[0],[1]],'duration':1,'step':0.5,'samples':2,'outputs':['times','q','steps']}");
    assert_string_equal(text, "{\"times\":[[0,1],[0,1]],\"q\":[[[0],[0]],[[1],[1]]],\"steps\":[[0,2],[0,2]]}");
    free(text);
    text = evaluated("simulate", "slider",
                     "{'q':{'rail':3},'duration':1,'step':1,'times':[0],'outputs':['q','qd','tau','steps']}");
    assert_string_equal(text, "{\"q\":[[3]],\"qd\":[[0]],\"tau\":[[0]],\"steps\":[0]}");
    free(text);
}

#define STARTS "[[0.1,0.2,0.3,0.4],[0.5,-0.2,0.1,0.3],[1,-1,0.2,0.5],[0.7,0.3,-0.4,0.1],[0.2,0.9,0.6,-0.3]]"
#define REST                                                                                                           \
    "'qd':[0.1,0.2,0.3,0.4],'duration':0.2,'samples':5,'payload':{'link':'grip','mass':0.3},"                          \
    "'wrenches':[{'link':'grip','point':[0.1,0,0.2],'force':[1,2,3]}],"                                                \
    "'outputs':['q','qd','qdd','tau','kinetic','potential','actuator_work','friction_work','wrench_work',"             \
    "'position_error','velocity_error','steps'],'input':{'controller':'computed_torque','kp':30,'kd':[1,2,3,4],"       \
    "'reference':{'values':[[0,0,0,0],[0.1,0.2,0.3,0.4],[0,0,0.1,0]],'interpolation':'cubic'}}"

static const char *const all_methods[] = {"'step':0.01,", "'tolerance':1e-7,", "'tolerance':1e-7,'stiff':true,"};
enum { METHODS = sizeof all_methods / sizeof *all_methods };

#define BASE   "0,0,1,0,0,0,1,"
#define FLYING "[[" BASE "0.1,0,0.3,0.4],[" BASE "0.5,0,0.1,0.3],[" BASE "1,0,0.2,0.5],[" BASE "0.7,0,-0.4,0.1]]"
#define HELD                                                                                                           \
    "'duration':0.2,'samples':5,'payload':{'link':'grip','mass':0.3},'held':[{'frame':'thigh','axes':['z','rx']}],"    \
    "'prescribed':{'coordinates':['elbow'],'motion':{'amplitude':[0.4],'angular_frequency':[5],'offset':[0.2],"        \
    "'phase':[1.5707963267948966]}},'outputs':['q','qd','qdd','tau','actuator_work','contact_wrenches','steps',"       \
    "'limits'],'input':{'controller':'%s','kp':30,'kd':1,'reference':[0,0,0,0,0,0,0.3,0,0.1,0.2]}"

/* Writes simulations of several robots under a controller, and of a floating robot with one prescribed joint and a held
 * frame. */
enum { DRIVEN = 3 };
static const char *write_driven(size_t which, const char *method, char body[1200])
{
    if (which == 0)
        snprintf(body, 1200, "{'q':" STARTS ",%s" REST "}", method);
    else
        snprintf(body, 1200, "{'q':" FLYING ",%s" HELD "}", method, which == 1 ? "pd_gravity" : "computed_torque");
    return which == 0 ? "arm" : "free";
}

static void same_bits_on_all_targets(void **state)
{
    char *expected[2][METHODS * DRIVEN] = {{NULL}}, body[1200]; /* expected texts by arithmetic class */
    for (size_t k = 0; dyn_kernels_at(k); k++) {
        char **of_class = expected[dyn_kernels_at(k)->fused];
        door_close();
        door_open_on(NULL, dyn_kernels_at(k)->target);
        for (size_t i = 0; i < METHODS * DRIVEN; i++) {
            const char *model = write_driven(i / METHODS, all_methods[i % METHODS], body);
            char       *text  = evaluated("simulate", model, body);
            /* The integrator differentiates several columns of a Jacobian at a time, in lanes: each state must have the
             * same bits. */
            if (!of_class[i]) of_class[i] = strdup(text);
            assert_string_equal(text, of_class[i]);
            free(text);
        }
    }
    for (size_t i = 0; i < METHODS * DRIVEN; i++)
        free(expected[0][i]), free(expected[1][i]);
    door_close();
    door_open(NULL);
}

static void same_bits_alone(void **state)
{
    static const char *const starts[] = {"[0.1,0.2,0.3,0.4]", "[0.2,0.9,0.6,-0.3]"};
    static const size_t      rows[]   = {0, 4};
    for (size_t i = 0; i < METHODS; i++)
        for (size_t k = 0; k < 2; k++) {
            char body[1200];
            snprintf(body, sizeof body, "{'q':" STARTS ",%s" REST "}", all_methods[i]);
            char *text = evaluated("simulate", "arm", body);
            snprintf(body, sizeof body, "{'q':%s,%s" REST "}", starts[k], all_methods[i]);
            char   *alone = evaluated("simulate", "arm", body);
            json_t *all   = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL),
                   *one   = json_loads(alone, JSON_DECODE_INT_AS_REAL, NULL);
            const char *key;
            json_t     *value;
            json_object_foreach (one, key, value)
                if (!json_equal(json_array_get(json_object_get(all, key), rows[k]), value))
                    fail_msg("%s: %s of row %zu differs", all_methods[i], key, rows[k]);
            json_decref(all);
            json_decref(one);
            free(text);
            free(alone);
        }
}

/* Quaternions in answers must have w >= 0 throughout a full turn. */
static void quaternions(void **state)
{
    free(evaluated("simulate", "free",
                   "{'q':[0,0,0,0,0,0,1,0,0,0,0],'qd':[0,0,0,0,0,4,0,0,0,0],'gravity':[0,0,0],'duration':1.5,"
                   "'samples':16,'step':0.01}"));
    for (int n = 0; n < 16; n++) {
        char   path[4][20];
        double norm = 0;
        for (int k = 0; k < 4; k++) {
            snprintf(path[k], sizeof path[k], "q/%d/%d", n, 3 + k);
            norm += number_at(path[k]) * number_at(path[k]);
        }
        assert_true(number_at(path[3]) >= 0);
        assert_true(fabs(norm - 1) < 1e-15);
    }
}

static void limits(void **state)
{
    post("slider/simulate", "{'q':[0],'duration':1,'step':10,'samples':2}"); /* longer than the duration */
    assert_problem(422, "bad-value", "/step", -1);
    assert_detail("at most the duration, 1");
    post("slider/simulate", "{'q':[0],'duration':1,'step':1e-8,'samples':2}");
    assert_problem(413, "too-many-steps", "/step", -1);
    assert_detail("the limit is 10000000");
    post("slider/simulate", "{'q':[0],'duration':1,'step':1e-320,'samples':2}");
    assert_problem(413, "too-many-steps", "/step", -1);
    post("slider/simulate", "{'q':[0],'duration':1,'step':0.1,'samples':20001}");
    assert_problem(413, "too-many-rows", "/samples", -1);
    post("slider/simulate", "{'q':[[0],[1],[2]],'duration':1,'step':0.1,'samples':7000}");
    assert_problem(413, "too-many-rows", "/q", -1);
    assert_detail("3 times 7000");
    post("slider/simulate", "{'q':[1e200],'qd':[1e200],'duration':1e200,'step':1e199,'samples':2}");
    assert_problem(422, "integration-failed", NULL, -1);
    assert_detail("at 0 s rail moves at 1e+200 rad/s or m/s");
}

/* A cancelled or late simulation must stop before its end, whatever the method. */
static void watches(void **state)
{
    static const char *const bodies[] = {
        "{\"q\":[0.1,0.2,0.3,0.4],\"duration\":900,\"step\":1e-4,\"samples\":2}",
        "{\"q\":[0.1,0.2,0.3,0.4],\"duration\":1e6,\"tolerance\":1e-12,\"samples\":2}"};
    for (size_t i = 0; i < 2; i++) {
        api_deadline      deadline = {.cancelled = true, .time = UINT64_MAX}, late = {.time = 1};
        const api_request head = {.method = "POST", .target = "/v1/models/arm/simulate", .has_body = true};
        const answer     *a    = ask_with(&head, bodies[i], strlen(bodies[i]), &deadline);
        assert_int_not_equal(a->status, 200);
        ask_with(&head, bodies[i], strlen(bodies[i]), &late);
        assert_problem(504, "deadline-passed", NULL, -1);
    }
}

/* --- divided steps ------------------------------------------------------------------------------------------------ */

#define STEP 0.03 /* s */

/* Bound of this test: a few evaluations for each of some dozens of parts. Located stops that never end take 1e5. */
enum { MOST_RATES = 5000, NEVER = 1 << 30 };

/* A coordinate with q' = v, v' = -1, that, whenever it has stopped, starts again with a velocity of 0.01 times the
   remaining time: its stops accumulate towards the end of the step, as those of a bouncing ball do. */
typedef struct bouncing {
    dyn_ode ode;
    int     rates, stops, asked, most_asked;
    double  end, last_stop;
} bouncing;

static void rate_of_motion(void *system, double t, const double *y, double *rate)
{
    (void)t;
    ((bouncing *)system)->rates++;
    rate[0] = y[1];
    rate[1] = -1;
}

static void leave(void *system, double *y, size_t stride, size_t lanes)
{
    (void)system, (void)y, (void)stride, (void)lanes;
}

static void leave_at(void *system, double t, double *y, size_t stride, size_t lanes)
{
    (void)t;
    leave(system, y, stride, lanes);
}

static void do_nothing(void *system, double t)
{
    (void)system, (void)t;
}

static bool is_sound(const void *system)
{
    (void)system;
    return true;
}

static double advance_of(void *system, size_t lane, const double *from)
{
    (void)from;
    return ((bouncing *)system)->ode.y[1 + lane];
}

static void stop_and_start_again(void *system, double t, size_t lane, const double *from, bool stay)
{
    (void)from, (void)stay;
    bouncing *b = system;
    b->stops++;
    assert_true(t > b->last_stop);
    b->last_stop       = t;
    b->ode.y[1 + lane] = fmax(b->end - t, 0) * 0.01;
}

static const dyn_ode_functions functions = {.rate         = rate_of_motion,
                                            .normalize    = leave,
                                            .finish_step  = leave_at,
                                            .check_range  = do_nothing,
                                            .may_continue = is_sound,
                                            .restart      = do_nothing,
                                            .end_step     = do_nothing,
                                            .advance      = advance_of,
                                            .stop         = stop_and_start_again};

static bool may_continue(const void *arg)
{
    bouncing *b = (bouncing *)(uintptr_t)arg;
    return b->asked++ < b->most_asked;
}

/* Integrates one step from q = 0.2 at q' = 0.007. */
static dyn_integration_status bounce(bouncing *b, int most_asked)
{
    dyn_arena  arena  = {0};
    dyn_memory memory = dyn_arena_memory(&arena);
    bool       room   = true;
    double    *stage[4];
    *b     = (bouncing){.most_asked = most_asked, .end = STEP};
    b->ode = (dyn_ode){.functions = &functions,
                       .system    = b,
                       .W         = 1,
                       .entries   = 2,
                       .nq        = 1,
                       .nv        = 1,
                       .step      = STEP,
                       .deadline  = {may_continue, b},
                       .n_events  = 1,
                       .rows      = 1};
    for (size_t i = 0; i < 4; i++)
        stage[i] = dyn_take_zeroed(memory, 2, &room);
    b->ode.stage_rate = stage;
    b->ode.stage_y    = dyn_take_zeroed(memory, 2, &room);
    b->ode.y          = dyn_take_zeroed(memory, 2, &room);
    assert_true(room && dyn_fixed_events_open(&b->ode, &dyn_integrator_rk4, memory));
    memcpy(b->ode.y, (double[]){0.2, 0.007}, 2 * sizeof(double));
    const dyn_integration done = dyn_integrator_rk4.integrate(&b->ode, (dyn_interval){0, STEP, false});
    dyn_arena_free(&arena);
    return done.status;
}

/* After each stop 0.99 of the remaining step is left, so that without a shortest part more than 1600 stops would occur
   before 1 / LOCATED of the step is left. */
static void stops_that_accumulate_are_bounded(void **state)
{
    (void)state;
    bouncing b;
    assert_int_equal(bounce(&b, NEVER), DYN_INTEGRATION_DONE);
    assert_true(b.stops > 32);
    assert_true(b.stops <= 65);
    assert_true(b.rates < MOST_RATES);
    assert_true(fabs(b.last_stop - STEP) <= STEP / 32 + 1e-12);
}

/* A deadline that passes within a step that is divided where joints stop (fixed_events.h) must be reported, however few
 * steps remain. */
static void the_deadline_ends_a_division(void **state)
{
    (void)state;
    bouncing b;
    for (int asked = 1; asked < 40; asked += 6) {
        assert_int_equal(bounce(&b, asked), DYN_INTEGRATION_LATE);
        assert_true(b.rates < 8 * (asked + 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(named_integrators),
        cmocka_unit_test(structure),
        cmocka_unit_test(same_bits_on_all_targets),
        cmocka_unit_test(same_bits_alone),
        cmocka_unit_test(quaternions),
        cmocka_unit_test(limits),
        cmocka_unit_test(watches),
        cmocka_unit_test(stops_that_accumulate_are_bounded),
        cmocka_unit_test(the_deadline_ends_a_division),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
