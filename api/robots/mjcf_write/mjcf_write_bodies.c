/* mjcf_write_bodies.c - find the links that become bodies of an MJCF file, and enlarge the inertias of those that
 * MuJoCo would refuse. */
#include "mjcf_write.h"
#include <string.h>

static void count_uses(api_mjcf_bodies *b)
{
    const api_document *d = b->document;
    for (size_t i = 0; i < d->n_links; i++)
        if (d->links[i].parent_index != DYN_WORLD) {
            api_mjcf_link *parent = &b->link[d->links[i].parent_index];
            parent->n_children++;
            parent->child = (int)i;
        }
    for (size_t i = 0; i < d->n_frames; i++)
        if (d->frames[i].link != DYN_WORLD) b->link[d->frames[i].link].referenced = true;
    for (size_t i = 0; i < d->n_loops; i++)
        for (size_t k = 0; k < d->n_links; k++)
            if (strcmp(d->loops[i].frame_a, d->links[k].name) == 0 ||
                strcmp(d->loops[i].frame_b, d->links[k].name) == 0)
                b->link[k].referenced = true;
}

bool api_mjcf_find_bodies(api_mjcf_bodies *bodies, const api_document *document, api_reader *reader)
{
    bodies->document = document;
    bodies->link     = api_arena_take(reader->arena, document->n_links, sizeof *bodies->link);
    if (!bodies->link) return api_reader_no_memory(reader);
    count_uses(bodies);
    return api_bound_find_sound(document, reader, &bodies->sound);
}

/* True for a link without mass that only carries one other link. */
static bool is_joint_only(const api_mjcf_bodies *b, int i)
{
    const dyn_link *dyn = &b->document->links[i].dyn;
    return dyn->joint != DYN_FIXED && dyn->joint != DYN_FLOATING && !api_mjcf_has_inertia(&dyn->inertia) &&
           b->link[i].n_children == 1 && !b->link[i].referenced;
}

/* True if another rotation follows the joint of link i in the same body: MuJoCo allows none after a ball. */
static bool is_turned_on(const api_mjcf_bodies *b, int i)
{
    do {
        i                    = b->link[i].child;
        dyn_joint_kind joint = b->document->links[i].dyn.joint;
        if (joint != DYN_PRISMATIC && joint != DYN_FIXED) return true;
    } while (is_joint_only(b, i));
    return false;
}

bool api_mjcf_is_absorbed(const api_mjcf_bodies *bodies, int i)
{
    return is_joint_only(bodies, i) &&
           (bodies->document->links[i].dyn.joint != DYN_SPHERICAL || !is_turned_on(bodies, i));
}

int api_mjcf_coordinates(const dyn_link *dyn)
{
    switch (dyn->joint) {
    case DYN_HELICAL: return 2;
    case DYN_FIXED:
    case DYN_REVOLUTE:
    case DYN_PRISMATIC:
    case DYN_PLANAR:
    case DYN_SPHERICAL:
    case DYN_FLOATING:
    case DYN_JOINT_KINDS: break;
    }
    return dyn_joint_nv(dyn->joint);
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* Gives a mass to links that MuJoCo would otherwise count as further joints of a body that has six coordinates. */
static bool bound_long_chains(api_document *d, api_reader *reader, const api_mjcf_bodies *b, int *n)
{
    bool good = true;
    for (size_t k = 0; good && k < d->n_links; k++) {
        int i = d->order[k], up = d->links[i].parent_index;
        n[i] = api_mjcf_coordinates(&d->links[i].dyn);
        if (up == DYN_WORLD || !api_mjcf_is_absorbed(b, up)) continue;
        if (n[i] + n[up] > API_MJCF_MOST_COORDINATES)
            good = api_bound_link(d, reader, up);
        else
            n[i] += n[up];
    }
    return good;
}

/* Enlarges the inertias of moving bodies that are not sound: of links with a joint, and of links whose parent, a link
 * without mass, became one of their joints. */
static bool bound_bodies(api_document *d, api_reader *reader, const api_mjcf_bodies *b)
{
    bool good = b->sound.base || !d->floating || api_bound_link(d, reader, DYN_WORLD);
    for (size_t k = 0; good && k < d->n_links; k++) {
        int  i = d->order[k], up = d->links[i].parent_index;
        bool moves = d->links[i].dyn.joint != DYN_FIXED || (up != DYN_WORLD && api_mjcf_is_absorbed(b, up));
        if (moves && !b->sound.link[i] && !api_mjcf_is_absorbed(b, i)) good = api_bound_link(d, reader, i);
    }
    return good;
}

bool api_mjcf_bound(api_document *document, api_reader *reader)
{
    api_mjcf_bodies bodies;
    int            *n = api_arena_take(reader->arena, document->n_links, sizeof *n);
    if (!n) return api_reader_no_memory(reader);
    return api_bound_balance(document, reader) && api_mjcf_find_bodies(&bodies, document, reader) &&
           bound_long_chains(document, reader, &bodies, n) && bound_bodies(document, reader, &bodies);
}
