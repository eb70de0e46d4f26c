/* test_trial.c - checks that the random robots of the other tests have every feature often enough: counts the robots
 * that have it. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/trial.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROBOTS = 200 }; /* number of random robots that are counted, as many as most tests use */

typedef struct counts {
    size_t serial, serial_turned, serial_loaded, serial_loaded_turned, plain_runs_loaded;
    size_t motors, motors_on_floating_base, motors_on_fixed_links, motors_on_carried_links;
    size_t transmissions, transmissions_of_chains, transmissions_of_branches;
} counts;

/* True if some body is rotated by exactly 90 deg about x relative to its parent. */
static bool has_right_angle(const dyn_model *m)
{
    for (size_t i = 1; i < m->n_bodies; i++)
        if (m->body[i].pose.turn == DYN_TURN_X_PLUS || m->body[i].pose.turn == DYN_TURN_X_MINUS) return true;
    return false;
}

static bool has_plain_run(const dyn_model *m)
{
    for (size_t r = 0; r < m->n_runs; r++)
        if (m->run[r].plain && m->run[r].end - m->run[r].first > 1) return true;
    return false;
}

/* True if there are wrenches, all in link axes: a wrench in world axes disables the faster code of some kernels. */
static bool is_loaded(const trial *t)
{
    for (size_t i = 0; i < t->scene.n_wrenches; i++)
        if (t->site[i].world_axes) return false;
    return t->scene.n_wrenches > 0;
}

static bool is_beyond(const dyn_description *d, int link, int joint)
{
    while (link > joint)
        link = d->links[link].parent;
    return link == joint;
}

static void count_motors(const dyn_description *d, counts *n)
{
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_motor *motor = &d->links[i].motor;
        if (!motor->present) continue;
        n->motors++;
        n->motors_on_floating_base += motor->link < 0 && d->floating;
        n->motors_on_fixed_links += motor->link >= 0 && d->links[motor->link].joint == DYN_FIXED;
        n->motors_on_carried_links += is_beyond(d, motor->link, (int)i);
    }
}

static void test_features(void **state)
{
    counts n = {0};
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t      = trial_make(seed, 1);
        const dyn_model *m      = t.model;
        const bool       serial = m->serial && m->n_bodies > 2, turned = has_right_angle(m), loaded = is_loaded(&t);
        n.serial += serial;
        n.serial_turned += serial && turned;
        n.serial_loaded += serial && loaded;
        n.serial_loaded_turned += serial && loaded && turned;
        n.plain_runs_loaded += !m->serial && has_plain_run(m) && loaded;
        count_motors(&t.tree.description, &n);
        n.transmissions += m->n_drives > 0;
        n.transmissions_of_chains += m->n_drives > 0 && m->branched && !m->dense;
        n.transmissions_of_branches += m->n_drives > 0 && m->dense && !m->has_mimics;
        trial_free(&t);
    }
    if (getenv("CHECK_VERBOSE"))
        fprintf(stderr, "# %zu %zu %zu %zu %zu; %zu %zu %zu %zu; %zu %zu %zu\n", n.serial, n.serial_turned,
                n.serial_loaded, n.serial_loaded_turned, n.plain_runs_loaded, n.motors, n.motors_on_floating_base,
                n.motors_on_fixed_links, n.motors_on_carried_links, n.transmissions, n.transmissions_of_chains,
                n.transmissions_of_branches);
    assert_true(n.serial >= 20 && n.serial_turned >= 10 && n.serial_loaded >= 10 && n.serial_loaded_turned >= 5);
    assert_true(n.plain_runs_loaded >= 5);
    assert_true(n.transmissions >= 30 && n.transmissions_of_chains >= 5 && n.transmissions_of_branches >= 3);
    assert_true(n.motors >= 100 && n.motors_on_floating_base >= 5);
    assert_true(n.motors_on_fixed_links >= 10 && n.motors_on_carried_links >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
