/* random_tree.c - makes random robots and states (random_tree.h). */
#include "random_tree.h"
#include "dynamics/math/double_double.h"
#include <math.h>
#include <stdlib.h>

uint64_t random_bits(random_source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15u;
    z          = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_between(random_source *source, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(source) >> 11) * 0x1p-53);
}

size_t random_below(random_source *source, size_t n)
{
    return (size_t)(random_bits(source) % n);
}

bool random_chance(random_source *source, double probability)
{
    return random_between(source, 0, 1) < probability;
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void normalise(double a[3])
{
    double norm = sqrt(dot3(a, a));
    for (int i = 0; i < 3; i++)
        a[i] /= norm;
}

void random_unit(random_source *source, double axis[3])
{
    do {
        for (int i = 0; i < 3; i++)
            axis[i] = random_between(source, -1, 1);
    } while (dot3(axis, axis) < 0.01);
    normalise(axis);
}

/* Multiplies R from the right by the rotation about coordinate axis k with this cosine and sine. */
static void rotate(double R[3][3], int k, double c, double s)
{
    int a = (k + 1) % 3, b = (k + 2) % 3;
    for (int i = 0; i < 3; i++) {
        double x = R[i][a], y = R[i][b];
        R[i][a] = c * x + s * y;
        R[i][b] = c * y - s * x;
    }
}

/* Draws a rotation. Some quarter turns have exact entries, and some have cos(pi/2) = 6e-17 as real documents do. */
void random_rotation(random_source *source, double R[3][3])
{
    const double cosine[4] = {1, 0, -1, 0}, sine[4] = {0, 1, 0, -1};
    bool         quarters = source->neat || random_chance(source, 0.4), exact = random_chance(source, 0.5);
    for (int i = 0; i < 9; i++)
        R[i / 3][i % 3] = i % 4 == 0;
    size_t turns = random_below(source, 4);
    for (size_t i = 0; i < turns; i++) {
        int               k     = (int)random_below(source, 3);
        size_t            n     = random_below(source, 4);
        double            angle = quarters ? (double)n * M_PI_2 : random_between(source, -3.2, 3.2);
        dyn_double_double c, s;
        dyn_cosine_sine(angle, &c, &s);
        rotate(R, k, quarters && exact ? cosine[n] : c.high, quarters && exact ? sine[n] : s.high);
    }
}

void random_pose(random_source *source, dyn_pose *X)
{
    random_rotation(source, X->R);
    bool shifted = random_chance(source, 0.8);
    for (int i = 0; i < 3; i++)
        X->p[i] = shifted ? random_between(source, -0.4, 0.4) : 0;
}

/* Draws the inertia of some solid body: I = trace(E) 1 - E, with a second moment E = R diag R^T of positive
 * diagonal. */
void random_inertia(random_source *source, dyn_inertia *inertia)
{
    static const int index[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    double           R[3][3], moment[3], trace = 0;
    random_rotation(source, R);
    inertia->mass = random_between(source, 0.2, 3);
    for (int i = 0; i < 3; i++) {
        inertia->com[i]    = random_between(source, -0.2, 0.2);
        trace += moment[i] = inertia->mass * random_between(source, 0.001, 0.03);
    }
    for (int e = 0; e < 6; e++) {
        int i = index[e][0], j = index[e][1];
        inertia->about_com[e] = i == j ? trace : 0;
        for (int k = 0; k < 3; k++)
            inertia->about_com[e] -= R[i][k] * moment[k] * R[j][k];
    }
}

static void random_axis(random_source *source, double axis[3])
{
    if (!source->neat && random_chance(source, 0.6)) {
        random_unit(source, axis);
        return;
    }
    size_t k    = random_below(source, 3);
    double sign = random_chance(source, 0.5) ? 1 : -1;
    for (size_t i = 0; i < 3; i++)
        axis[i] = i == k ? sign : 0;
}

/* With only a massless link between them, two joints must not have parallel axes, or the mass matrix is singular. Draws
 * again until the axes differ by 45 deg or more. The angle does not depend on the state. */
static void random_axis_across(random_source *source, const dyn_link *parent, dyn_link *l)
{
    double in_parent[3], in_child[3];
    for (int i = 0; i < 3; i++)
        in_parent[i] = parent->after.R[0][i] * parent->axis[0] + parent->after.R[1][i] * parent->axis[1] +
                       parent->after.R[2][i] * parent->axis[2];
    for (int i = 0; i < 3; i++)
        in_child[i] =
            l->before.R[0][i] * in_parent[0] + l->before.R[1][i] * in_parent[1] + l->before.R[2][i] * in_parent[2];
    do {
        random_axis(source, l->axis);
    } while (fabs(dot3(l->axis, in_child)) > 0.7);
}

static void random_friction(random_source *source, dyn_friction *friction)
{
    bool smooth = random_chance(source, 0.5), coulomb = random_chance(source, 0.7);
    *friction = (dyn_friction){.viscous          = random_between(source, 0, 1),
                               .positive         = coulomb ? random_between(source, 0, 1) : 0,
                               .negative         = coulomb ? random_between(source, 0, 1) : 0,
                               .coulomb_velocity = smooth ? random_between(source, 0.05, 1) : 0};
    if (!coulomb || friction->viscous < 0.6) return;
    /* computed from the values above: another draw would change all later numbers of the seed */
    friction->breakaway_positive = friction->positive + friction->viscous / 2;
    friction->breakaway_negative = friction->negative + friction->viscous / 3;
    friction->stribeck_velocity  = 2 * friction->viscous - 0.7;
}

static void random_joint_forces(random_source *source, unsigned features, dyn_link *l)
{
    if ((features & TREE_FRICTION) && random_chance(source, 0.6)) random_friction(source, &l->friction);
    if ((features & TREE_SPRINGS) && random_chance(source, 0.4))
        l->spring = (dyn_spring){.stiffness = random_between(source, 0, 20), .rest = random_between(source, -1, 1)};
    if ((features & TREE_DAMPERS) && random_chance(source, 0.3)) l->spring.damping = random_between(source, 0, 1);
    if ((features & TREE_ROTORS) && random_chance(source, 0.4)) l->rotor_inertia = random_between(source, 0.001, 0.5);
    if ((features & TREE_GEARS) && random_chance(source, 0.3)) {
        l->ratio  = random_between(source, 0.4, 2.5) * (random_chance(source, 0.5) ? 1 : -1);
        l->offset = random_chance(source, 0.7) ? random_between(source, -2, 2) : 0;
    }
}

/* Draws a motor whose inertia at the joint is like that of other rotors. place_motors chooses the link that carries it
 * once all links exist. */
static void random_motor(random_source *source, unsigned features, dyn_link *l)
{
    l->motor = (dyn_motor){.present      = true,
                           .gear_ratio   = random_between(source, 10, 30) * (random_chance(source, 0.5) ? 1 : -1),
                           .spin_inertia = random_between(source, 1e-4, 1e-3)};
    random_unit(source, l->motor.axis);
    if ((features & TREE_FRICTION) && random_chance(source, 0.6)) random_friction(source, &l->motor.friction);
    l->rotor_inertia = 0;
}

/* Draws the type of a joint. The caller sets `planar` only away from massless links, where a planar joint would be free
 * to move without mass. */
static dyn_joint_kind random_kind(random_source *source, unsigned features, bool planar)
{
    if (features & TREE_PLAIN) return DYN_REVOLUTE;
    if (planar && (features & TREE_PLANAR) && random_chance(source, 0.15)) return DYN_PLANAR;
    if ((features & TREE_HELICAL) && random_chance(source, 0.1)) return DYN_HELICAL;
    return random_chance(source, 0.7) ? DYN_REVOLUTE : DYN_PRISMATIC;
}

/* Draws pitch, elasticity and motor of a joint. `room`: number of coordinates that may still be used */
static void random_drive(random_source *source, unsigned features, size_t room, dyn_link *l)
{
    if (l->joint == DYN_HELICAL) l->pitch = random_between(source, -0.3, 0.3);
    if (room >= 2 && (features & TREE_ELASTIC) && !l->mimic && random_chance(source, 0.15)) {
        l->elastic    = true;
        l->elasticity = (dyn_spring){.stiffness = random_between(source, 1, 50), .rest = random_between(source, -1, 1)};
        if ((features & TREE_DAMPERS) && random_chance(source, 0.5))
            l->elasticity.damping = random_between(source, 0, 1);
        l->rotor_inertia = random_between(source, 0.01, 0.5);
        l->ratio         = 1;
        l->offset        = 0;
    }
    if (l->elastic ? random_chance(source, 0.6) : (features & TREE_MOTORS) && random_chance(source, 0.15))
        random_motor(source, features, l);
}

static void random_link(random_source *source, unsigned features, bool mobile, size_t room, const dyn_link *parent,
                        dyn_link *l)
{
    bool after_massless = parent && parent->inertia.mass == 0;
    l->joint            = mobile ? random_kind(source, features, room >= 3 && !after_massless && !l->mimic) : DYN_FIXED;
    l->ratio            = 1;
    random_pose(source, &l->before);
    if (random_chance(source, 0.4))
        random_pose(source, &l->after);
    else
        for (int i = 0; i < 3; i++)
            l->after.R[i][i] = 1;
    if (mobile) {
        if (after_massless && parent->joint != DYN_FIXED)
            random_axis_across(source, parent, l);
        else
            random_axis(source, l->axis);
        if (l->joint == DYN_REVOLUTE || l->joint == DYN_PRISMATIC)
            l->moment_at_parent_frame = random_chance(source, 0.3);
        if (l->joint != DYN_PLANAR) {
            random_joint_forces(source, features, l);
            random_drive(source, features, room, l);
        }
    }
    if (after_massless || l->joint == DYN_PLANAR || random_chance(source, 0.85)) random_inertia(source, &l->inertia);
}

static bool has_child(const random_tree *tree, size_t link)
{
    for (size_t i = link + 1; i < tree->description.n_links; i++)
        if (tree->links[i].parent == (int)link) return true;
    return false;
}

static bool can_lead(const dyn_link *l)
{
    return l->joint != DYN_FIXED && dyn_joint_nv(l->joint) == 1 && !l->mimic;
}

/* Chooses the leader of every mimic: a moving link with a coordinate of its own. */
static void choose_leaders(random_source *source, random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++) {
        dyn_link *l = &tree->links[i], *leader;
        while (l->mimic) {
            l->leader = (int)random_below(source, tree->description.n_links);
            leader    = &tree->links[l->leader];
            if (can_lead(leader)) break;
        }
    }
}

static bool has_leader(const random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++)
        if (can_lead(&tree->links[i])) return true;
    return false;
}

/* Removes all mimics if no joint can lead them: planar joints and joints with a quaternion cannot. */
static void drop_mimics(random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links && !has_leader(tree); i++)
        if (tree->links[i].mimic) tree->links[i].joint = DYN_FIXED, tree->links[i].mimic = false;
}

/* Chooses the link that carries each motor. The motor of an elastic joint is on any link; on a floating robot, one in
 * five is on the base. */
static void place_motors(random_source *source, unsigned features, random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++) {
        dyn_link *l   = &tree->links[i];
        bool      far = l->elastic || ((features & TREE_FAR) && random_chance(source, 0.3));
        if (!l->motor.present) continue;
        l->motor.link = far                          ? (int)random_below(source, tree->description.n_links + 1) - 1
                        : random_chance(source, 0.7) ? l->parent
                                                     : (int)i;
        if (far && tree->description.floating && random_chance(source, 0.2)) l->motor.link = -1;
    }
}

/* Sometimes changes a link's joint to one with a quaternion, if `room` degrees of freedom are left for it. */
static void draw_quaternion_joint(random_source *source, size_t room, dyn_link *l)
{
    if (room < 3 || !random_chance(source, 0.3)) return;
    *l = (dyn_link){.parent  = l->parent,
                    .joint   = room >= 6 && random_chance(source, 0.4) ? DYN_FLOATING : DYN_SPHERICAL,
                    .before  = l->before,
                    .after   = l->after,
                    .ratio   = 1,
                    .inertia = l->inertia};
}

static size_t random_coordinates(const dyn_link *l)
{
    return (l->mimic ? 0 : (size_t)dyn_joint_nv(l->joint)) + (size_t)l->elastic;
}

static bool can_be_driven(const dyn_link *l)
{
    return can_lead(l) && !l->elastic && !l->motor.present;
}

/* Lists up to `most` links whose joints a transmission can drive. The search starts at a random link, so that they are
 * often neighbours. */
static size_t choose_driven(random_source *source, const random_tree *tree, size_t most, int *joint)
{
    size_t n = 0, links = tree->description.n_links, first = links > 0 ? random_below(source, links) : 0;
    for (size_t i = first; i < links && n < most; i++)
        if (can_be_driven(&tree->links[i])) joint[n++] = (int)i;
    return n;
}

/* Adds a coupled transmission to half of the robots: up to three joints and as many motors, or a transmission of up to
 * eight joints. These numbers are drawn last, so that all other numbers of a seed stay the same. */
static void draw_transmissions(random_source *source, unsigned features, random_tree *tree)
{
    dyn_description *d = &tree->description;
    if (!(features & TREE_TRANSMISSIONS) || !random_chance(source, 0.5)) return;
    int    joint[DYN_MAX_DRIVEN];
    size_t n = choose_driven(source, tree, random_chance(source, 0.2) ? DYN_MAX_DRIVEN : 3, joint);
    for (size_t k = 0; k < n && d->n_drives < TREE_MAX_DRIVES; k++) {
        dyn_drive *drive = &tree->drives[d->n_drives++];
        *drive           = (dyn_drive){.n = n, .rotor_inertia = random_between(source, 0.001, 0.1)};
        for (size_t j = 0; j < n; j++) {
            drive->joint[j]  = joint[j];
            drive->weight[j] = random_between(source, -1, 1);
        }
        if ((features & TREE_FRICTION) && random_chance(source, 0.7)) random_friction(source, &drive->friction);
    }
}

/* Gives rotors, dampers and springs to joints with a quaternion, rotors and dampers to a floating base, from a random
   source of their own, so that the other numbers of a seed stay the same. */
static void draw_free_forces(uint64_t seed, unsigned features, random_tree *tree)
{
    random_source    source = {.state = ~seed * 0x9e3779b97f4a7c15u};
    dyn_description *d      = &tree->description;
    const bool       rotors = features & TREE_ROTORS, dampers = features & TREE_DAMPERS;
    if (rotors && d->floating && random_chance(&source, 0.4)) d->base_rotor_inertia = random_between(&source, 0.01, 2);
    if (dampers && d->floating && random_chance(&source, 0.4)) d->base_damping = random_between(&source, 0, 3);
    for (size_t i = 0; i < d->n_links; i++) {
        dyn_link *l = &tree->links[i];
        if (!dyn_joint_has_quaternion(l->joint)) continue;
        if (rotors && random_chance(&source, 0.5)) l->rotor_inertia = random_between(&source, 0.01, 1);
        if (dampers && random_chance(&source, 0.5)) l->spring.damping = random_between(&source, 0, 2);
        if ((features & TREE_SPRINGS) && l->joint == DYN_SPHERICAL && random_chance(&source, 0.5))
            l->spring.stiffness = random_between(&source, 1, 20);
    }
}

/* Gives springs and dampers of joints with one coordinate terms of second and third power, from a random source of its
 * own. A spring becomes stiffer at both ends, with b^2 < 3 a c for a x + b x^2 + c x^3, so that its potential has one
 * minimum. */
static void draw_polynomials(uint64_t seed, random_tree *tree)
{
    random_source source = {.state = ~seed * 0xbf58476d1ce4e5b9u};
    for (size_t i = 0; i < tree->description.n_links; i++) {
        dyn_spring *s = &tree->links[i].spring;
        if (dyn_joint_nv(tree->links[i].joint) != 1) continue;
        if (s->stiffness != 0 && random_chance(&source, 0.3)) {
            s->stiffness3 = random_between(&source, 0.02, 0.3);
            s->stiffness2 = random_between(&source, -1, 1) * sqrt(s->stiffness * s->stiffness3);
        }
        if (s->damping != 0 && random_chance(&source, 0.3)) s->damping2 = random_between(&source, 0.05, 0.5);
        if (s->damping != 0 && random_chance(&source, 0.3)) s->damping3 = random_between(&source, 0.02, 0.3);
    }
}

static double draw_share(random_source *source)
{
    return random_chance(source, 0.3) ? 0 : random_chance(source, 0.3) ? 1 : random_between(source, -0.5, 1.5);
}

/* Draws which part of gravity is compensated at links, from a random source of its own. */
static void draw_compensation(uint64_t seed, unsigned features, random_tree *tree)
{
    random_source source = {.state = (seed + 3) * 0x9e3779b97f4a7c15u};
    if (!(features & (TREE_COMPENSATED | TREE_PLAIN)) || !random_chance(&source, 1.0 / 3)) return;
    tree->description.base_gravity_compensation = draw_share(&source);
    for (size_t i = 0; i < tree->description.n_links; i++)
        tree->links[i].gravity_compensation = draw_share(&source);
}

void random_tree_share_compensation(random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++) {
        dyn_link *l = &tree->links[i];
        if (l->joint != DYN_FIXED) continue;
        l->gravity_compensation = l->parent == DYN_WORLD ? tree->description.base_gravity_compensation
                                                         : tree->links[l->parent].gravity_compensation;
    }
}

static void give_tips_mass(random_source *source, random_tree *tree)
{
    for (size_t i = 0; i < tree->description.n_links; i++)
        if (tree->links[i].inertia.mass == 0 && !has_child(tree, i)) random_inertia(source, &tree->links[i].inertia);
}

/* Makes a random tree. `along`: probability that the parent of a link is the previous link. */
static random_tree grow(uint64_t seed, size_t dof, bool floating, unsigned features, double along)
{
    random_source source = {.state = seed * 0x100000001b3u + 17};
    size_t        joints = floating ? dof - 6 : dof;
    random_tree   tree   = {.links  = calloc(3 * joints + 1, sizeof *tree.links),
                            .drives = calloc(TREE_MAX_DRIVES, sizeof *tree.drives)};
    if (!tree.links || !tree.drives) abort();
    tree.description =
        (dyn_description){.floating = floating, .gravity = {0, 0, -9.81}, .links = tree.links, .drives = tree.drives};
    source.neat = random_chance(&source, 0.5);
    random_inertia(&source, &tree.description.base_inertia);
    if (random_chance(&source, 0.3)) random_vector(&source, 3, 10, tree.description.gravity);
    if (random_chance(&source, 0.5)) features &= ~(unsigned)(TREE_MIMICS | TREE_FAR | TREE_HELICAL);
    size_t n = 0, free_fixed = joints, free_mimics = joints;
    bool   freely = (features & TREE_FREELY) && seed % 5 >= 3;
    while (joints > 0) {
        const bool mobile  = random_chance(&source, 0.8) || free_fixed == 0;
        const bool on_last = random_chance(&source, along);
        const int  parent  = on_last ? (int)n - 1 : (int)random_below(&source, n + 1) - 1;
        const bool mimic   = mobile && (features & TREE_MIMICS) && free_mimics > 0 && random_chance(&source, 0.1);
        tree.links[n]      = (dyn_link){.parent = parent, .mimic = mimic};
        random_link(&source, features, mobile, joints, parent < 0 ? NULL : &tree.links[parent], &tree.links[n]);
        if (freely && mobile && !mimic) draw_quaternion_joint(&source, joints, &tree.links[n]);
        if (freely) random_inertia(&source, &tree.links[n].inertia);
        joints -= random_coordinates(&tree.links[n]);
        free_mimics -= mimic;
        free_fixed -= !mobile;
        n++;
    }
    tree.description.n_links = n;
    drop_mimics(&tree);
    choose_leaders(&source, &tree);
    place_motors(&source, features, &tree);
    give_tips_mass(&source, &tree);
    draw_transmissions(&source, features, &tree);
    draw_free_forces(seed, features, &tree);
    draw_polynomials(seed, &tree);
    draw_compensation(seed, features, &tree);
    return tree;
}

random_tree random_tree_make(uint64_t seed, size_t dof, bool floating, unsigned features)
{
    return grow(seed, dof, floating, features, 0.7);
}

random_tree random_chain_make(uint64_t seed, size_t dof, bool floating, unsigned features)
{
    return grow(seed, dof, floating, features, 1);
}

void random_tree_free(random_tree *tree)
{
    free(tree->links);
    free(tree->drives);
    *tree = (random_tree){0};
}

void random_vector(random_source *source, size_t n, double size, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_between(source, -size, size);
}

static void random_quaternion(random_source *source, double q[4])
{
    double norm = 0;
    random_vector(source, 4, 1, q);
    for (int i = 0; i < 4; i++)
        norm += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
}

static void random_joint_position(random_source *source, dyn_joint_kind joint, double *q)
{
    for (int k = 0; joint == DYN_PLANAR && k < 2; k++)
        *q++ = random_between(source, -0.5, 0.5);
    if (joint == DYN_PRISMATIC) *q = random_between(source, -0.5, 0.5);
    if (joint == DYN_REVOLUTE || joint == DYN_HELICAL || joint == DYN_PLANAR) *q = random_between(source, -3.2, 3.2);
    if (joint == DYN_FLOATING) random_vector(source, 3, 2, q);
    if (dyn_joint_has_quaternion(joint)) random_quaternion(source, joint == DYN_FLOATING ? q + 3 : q);
}

void random_position(random_source *source, const dyn_description *d, double *q)
{
    if (d->floating) random_joint_position(source, DYN_FLOATING, q);
    q += d->floating ? dyn_joint_nq(DYN_FLOATING) : 0;
    for (size_t i = 0; i < d->n_links; i++) {
        if (d->links[i].mimic) continue;
        random_joint_position(source, d->links[i].joint, q);
        q += dyn_joint_nq(d->links[i].joint);
    }
    for (size_t i = 0; i < d->n_links; i++)
        if (d->links[i].elastic) *q++ = random_between(source, -3.2, 3.2);
}
