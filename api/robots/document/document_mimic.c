/* document_mimic.c - resolve mimic joints, which follow the coordinate of another joint.
 *
 * Joint c may mimic joint b, which itself mimics joint a. With joint positions s, multipliers m, offsets o, and the
 * coordinate q_a of joint a:
 *
 *     s_c = m_c s_b + o_c,  s_b = m_b q_a + o_b   gives   s_c = m_c m_b q_a + (m_c o_b + o_c).
 *
 * dynamics/ only knows the independent joint a at the end of such a chain. */
#include "document.h"
#include <math.h>
#include <stdio.h>

static bool fail(api_reader *reader, const api_document *document, size_t i, api_code code, const char *reason)
{
    const api_document_link *link = &document->links[i];
    char                     pointer[80];
    snprintf(pointer, sizeof pointer, "/links/%zu/joint/mimic/joint", i);
    return api_fail(reader->problem, code, pointer, "joint \"%.*s\" mimics \"%.*s\", %s", api_text_shown(link->joint),
                    link->joint, api_text_shown(link->mimicked), link->mimicked, reason);
}

static bool fail_unknown(api_reader *reader, const api_document *document, size_t i)
{
    char      reason[API_NAMES_TEXT + 40], list[API_NAMES_TEXT];
    api_names known = api_document_joint_names(document);
    api_names_write(&known, document->links[i].mimicked, list);
    snprintf(reason, sizeof reason, "which is not a joint of this model%s", list);
    return fail(reader, document, i, API_UNKNOWN_NAME, reason);
}

static json_t *map_joints(const api_document *document)
{
    json_t *map = json_object();
    for (size_t i = 0; map && i < document->n_links; i++) {
        if (json_object_set_new(map, document->links[i].joint, json_integer((json_int_t)i)) == 0) continue;
        json_decref(map);
        return NULL;
    }
    return map;
}

/* Sets `leader` of each mimic joint to the joint that it mimics, which may itself be a mimic joint. */
static bool find_mimicked(api_document *document, api_reader *reader, const json_t *map)
{
    for (size_t i = 0; i < document->n_links; i++) {
        api_document_link *link = &document->links[i];
        if (!link->dyn.mimic) continue;
        const json_t *place = json_object_get(map, link->mimicked);
        if (!place) return fail_unknown(reader, document, i);
        link->leader = (int)json_integer_value(place);
        if (document->links[link->leader].dyn.joint == DYN_FIXED)
            return fail(reader, document, i, API_BAD_VALUE, "which is fixed");
        if (dyn_joint_nv(document->links[link->leader].dyn.joint) > 1)
            return fail(reader, document, i, API_BAD_VALUE, "which has several coordinates");
    }
    return true;
}

/* Changes ratio and offset of a mimic joint from joint `next`, which it mimics, to the independent joint that `next`
 * follows. False if they overflow or the ratio becomes 0. */
static bool compose(api_document_link *link, const api_document_link *next)
{
    if (next->dyn.mimic) {
        link->dyn.offset += link->dyn.ratio * next->dyn.offset;
        link->dyn.ratio *= next->dyn.ratio;
        link->leader = next->leader;
    }
    return isfinite(link->dyn.offset) && isfinite(link->dyn.ratio) && link->dyn.ratio != 0;
}

/* Follows the chain from `start` to an independent or resolved joint, then composes ratios on the way back. `way`
 * collects the links of the chain. done[i] is 0, start + 1 for a link of this chain, or -1 when link i is resolved. */
static bool resolve(api_document *document, api_reader *reader, size_t start, int *way, int *done)
{
    api_document_link *links   = document->links;
    size_t             n       = 0;
    int                current = (int)start;
    for (; links[current].dyn.mimic && done[current] != -1; current = links[current].leader) {
        if (done[current] == (int)start + 1)
            return fail(reader, document, (size_t)current, API_BAD_MODEL, "which mimics it in turn");
        done[current] = (int)start + 1;
        way[n++]      = current;
    }
    while (n-- > 0) {
        api_document_link *link = &links[way[n]];
        if (!compose(link, &links[link->leader]))
            return fail(reader, document, (size_t)way[n], API_NON_FINITE,
                        "and the composed multipliers and offsets overflow or vanish");
        done[way[n]] = -1;
    }
    return true;
}

static bool resolve_all(api_document *document, api_reader *reader, int *way, int *done)
{
    for (size_t i = 0; i < document->n_links; i++)
        if (document->links[i].dyn.mimic && !resolve(document, reader, i, way, done)) return false;
    return true;
}

bool api_document_resolve_mimics(api_document *document, api_reader *reader)
{
    size_t  n   = document->n_links;
    int    *way = api_arena_take(reader->arena, n, sizeof *way), *done = api_arena_take(reader->arena, n, sizeof *done);
    json_t *map = map_joints(document);
    bool    ok  = (map && way && done) || api_reader_no_memory(reader);
    ok          = ok && find_mimicked(document, reader, map) && resolve_all(document, reader, way, done);
    json_decref(map);
    return ok;
}
