/* test_generators.c - checks that random robots, states and wrenches vary in every field and prints the counts. Each
 * field must be zero where it may be absent, have either sign where it is signed, not always be 1 or one same value,
 * and be both smaller and greater than the field that code could confuse it with. */
#include "tests/dynamics/support/check.h"
#include "dynamics/model/joint_types.h"
#include "tests/dynamics/support/trial.h"
#include <string.h>

enum { ROBOTS = 300, ROWS = 3 };

/* Values that a field must have in some robots: absent (zero), and both signs. In addition its values must differ and
   be neither 0 nor 1. */
enum { ABSENT = 1, SIGNED = 2 };

typedef struct field {
    const char *name;
    size_t      offset, n; /* offset of the first entry in the structure, and number of entries */
    unsigned    needs;
} field;

typedef struct tally {
    size_t zero, one, positive, negative;
    double first; /* first value of the field that is not 0 */
    bool   differs;
} tally;

#define ONE(type, member, needs)                                                                                       \
    {                                                                                                                  \
#member, offsetof(type, member), 1, needs                                                                      \
    }
#define MANY(type, member, needs)                                                                                      \
    {                                                                                                                  \
#member, offsetof(type, member), sizeof((type){0}.member) / sizeof(double), needs                              \
    }
#define FRICTION(type, member)                                                                                         \
    ONE(type, member.viscous, ABSENT), ONE(type, member.positive, ABSENT), ONE(type, member.negative, ABSENT),         \
        ONE(type, member.coulomb_velocity, ABSENT), ONE(type, member.breakaway_positive, ABSENT),                      \
        ONE(type, member.breakaway_negative, ABSENT), ONE(type, member.stribeck_velocity, ABSENT)

/* Fields of joints that move. Those of motors are drawn from links that have one. */
static const field joint_fields[] = {
    MANY(dyn_link, before.p, ABSENT | SIGNED),
    MANY(dyn_link, after.p, ABSENT | SIGNED),
    MANY(dyn_link, axis, ABSENT | SIGNED),
    ONE(dyn_link, ratio, SIGNED),
    ONE(dyn_link, offset, ABSENT | SIGNED),
    ONE(dyn_link, pitch, ABSENT | SIGNED),
    ONE(dyn_link, rotor_inertia, ABSENT),
    ONE(dyn_link, inertia.mass, ABSENT),
    MANY(dyn_link, inertia.com, ABSENT | SIGNED),
    FRICTION(dyn_link, friction),
    ONE(dyn_link, friction.load, ABSENT),
    ONE(dyn_link, spring.stiffness, ABSENT),
    ONE(dyn_link, spring.damping, ABSENT),
    ONE(dyn_link, spring.rest, ABSENT | SIGNED),
    ONE(dyn_link, spring.stiffness2, ABSENT | SIGNED),
    ONE(dyn_link, spring.stiffness3, ABSENT),
    ONE(dyn_link, spring.damping2, ABSENT),
    ONE(dyn_link, spring.damping3, ABSENT),
    ONE(dyn_link, elasticity.stiffness, ABSENT),
    ONE(dyn_link, elasticity.damping, ABSENT),
    ONE(dyn_link, elasticity.rest, ABSENT | SIGNED),
};
static const field motor_fields[] = {
    MANY(dyn_link, motor.axis, SIGNED),         ONE(dyn_link, motor.gear_ratio, SIGNED),
    ONE(dyn_link, motor.spin_inertia, 0),       FRICTION(dyn_link, motor.friction),
    ONE(dyn_link, motor.friction.load, ABSENT),
};
static const field drive_fields[] = {
    MANY(dyn_drive, weight, ABSENT | SIGNED),
    ONE(dyn_drive, rotor_inertia, 0),
    FRICTION(dyn_drive, friction),
};

/* Names two fields that code could confuse: each must be the greater one in some robots. */
typedef struct pair {
    const char *name;
    size_t      a, b;
} pair;

#define PAIR(first, second)                                                                                            \
    {                                                                                                                  \
#first " and " #second, offsetof(dyn_link, first), offsetof(dyn_link, second)                                  \
    }
static const pair pairs[] = {
    PAIR(friction.positive, friction.negative),
    PAIR(friction.breakaway_positive, friction.breakaway_negative),
    PAIR(friction.positive, motor.friction.positive),
    PAIR(friction.viscous, motor.friction.viscous),
    PAIR(motor.friction.positive, motor.friction.negative),
    PAIR(motor.friction.breakaway_positive, motor.friction.breakaway_negative),
    PAIR(spring.stiffness, elasticity.stiffness),
    PAIR(spring.rest, elasticity.rest),
    PAIR(spring.stiffness2, spring.damping2),
    PAIR(spring.stiffness3, spring.damping3),
    PAIR(ratio, offset),
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static tally  joint_tally[COUNT(joint_fields)], motor_tally[COUNT(motor_fields)], drive_tally[COUNT(drive_fields)];
static size_t smaller[COUNT(pairs)], greater[COUNT(pairs)], equal[COUNT(pairs)];

static double number_at(const void *structure, size_t offset)
{
    double x;
    memcpy(&x, (const char *)structure + offset, sizeof x);
    return x;
}

static void count(tally *t, double x)
{
    t->zero += x == 0;
    t->one += x == 1;
    t->positive += x > 0;
    t->negative += x < 0;
    if (x == 0) return;
    t->differs |= t->first != 0 && x != t->first;
    if (t->first == 0) t->first = x;
}

static void count_fields(const field *fields, size_t n, tally *tallies, const void *structure)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < fields[i].n; k++)
            count(&tallies[i], number_at(structure, fields[i].offset + k * sizeof(double)));
}

/* --- structure ---------------------------------------------------------------------------------------------------- */

/* Cases of attachment and layout, each of which must occur. */
enum {
    ON_BASE,
    ON_PREVIOUS,
    ON_OTHER, /* attachment: the parent of a link */
    MOTOR_ON_BASE,
    MOTOR_ON_LINK,
    MOTOR_ON_PARENT,
    MOTOR_ELSEWHERE,
    LEADER_BEFORE,
    LEADER_BEHIND,
    LEADER_SHARED,
    WRENCH_ON_BASE,
    WRENCH_ON_LINK,
    WRENCH_IN_WORLD,
    WRENCH_TURNED,
    WRENCHES_TOGETHER,
    FIXED_BASE,
    FLOATING_BASE,
    OTHER_GRAVITY,
    PLACES
};
static const char *const place_names[PLACES] = {
    "parent: base",         "parent: previous link", "parent: another link",   "motor on the base",
    "motor on its link",    "motor on the parent",   "motor elsewhere",        "leader before its follower",
    "leader behind it",     "leader of several",     "wrench on the base",     "wrench on a link",
    "wrench in world axes", "wrench in turned axes", "two wrenches on a body", "fixed base",
    "floating base",        "gravity along no axis"};
static size_t place_tally[PLACES], kind_tally[DYN_JOINT_KINDS];

static void count_link(const random_tree *tree, int i)
{
    const dyn_link *l = &tree->links[i];
    place_tally[l->parent < 0 ? ON_BASE : l->parent == i - 1 ? ON_PREVIOUS : ON_OTHER]++;
    kind_tally[l->joint]++;
    if (l->motor.present)
        place_tally[l->motor.link < 0            ? MOTOR_ON_BASE
                    : l->motor.link == i         ? MOTOR_ON_LINK
                    : l->motor.link == l->parent ? MOTOR_ON_PARENT
                                                 : MOTOR_ELSEWHERE]++;
    if (!l->mimic) return;
    place_tally[l->leader < i ? LEADER_BEFORE : LEADER_BEHIND]++;
    for (int k = 0; k < i; k++)
        place_tally[LEADER_SHARED] += tree->links[k].mimic && tree->links[k].leader == l->leader;
}

static void count_wrenches(const trial *t)
{
    for (size_t i = 0; i < t->scene.n_wrenches; i++) {
        place_tally[t->wrench_link[i] < 0 ? WRENCH_ON_BASE : WRENCH_ON_LINK]++;
        place_tally[WRENCH_IN_WORLD] += t->site[i].world_axes;
        place_tally[WRENCH_TURNED] += t->site[i].has_axes;
        for (size_t k = 0; k < i; k++)
            place_tally[WRENCHES_TOGETHER] += t->site[k].body == t->site[i].body;
    }
}

static void count_robot(const trial *t)
{
    const dyn_description *d = &t->tree.description;
    place_tally[d->floating ? FLOATING_BASE : FIXED_BASE]++;
    place_tally[OTHER_GRAVITY] += d->gravity[0] != 0 && d->gravity[1] != 0;
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &t->tree.links[i];
        count_link(&t->tree, (int)i);
        if (l->joint == DYN_FIXED) continue;
        count_fields(joint_fields, COUNT(joint_fields), joint_tally, l);
        if (l->motor.present) count_fields(motor_fields, COUNT(motor_fields), motor_tally, l);
        for (size_t p = 0; p < COUNT(pairs); p++) {
            const double a = number_at(l, pairs[p].a), b = number_at(l, pairs[p].b);
            smaller[p] += a < b && a != 0;
            greater[p] += a > b && b != 0;
            equal[p] += a == b;
        }
    }
    for (size_t k = 0; k < d->n_drives; k++)
        count_fields(drive_fields, COUNT(drive_fields), drive_tally, &t->tree.drives[k]);
    count_wrenches(t);
}

/* --- states ------------------------------------------------------------------------------------------------------- */

enum { STATE_ARRAYS = 5 };
static const char *const state_names[STATE_ARRAYS] = {"qd", "qdd", "qddd", "tau", "q"};
static tally             state_tally[STATE_ARRAYS];
static size_t            opposite[STATE_ARRAYS][STATE_ARRAYS], same[STATE_ARRAYS][STATE_ARRAYS];

static void count_states(const trial *t)
{
    const double *arrays[STATE_ARRAYS] = {t->qd, t->qdd, t->qddd, t->tau, t->q};
    for (size_t e = 0; e < t->rows * t->nv; e++)
        for (size_t a = 0; a < STATE_ARRAYS; a++) {
            count(&state_tally[a], arrays[a][e]);
            for (size_t b = 0; b < a; b++) {
                opposite[a][b] += arrays[a][e] * arrays[b][e] < 0;
                same[a][b] += arrays[a][e] == arrays[b][e];
            }
        }
}

/* --- checks of the counts ----------------------------------------------------------------------------------------- */

static void expect(const char *name, const tally *t, unsigned needs)
{
    print_message("# %-36s 0: %6zu  1: %5zu  +: %6zu  -: %6zu\n", name, t->zero, t->one, t->positive, t->negative);
    if (!t->differs) fail_msg("%s never varies", name);
    if (t->one == t->positive && t->negative == 0) fail_msg("%s is always 0 or 1", name);
    if ((needs & ABSENT) && t->zero == 0) fail_msg("%s is never zero", name);
    if ((needs & SIGNED) && (t->positive == 0 || t->negative == 0)) fail_msg("%s has one sign only", name);
}

static void expect_fields(const field *fields, size_t n, const tally *tallies)
{
    for (size_t i = 0; i < n; i++)
        expect(fields[i].name, &tallies[i], fields[i].needs);
}

static int draw(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial t = seed % 2 ? trial_make(seed, ROWS) : trial_make_loaded(seed, ROWS);
        count_robot(&t);
        count_states(&t);
        trial_free(&t);
    }
    return 0;
}

static void test_fields(void **state)
{
    expect_fields(joint_fields, COUNT(joint_fields), joint_tally);
    expect_fields(motor_fields, COUNT(motor_fields), motor_tally);
    expect_fields(drive_fields, COUNT(drive_fields), drive_tally);
}

static void test_pairs(void **state)
{
    for (size_t p = 0; p < COUNT(pairs); p++) {
        print_message("# %-72s <: %5zu  =: %5zu  >: %5zu\n", pairs[p].name, smaller[p], equal[p], greater[p]);
        if (smaller[p] == 0 || greater[p] == 0) fail_msg("%s are ordered one way only", pairs[p].name);
    }
}

static void test_places(void **state)
{
    for (int i = 0; i < PLACES; i++) {
        print_message("# %-32s %6zu\n", place_names[i], place_tally[i]);
        if (place_tally[i] == 0) fail_msg("no case: %s", place_names[i]);
    }
    for (int kind = 0; kind < DYN_JOINT_KINDS; kind++) {
        print_message("# %-32s %6zu\n", dyn_joint_types[kind].name, kind_tally[kind]);
        if (kind_tally[kind] == 0) fail_msg("no %s joint", dyn_joint_types[kind].name);
    }
}

/* No array of a state may be a copy of another: each pair must have opposite signs in some entries, and no equal
   entries. */
static void test_states(void **state)
{
    for (size_t a = 0; a < STATE_ARRAYS; a++) {
        expect(state_names[a], &state_tally[a], SIGNED);
        for (size_t b = 0; b < a; b++)
            if (opposite[a][b] == 0 || same[a][b] > 0) fail_msg("%s and %s are alike", state_names[a], state_names[b]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, draw, NULL);
}
