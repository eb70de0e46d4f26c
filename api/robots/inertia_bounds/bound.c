/* bound.c - see bound.h: change principal moments about the axes that a tensor has. */
#include "bound.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static dyn_inertia *inertia_of(api_document *d, int link)
{
    return link == DYN_WORLD ? &d->base_inertia : &d->links[link].dyn.inertia;
}

/* An inertia that changes: its mass and principal moments before. */
typedef struct change {
    int         link; /* DYN_WORLD: the base */
    double      mass, before[3];
    const char *why;
} change;

/* Reports a change to the principal moments `I`. */
static bool report_change(api_document *d, api_reader *reader, const change *c, const double I[3])
{
    const char *name     = c->link == DYN_WORLD ? d->base : d->links[c->link].name;
    char        mass[80] = "", moments[200] = "";
    double      now = inertia_of(d, c->link)->mass;
    if (now != c->mass) snprintf(mass, sizeof mass, "; its mass of %.6g kg becomes %.6g kg", c->mass, now);
    if (memcmp(I, c->before, sizeof c->before) != 0)
        snprintf(moments, sizeof moments,
                 "; its principal moments of %.6g, %.6g, %.6g kg m^2 become %.6g, %.6g, %.6g kg m^2", c->before[0],
                 c->before[1], c->before[2], I[0], I[1], I[2]);
    return api_reader_report(reader, d->from_screws ? "/screws" : "/links", "warning", "bounded",
                             "link \"%.*s\" %s%s%s", api_text_shown(name), name, c->why, mass, moments);
}

/* Sets a tensor by principal moments about the given axes. */
static void set_principal(dyn_inertia *inertia, const double I[3], const double axes[3][3])
{
    const double diagonal[6] = {I[0], 0, 0, I[1], 0, I[2]};
    api_tensor_rotate(axes, diagonal, inertia->about_com);
}

/* --- balanced ----------------------------------------------------------------------------------------------------- */

static bool balance(api_document *d, api_reader *reader, int link)
{
    dyn_inertia *inertia = inertia_of(d, link);
    change c = {.link = link, .mass = inertia->mass, .why = "is balanced: no distribution of mass has its inertia"};
    double I[3], p[3], axes[3][3];
    if (!api_inertia_is_impossible(inertia)) return true;
    api_tensor_principal(inertia->about_com, I, axes);
    memcpy(c.before, I, sizeof I);
    for (int k = 0; k < 3; k++)
        p[k] = fmax(0, (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]) / 2);
    for (int k = 0; k < 3; k++)
        I[k] = p[(k + 1) % 3] + p[(k + 2) % 3];
    set_principal(inertia, I, (const double(*)[3])axes);
    return report_change(d, reader, &c, I);
}

bool api_bound_balance(api_document *document, api_reader *reader)
{
    bool good = balance(document, reader, DYN_WORLD);
    for (size_t i = 0; good && i < document->n_links; i++)
        good = balance(document, reader, (int)i);
    return good;
}

/* --- bounded ------------------------------------------------------------------------------------------------------ */

static bool is_sound(const dyn_inertia *inertia)
{
    double I[3], axes[3][3];
    api_tensor_principal(inertia->about_com, I, axes);
    return inertia->mass >= API_SOUND_LEAST && I[0] >= API_SOUND_LEAST && I[1] >= API_SOUND_LEAST &&
           I[2] >= API_SOUND_LEAST;
}

/* Visits children before their parents, so that a fixed link makes its parent sound, too. */
bool api_bound_find_sound(const api_document *document, api_reader *reader, api_sound_links *sound)
{
    sound->base = is_sound(&document->base_inertia);
    sound->link = api_arena_take(reader->arena, document->n_links, sizeof *sound->link);
    if (!sound->link) return api_reader_no_memory(reader);
    for (size_t k = document->n_links; k-- > 0;) {
        int                      i    = document->order[k];
        const api_document_link *link = &document->links[i];
        sound->link[i] |= is_sound(&link->dyn.inertia);
        if (link->dyn.joint != DYN_FIXED) continue;
        *(link->parent_index == DYN_WORLD ? &sound->base : &sound->link[link->parent_index]) |= sound->link[i];
    }
    return true;
}

/* A moment below 1e-12 of the largest one would be lost in rounding, so it is raised in proportion. */
bool api_bound_link(api_document *document, api_reader *reader, int link)
{
    dyn_inertia *inertia = inertia_of(document, link);
    change       c       = {.link = link, .mass = inertia->mass, .why = "is bounded: it moves without mass or moments"};
    double       I[3], axes[3][3];
    if (is_sound(inertia)) return true;
    api_tensor_principal(inertia->about_com, I, axes);
    memcpy(c.before, I, sizeof I);
    double largest = fmax(I[0], fmax(I[1], I[2]));
    if (inertia->mass < API_SOUND_LEAST) inertia->mass = API_BOUND_MASS;
    for (int k = 0; k < 3; k++)
        if (I[k] < API_SOUND_LEAST) I[k] = fmax(API_BOUND_MOMENT, 1e-12 * largest);
    set_principal(inertia, I, (const double(*)[3])axes);
    return report_change(document, reader, &c, I);
}

bool api_bound_moving(api_document *document, api_reader *reader)
{
    api_sound_links sound;
    if (!api_bound_balance(document, reader) || !api_bound_find_sound(document, reader, &sound)) return false;
    bool good = sound.base || !document->floating || api_bound_link(document, reader, DYN_WORLD);
    for (size_t i = 0; good && i < document->n_links; i++)
        if (document->links[i].dyn.joint != DYN_FIXED && !sound.link[i])
            good = api_bound_link(document, reader, (int)i);
    return good;
}
