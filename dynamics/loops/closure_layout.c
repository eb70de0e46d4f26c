/* closure_layout.c - finds the columns of closure equations and their components (closure_layout.h). */
#include "closure_layout.h"
#include <string.h>

/* The layout under construction. Frame pairs and unknowns are the nodes of a graph, pairs first; connected nodes belong
 * to one component. */
typedef struct laying {
    dyn_memory                   memory;
    const dyn_closure_equations *equations;
    dyn_closure_layout          *layout;
    size_t                       nv;
    dyn_pair_columns            *columns;
    size_t                      *first;
    int                         *velocity;
    dyn_closure_row             *row;
    dyn_closure_component       *component;
    size_t *link;     /* [n_pairs + unknowns] another node of the same component; in the end the component's node of
                         least index */
    int    *unknown;  /* [nv] index of a tree velocity among the unknowns; -1: it is known */
    bool   *moves;    /* [nv] scratch */
    size_t *actuated; /* [nv] scratch: indices of the actuated velocities of one component in the mechanism */
    int    *actuated_velocity; /* [nv] scratch: indices of the same velocities in the tree */
} laying;

/* --- columns ----------------------------------------------------------------------------------------------------- */

/* Marks in l->moves the coordinates of the joints on the path through the tree between the two frames of pair k. Bodies
 * are listed after their parents, and the world has the smallest index. Returns the number of coordinates. */
static size_t mark_columns(const laying *l, size_t k)
{
    const dyn_model *m = l->equations->mechanism.tree;
    int              a = l->equations->pair[k].a.body, b = l->equations->pair[k].b.body;
    size_t           n = 0;
    memset(l->moves, 0, l->nv * sizeof *l->moves);
    while (a != b) {
        int            *farther = a > b ? &a : &b;
        const dyn_body *body    = &m->body[*farther];
        memset(l->moves + body->joint.v, true, (size_t)dyn_joint_nv(body->joint.kind) * sizeof *l->moves);
        *farther = body->tree.parent;
    }
    for (size_t v = 0; v < l->nv; v++)
        n += l->moves[v];
    return n;
}

static size_t rows_of_pair(const dyn_closure_equations *equations, size_t k)
{
    const dyn_loops *loops = equations->mechanism.loops;
    return k < loops->n ? loops->loop[k].rows : equations->frame_rows;
}

/* Counts the columns and rows of all frame pairs, and sets the index of the first column and first row of each pair.
 * Returns the sum of the columns. */
static size_t place_columns(laying *l)
{
    size_t sum = 0, rows = 0;
    for (size_t k = 0; k < l->equations->n_pairs; k++) {
        l->columns[k] = (dyn_pair_columns){.first = sum, .n = mark_columns(l, k)};
        l->first[k]   = rows;
        sum += l->columns[k].n;
        rows += rows_of_pair(l->equations, k);
    }
    l->first[l->equations->n_pairs] = rows;
    return sum;
}

/* Lists the tree velocities that are columns of frame pair k. Returns false if memory is refused. */
static bool list_pair_columns(const laying *l, size_t k)
{
    int   *column = dyn_take(l->memory, l->nv * sizeof *column);
    size_t n      = 0;
    if (!column) return false;
    mark_columns(l, k);
    for (size_t v = 0; v < l->nv; v++) {
        column[v] = l->moves[v] ? (int)n : -1;
        if (l->moves[v]) l->velocity[l->columns[k].first + n++] = (int)v;
    }
    l->columns[k].column = column;
    return true;
}

/* Describes the Jacobian rows of frame pair k, whose entries begin at index `place`. The rows of a platform's position
 * are divided by the model's length. Returns the index after the last entry. */
static size_t set_pair_rows(const laying *l, size_t k, size_t place)
{
    const dyn_loops *loops = l->equations->mechanism.loops;
    for (size_t r = 0; r < rows_of_pair(l->equations, k); r++, place += l->columns[k].n) {
        dyn_closure_row *row = &l->row[l->first[k] + r];
        *row                 = (dyn_closure_row){.pair = 6 * l->columns[k].first, .first = place, .n = l->columns[k].n};
        if (k < loops->n)
            memcpy(row->E, loops->loop[k].E[r], sizeof row->E);
        else
            row->E[r] = r < 3 ? 1 / loops->length : 1;
    }
    return place;
}

static bool set_columns(laying *l)
{
    const dyn_closure_equations *equations = l->equations;
    const size_t                 n         = equations->n_pairs;
    size_t                       place     = 0;
    l->columns                             = dyn_take(l->memory, n * sizeof *l->columns);
    l->first                               = dyn_take(l->memory, (n + 1) * sizeof *l->first);
    l->row                                 = dyn_take(l->memory, equations->rows * sizeof *l->row);
    l->moves                               = dyn_take(l->memory, l->nv * sizeof *l->moves);
    l->actuated                            = dyn_take(l->memory, l->nv * sizeof *l->actuated);
    l->actuated_velocity                   = dyn_take(l->memory, l->nv * sizeof *l->actuated_velocity);
    if (!l->columns || !l->first || !l->row || !l->moves || !l->actuated || !l->actuated_velocity) return false;
    const size_t sum = place_columns(l);
    l->velocity      = dyn_take(l->memory, sum * sizeof *l->velocity);
    if (!l->velocity) return false;
    for (size_t k = 0; k < n; k++) {
        if (!list_pair_columns(l, k)) return false;
        place = set_pair_rows(l, k, place);
        if (l->columns[k].n > l->layout->most_columns) l->layout->most_columns = l->columns[k].n;
    }
    l->layout->columns = l->columns, l->layout->first = l->first, l->layout->velocity = l->velocity;
    l->layout->row = l->row, l->layout->pair_entries = 6 * sum, l->layout->entries = place;
    return true;
}

/* --- components -------------------------------------------------------------------------------------------------- */

/* Returns the node of least index in the component of a node, and shortens the chain of links to it (union-find). */
static size_t root_of(size_t *link, size_t node)
{
    while (link[node] != node)
        node = link[node] = link[link[node]];
    return node;
}

static void join_components(size_t *link, size_t a, size_t b)
{
    a = root_of(link, a), b = root_of(link, b);
    if (a < b)
        link[b] = a;
    else
        link[a] = b;
}

static bool join_nodes(laying *l)
{
    const dyn_closure_equations *equations = l->equations;
    l->link    = dyn_take(l->memory, (equations->n_pairs + equations->unknowns) * sizeof *l->link);
    l->unknown = dyn_take(l->memory, l->nv * sizeof *l->unknown);
    if (!l->link || !l->unknown) return false;
    for (size_t i = 0; i < equations->n_pairs + equations->unknowns; i++)
        l->link[i] = i;
    for (size_t v = 0; v < l->nv; v++)
        l->unknown[v] = -1;
    for (size_t u = 0; u < equations->unknowns; u++)
        l->unknown[equations->unknown[u]] = (int)u;
    for (size_t k = 0; k < equations->n_pairs; k++)
        for (size_t e = 0; e < l->columns[k].n; e++) {
            const int u = l->unknown[l->velocity[l->columns[k].first + e]];
            if (u >= 0) join_components(l->link, k, equations->n_pairs + (size_t)u);
        }
    for (size_t i = 0; i < equations->n_pairs + equations->unknowns; i++)
        l->link[i] = root_of(l->link, i);
    return true;
}

/* Sets `block` to the indices, in the Jacobian, of the entries that the rows of component c have in the columns of n
 * tree velocities `velocity`. Returns false if memory is refused. */
static bool set_entries(const laying *l, const dyn_closure_component *c, const size_t *pairs, size_t n,
                        const int *velocity, dyn_closure_block *block)
{
    int *entry = dyn_take(l->memory, c->block.m * n * sizeof *entry);
    if (!entry) return false;
    *block = (dyn_closure_block){c->block.m, n, entry};
    for (size_t i = 0; i < c->block.m; i++)
        for (size_t j = 0; j < n; j++) {
            const int column = l->columns[pairs[i]].column[velocity[j]];
            entry[i * n + j] = column < 0 ? -1 : (int)l->row[c->row[i]].first + column;
        }
    return true;
}

/* The rows, unknowns and velocities of a component under construction. */
typedef struct listing {
    size_t *row, *pair; /* [m] each: indices of the rows, and the frame pair of each row */
    size_t *unknown;    /* [n] indices of the component's unknowns among all unknowns */
    int    *velocity;   /* [n] tree velocity of each of these unknowns */
    size_t  n_actuated; /* number of the component's entries in laying.actuated */
} listing;

static bool open_listing(const laying *l, const dyn_closure_component *c, listing *t)
{
    *t = (listing){.row      = dyn_take(l->memory, c->block.m * sizeof *t->row),
                   .pair     = dyn_take(l->memory, c->block.m * sizeof *t->pair),
                   .unknown  = dyn_take(l->memory, c->block.n * sizeof *t->unknown),
                   .velocity = dyn_take(l->memory, c->block.n * sizeof *t->velocity)};
    return t->row && t->pair && t->unknown && t->velocity;
}

/* Lists the rows, unknowns and actuated velocities of the component whose node of least index is `root`. */
static void list_component(const laying *l, size_t root, listing *t)
{
    const dyn_closure_equations *equations = l->equations;
    size_t                       m = 0, n = 0;
    memset(l->moves, 0, l->nv * sizeof *l->moves);
    for (size_t k = 0; k < equations->n_pairs; k++) {
        if (l->link[k] != root) continue;
        for (size_t r = l->first[k]; r < l->first[k + 1]; r++)
            t->pair[m] = k, t->row[m++] = r;
        for (size_t e = 0; e < l->columns[k].n; e++)
            l->moves[l->velocity[l->columns[k].first + e]] = true;
    }
    for (size_t u = 0; u < equations->unknowns; u++)
        if (l->link[equations->n_pairs + u] == root) t->velocity[n] = equations->unknown[u], t->unknown[n++] = u;
    for (size_t j = 0; j < equations->mechanism.nv; j++) {
        const int v = equations->mechanism.loops->active_v[j];
        if (l->moves[v] && l->unknown[v] < 0) l->actuated_velocity[t->n_actuated] = v, l->actuated[t->n_actuated++] = j;
    }
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Sets up component c, whose node of least index is `root`. On entry c->block has the numbers of rows and unknowns. */
static bool set_component(const laying *l, size_t root, dyn_closure_component *c)
{
    dyn_closure_layout *layout = l->layout;
    listing             t;
    if (!open_listing(l, c, &t)) return false;
    list_component(l, root, &t);
    size_t *actuated = dyn_take(l->memory, t.n_actuated * sizeof *actuated);
    if (!actuated) return false;
    memcpy(actuated, l->actuated, t.n_actuated * sizeof *actuated);
    c->row = t.row, c->unknown = t.unknown, c->actuated = actuated;
    if (!set_entries(l, c, t.pair, c->block.n, t.velocity, &c->block) ||
        !set_entries(l, c, t.pair, t.n_actuated, l->actuated_velocity, &c->known))
        return false;
    layout->inverse_entries += c->block.m * c->block.n;
    layout->most_m        = larger(layout->most_m, c->block.m);
    layout->most_n        = larger(layout->most_n, c->block.n);
    layout->most_actuated = larger(layout->most_actuated, c->known.n);
    return true;
}

/* Counts the rows and unknowns of each component, and numbers the components: index[i] is the number of the component
 * whose node of least index is i. */
static void count_component(laying *l, size_t *index)
{
    const dyn_closure_equations *equations = l->equations;
    for (size_t i = 0; i < equations->n_pairs + equations->unknowns; i++) {
        if (l->link[i] == i) l->component[index[i] = l->layout->n++] = (dyn_closure_component){0};
        dyn_closure_component *c = &l->component[index[l->link[i]]];
        if (i < equations->n_pairs)
            c->block.m += rows_of_pair(equations, i);
        else
            c->block.n++;
    }
}

static bool set_components(laying *l)
{
    const size_t nodes = l->equations->n_pairs + l->equations->unknowns;
    size_t      *index = dyn_take(l->memory, nodes * sizeof *index), inverse = 0, scale = 0;
    l->component = dyn_take(l->memory, nodes * sizeof *l->component);
    if (!index || !l->component) return false;
    count_component(l, index);
    for (size_t i = 0; i < nodes; i++) {
        if (l->link[i] != i) continue;
        dyn_closure_component *c = &l->component[index[i]];
        c->inverse = inverse, c->scale = scale;
        if (!set_component(l, i, c)) return false;
        inverse += c->block.m * c->block.n;
        scale += c->block.n;
    }
    l->layout->component = l->component;
    return true;
}

bool dyn_closure_lay_out(dyn_memory memory, const dyn_closure_equations *equations, dyn_closure_layout *layout)
{
    laying l = {.memory = memory, .equations = equations, .layout = layout, .nv = equations->mechanism.loops->nv};
    *layout  = (dyn_closure_layout){0};
    return set_columns(&l) && join_nodes(&l) && set_components(&l);
}
