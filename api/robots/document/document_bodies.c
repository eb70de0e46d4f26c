/* document_bodies.c - check the inertias of bodies. A body is a link that moves, or the base, with the links that are
 * fixed to it. A link of files from CAD programs may have an indefinite tensor; the sum of its body is what the
 * dynamics use. */
#include "document.h"
#include <stdio.h>

/* Inertia of a link in the frame of its parent; the joint is fixed. */
static dyn_inertia in_parent(const dyn_link *link, const dyn_inertia *inertia)
{
    dyn_pose    X     = dyn_pose_compose(&link->before, &link->after);
    dyn_inertia moved = {.mass = inertia->mass};
    for (int i = 0; i < 3; i++)
        moved.com[i] = X.p[i] + dyn_dot(X.R[i], inertia->com);
    api_tensor_rotate((const double(*)[3])X.R, inertia->about_com, moved.about_com);
    return moved;
}

void api_document_sum_bodies(const api_document *document, dyn_inertia *sum)
{
    sum[0] = document->base_inertia;
    for (size_t i = 0; i < document->n_links; i++)
        sum[i + 1] = document->links[i].dyn.inertia;
    for (size_t k = document->n_links; k-- > 0;) {
        int                      i    = document->order[k];
        const api_document_link *link = &document->links[i];
        if (link->dyn.joint != DYN_FIXED) continue;
        dyn_inertia moved = in_parent(&link->dyn, &sum[i + 1]);
        api_inertia_add(&sum[link->parent_index + 1], &moved);
    }
}

/* The link that moves the body of link i, or DYN_WORLD. */
static int find_mover(const api_document *document, int i)
{
    while (i != DYN_WORLD && document->links[i].dyn.joint == DYN_FIXED)
        i = document->links[i].parent_index;
    return i;
}

static bool report_accepted(api_reader *reader, const char *where, const char *link, const char *refusal)
{
    return api_reader_report(
        reader, where, "warning", "suspicious",
        "link \"%.*s\": %s; it is accepted as asked: where the mass matrix is not positive definite, "
        "operations that solve with it are refused",
        api_text_shown(link), link, refusal);
}

/* Reports an indefinite tensor of the base, which the document accepts. */
static bool check_base(const api_document *document, api_reader *reader)
{
    char reason[160];
    if (!api_inertia_is_indefinite(&document->base_inertia)) return true;
    return report_accepted(reader, "/base/inertial", document->base,
                           api_inertia_refusal(&document->base_inertia, reason));
}

static bool check_link(const api_document *document, api_reader *reader, int i, const dyn_inertia *sum)
{
    const api_document_link *link  = &document->links[i];
    int                      mover = find_mover(document, i);
    bool                     still = mover == DYN_WORLD && !document->floating;
    char                     reason[160], body[160], where[64];
    snprintf(where, sizeof where, "/links/%d/inertial", i);
    const char *refusal = api_inertia_refusal(&link->dyn.inertia, reason);
    if (!still && api_inertia_refusal(&sum[mover + 1], body)) {
        if (document->accepts_indefinite) return report_accepted(reader, where, link->name, refusal);
        return api_fail(reader->problem, API_BAD_INERTIA, where,
                        "%s: no body has it; correct the moments or the signs of the products of inertia; a URDF file "
                        "loads all the same with inertia=accept, a document with \"accept_indefinite\": true",
                        refusal);
    }
    return api_reader_report(reader, where, "warning", "suspicious", "link \"%.*s\": %s; %s",
                             api_text_shown(link->name), link->name, refusal,
                             still ? "it is fixed to the world: that has no effect"
                                   : "with the links that it is fixed to it is possible");
}

bool api_document_check_bodies(const api_document *document, api_reader *reader)
{
    dyn_inertia *sum = NULL;
    if (!check_base(document, reader)) return false;
    for (size_t i = 0; i < document->n_links; i++) {
        if (!api_inertia_is_indefinite(&document->links[i].dyn.inertia)) continue;
        if (!sum) {
            sum = api_arena_take(reader->arena, document->n_links + 1, sizeof *sum);
            if (!sum) return api_reader_no_memory(reader);
            api_document_sum_bodies(document, sum);
        }
        if (!check_link(document, reader, (int)i, sum)) return false;
    }
    return true;
}
