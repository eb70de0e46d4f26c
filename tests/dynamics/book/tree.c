/* tree.c - makes the bodies of the book's algorithms from a description (book.h). */
#include "book.h"
#include <stdlib.h>
#include <string.h>

static const dyn_pose identity = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* Returns X_ac = X_ab X_bc. */
static dyn_pose compose(const dyn_pose *ab, const dyn_pose *bc)
{
    dyn_pose ac = {.p = {ab->p[0], ab->p[1], ab->p[2]}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            ac.p[i] += ab->R[i][k] * bc->p[k];
            for (int j = 0; j < 3; j++)
                ac.R[i][j] += ab->R[i][k] * bc->R[k][j];
        }
    return ac;
}

/* Returns the spatial inertia [I_c + m cx cx^T, m cx; m cx^T, m 1] (eq. 2.63), moved from the link frame to the frame
 * of the body. */
static mat6 body_inertia(const dyn_inertia *inertia, const dyn_pose *after)
{
    static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const double     m           = inertia->mass;
    double           c[3][3];
    mat6             in_link = {{{0}}}, I = {{{0}}};
    const mat6       X = transform6(after);
    skew3(inertia->com, c);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            in_link.e[i][j] = inertia->about_com[entry[i][j]];
            for (int k = 0; k < 3; k++)
                in_link.e[i][j] += m * c[i][k] * c[j][k];
            in_link.e[i][3 + j] = in_link.e[3 + j][i] = m * c[i][j];
            in_link.e[3 + i][3 + j]                   = i == j ? m : 0;
        }
    add_congruent6(&I, &X, &in_link);
    return I;
}

int book_body_of(const book_tree *tree, int link)
{
    return link + 1 + (tree->description->floating ? 1 : 0);
}

static void make_link_body(book_tree *tree, int link, const dyn_pose *parent_after)
{
    const dyn_link *l   = &tree->description->links[link];
    const dyn_pose  X_T = compose(parent_after, &l->before);
    book_body      *b   = &tree->body[book_body_of(tree, link)];
    b->lambda           = book_body_of(tree, l->parent);
    b->type             = l->joint;
    b->pitch            = l->pitch;
    b->ratio            = l->ratio;
    b->offset           = l->offset;
    b->n                = dyn_joint_nv(l->joint);
    b->rotor            = l->elastic ? 0 : l->ratio * l->ratio * l->rotor_inertia;
    b->damping          = l->spring.damping;
    b->stiffness        = l->spring.stiffness;
    b->share            = 1 - l->gravity_compensation;
    b->X_T              = transform6(&X_T);
    b->after            = l->after;
    b->I                = body_inertia(&l->inertia, &l->after);
    memcpy(b->axis, l->axis, sizeof b->axis);
}

/* Numbers coordinates in the order of the links; motor coordinates follow. */
static void number_coordinates(book_tree *tree)
{
    const dyn_description *d  = tree->description;
    int                    nq = d->floating ? 7 : 0;
    tree->nv                  = d->floating ? 6 : 0;
    for (size_t i = 0; i < d->n_links; i++) {
        book_body *b = &tree->body[book_body_of(tree, (int)i)];
        if (d->links[i].mimic) continue;
        b->q = nq;
        b->v = tree->nv;
        nq += dyn_joint_nq(b->type);
        tree->nv += b->n;
    }
    for (size_t i = 0; i < d->n_links; i++) {
        if (!d->links[i].elastic) continue;
        tree->q_theta[i] = nq++;
        tree->theta[i]   = tree->nv++;
    }
    for (size_t i = 0; i < d->n_links; i++) {
        if (!d->links[i].mimic || d->links[i].joint == DYN_FIXED) continue;
        book_body       *b       = &tree->body[book_body_of(tree, (int)i)];
        const book_body *leader  = &tree->body[book_body_of(tree, d->links[i].leader)];
        b->q                     = leader->q;
        b->v                     = leader->v;
        tree->shares_coordinates = true;
    }
}

/* A rotor without a motor's axis is a child of body 0 whose only inertia is `rotor`. Otherwise the rotor spins on the
 * motor's link: the inertia J a a^T about the axis a moves from the link, which includes the rotor, to the rotor's
 * body. */
static void make_rotor_body(book_tree *tree, int link)
{
    const dyn_link  *l     = &tree->description->links[link];
    const dyn_motor *motor = &l->motor;
    const book_body *joint = &tree->body[book_body_of(tree, link)];
    book_body       *b     = &tree->body[++tree->NB];
    *b                     = (book_body){.type  = DYN_REVOLUTE,
                                         .share = 1,
                                         .n     = 1,
                                         .axis  = {0, 0, 1},
                                         .q     = l->elastic ? tree->q_theta[link] : joint->q,
                                         .v     = l->elastic ? tree->theta[link] : joint->v,
                                         .ratio = motor->present ? motor->gear_ratio * (l->elastic ? 1 : l->ratio) : 1,
                                         .rotor = l->elastic ? l->rotor_inertia : 0,
                                         .X_T   = transform6(&identity),
                                         .after = identity};
    if (!l->elastic) tree->shares_coordinates = true;
    if (!motor->present) return;
    dyn_inertia spin = {.mass = 0};
    for (int i = 0, e = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            spin.about_com[e++] = motor->spin_inertia * motor->axis[i] * motor->axis[j];
    b->lambda       = book_body_of(tree, motor->link);
    book_body *host = &tree->body[b->lambda];
    b->X_T          = transform6(&host->after);
    b->I            = body_inertia(&spin, &identity);
    memcpy(b->axis, motor->axis, sizeof b->axis);
    const mat6 removed = body_inertia(&spin, &host->after);
    for (int i = 0; i < 36; i++)
        host->I.e[i / 6][i % 6] -= removed.e[i / 6][i % 6];
}

static void make_base(book_tree *tree)
{
    book_body *b      = &tree->body[1];
    tree->body[0]     = (book_body){.after = identity};
    tree->body[0].X_0 = transform6(&identity);
    if (!tree->description->floating) return;
    *b   = (book_body){.type    = DYN_FLOATING,
                       .ratio   = 1,
                       .n       = 6,
                       .rotor   = tree->description->base_rotor_inertia,
                       .damping = tree->description->base_damping,
                       .share   = 1 - tree->description->base_gravity_compensation,
                       .X_T     = transform6(&identity),
                       .after   = identity};
    b->I = body_inertia(&tree->description->base_inertia, &identity);
}

book_tree *book_make(const dyn_description *description)
{
    book_tree *tree = calloc(1, sizeof *tree);
    if (!tree) return NULL;
    tree->description        = description;
    tree->shares_coordinates = description->n_drives > 0;
    tree->theta              = calloc(description->n_links + 1, sizeof *tree->theta);
    tree->q_theta            = calloc(description->n_links + 1, sizeof *tree->q_theta);
    tree->body               = calloc(2 * description->n_links + 2, sizeof *tree->body);
    if (!tree->theta || !tree->q_theta || !tree->body) {
        book_free(tree);
        return NULL;
    }
    make_base(tree);
    for (int i = 0; i < (int)description->n_links; i++)
        make_link_body(tree, i, &tree->body[book_body_of(tree, description->links[i].parent)].after);
    tree->NB = book_body_of(tree, (int)description->n_links - 1);
    number_coordinates(tree);
    for (int i = 0; i < (int)description->n_links; i++)
        if (description->links[i].joint != DYN_FIXED &&
            (description->links[i].elastic || description->links[i].motor.present))
            make_rotor_body(tree, i);
    return tree;
}

void book_free(book_tree *tree)
{
    if (!tree) return;
    free(tree->theta);
    free(tree->q_theta);
    free(tree->body);
    free(tree);
}
