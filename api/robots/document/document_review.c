/* document_review.c - report on a finished tree: merged links, values without effect, suspicious values. */
#include "document.h"
#include <stdio.h>

static bool has_tensor(const dyn_inertia *inertia)
{
    for (int i = 0; i < 6; i++)
        if (inertia->about_com[i] != 0) return true;
    return false;
}

static bool report_merged(const api_document *document, api_reader *reader, int i, int body)
{
    const api_document_link *link = &document->links[i];
    char                     where[64];
    snprintf(where, sizeof where, "/links/%d/joint", i);
    if (body != DYN_WORLD || document->floating)
        return api_reader_report(reader, where, "info", "merged",
                                 "\"%s\" is fixed to \"%s\" and belongs to the body of \"%s\"", link->name,
                                 link->parent, body == DYN_WORLD ? document->base : document->links[body].name);
    bool counts = link->dyn.inertia.mass != 0 || has_tensor(&link->dyn.inertia);
    return api_reader_report(reader, where, "info", "merged", "\"%s\" is fixed to the world%s", link->name,
                             counts ? ": its mass and inertia have no effect" : "");
}

/* Reports each link with a fixed joint, and the body that it becomes part of: that of its nearest ancestor with a
 * moving joint. */
static bool report_fixed(const api_document *document, api_reader *reader)
{
    int *mover = api_arena_take(reader->arena, document->n_links, sizeof *mover);
    if (!mover) return api_reader_no_memory(reader);
    for (size_t k = 0; k < document->n_links; k++) {
        int i = document->order[k], up = document->links[i].parent_index;
        mover[i] = i;
        if (document->links[i].dyn.joint != DYN_FIXED) continue;
        mover[i] = up == DYN_WORLD ? DYN_WORLD : mover[up];
        if (!report_merged(document, reader, i, mover[i])) return false;
    }
    return true;
}

static bool report_base(const api_document *document, api_reader *reader)
{
    const dyn_inertia *inertia = &document->base_inertia;
    if (document->floating || (inertia->mass == 0 && !has_tensor(inertia))) return true;
    return api_reader_report(reader, "/base/inertial", "info", "dropped",
                             "the base is fixed: its mass and inertia have no effect");
}

/* True if the joint's coordinate moves a rotor. In an elastic joint the motor's own coordinate moves the rotor. */
static bool moves_rotor(const dyn_link *link)
{
    return !link->elastic && (link->rotor_inertia > 0 || link->motor.spin_inertia > 0);
}

static bool has_base_rotor(const api_document *document)
{
    return document->floating && document->base_rotor_inertia > 0;
}

/* Sets moves[i] of the joints that move a rotor of a coupled transmission. */
static void mark_coupled(const api_document *document, bool *moves)
{
    for (size_t i = 0; i < document->n_transmissions; i++) {
        const api_document_transmission *t = &document->transmissions[i];
        for (size_t j = 0; j < t->n; j++)
            for (size_t k = 0; k < t->n; k++)
                moves[t->link[j]] |= t->motor[k].rotor_inertia > 0 && t->inverse[k * t->n + j] != 0;
    }
}

/* Sets moves[i] if joint i moves mass, inertia or a rotor, by itself or through joints that mimic it. Returns true
 * if the base moves mass or has a rotor. */
static bool find_moving(const api_document *document, bool *moves, double *mass, bool *tensor)
{
    bool has_mimics = false;
    for (size_t k = document->n_links; k-- > 0;) { /* [i + 1]: link i and its descendants; [0]: the base */
        int                      i = document->order[k], up = document->links[i].parent_index;
        const api_document_link *link = &document->links[i];
        mass[i + 1] += link->dyn.inertia.mass;
        tensor[i + 1] |= has_tensor(&link->dyn.inertia);
        bool floats = dyn_joint_nv(link->dyn.joint) == 6; /* a floating link adds nothing to its parent */
        bool turns  = dyn_joint_types[link->dyn.joint].turns;
        mass[up + 1] += floats ? 0 : mass[i + 1];
        tensor[up + 1] |= !floats && tensor[i + 1];
        moves[i] = mass[i + 1] > 0 || (turns && tensor[i + 1]) || moves_rotor(&link->dyn);
        has_mimics |= link->dyn.mimic;
    }
    mark_coupled(document, moves);
    for (size_t i = 0; has_mimics && i < document->n_links; i++)
        if (document->links[i].dyn.mimic) moves[document->links[i].leader] |= moves[i];
    return mass[0] > 0 || has_base_rotor(document);
}

/* True if a joint has friction or a spring, which have torques without any mass. */
static bool has_joint_forces(const api_document *document)
{
    bool any = document->floating && document->base_damping != 0;
    for (size_t i = 0; i < document->n_links; i++) {
        const dyn_link *link = &document->links[i].dyn;
        any |= link->elastic || link->spring.stiffness != 0 || link->spring.damping != 0 ||
               dyn_spring_is_nonlinear(&link->spring) || link->friction.positive != 0 || link->friction.negative != 0 ||
               link->friction.viscous != 0;
    }
    return any;
}

/* True if neither a link, the base nor a rotor has mass or inertia. */
static bool is_massless(const api_document *document)
{
    bool any = document->base_inertia.mass > 0 || document->n_transmissions > 0 || has_base_rotor(document);
    for (size_t i = 0; i < document->n_links; i++) {
        const dyn_link *link = &document->links[i].dyn;
        any |= link->inertia.mass > 0 || has_tensor(&link->inertia) || moves_rotor(link);
    }
    return !any;
}

enum { SINGLE_ENTRIES = 3 /* most joints without mass that have entries of their own */ };

static bool is_weightless(const api_document *document, const bool *moves, int i)
{
    const dyn_link *link = &document->links[i].dyn;
    return !moves[i] && !link->mimic && link->joint != DYN_FIXED;
}

/* Reports joint i, and `others` further ones, as without mass to move. */
static bool report_weightless(const api_document *document, api_reader *reader, int i, size_t others)
{
    char        where[64], more[40] = "";
    const char *name = document->links[i].joint;
    snprintf(where, sizeof where, document->from_screws ? "/screws/G/%d" : "/links/%d", i);
    if (others > 0) snprintf(more, sizeof more, " and %zu others", others);
    return api_reader_report(reader, where, "warning", "suspicious",
                             "joint \"%.*s\"%s move%s no mass: the mass matrix is singular, forward dynamics will fail",
                             api_text_shown(name), name, more, others > 0 ? "" : "s");
}

/* Reports all joints that move neither mass, inertia nor a rotor; many of them in one entry. */
static bool report_all_weightless(const api_document *document, api_reader *reader, const bool *moves)
{
    size_t n     = 0;
    int    first = 0;
    for (size_t k = document->n_links; k-- > 0;)
        if (is_weightless(document, moves, document->order[k])) {
            first = document->order[k];
            n++;
        }
    if (n > SINGLE_ENTRIES) return report_weightless(document, reader, first, n - 1);
    for (size_t k = document->n_links; k-- > 0;)
        if (is_weightless(document, moves, document->order[k]) &&
            !report_weightless(document, reader, document->order[k], 0))
            return false;
    return true;
}

/* Reports coordinates that move neither mass, inertia nor a rotor, because they make the mass matrix singular. A
 * point mass on a revolute axis makes it singular only in some configurations, which is detected in evaluation.
 * Models with loops are not checked, since a loop may couple such a coordinate to other bodies. */
static bool report_singular(const api_document *document, api_reader *reader)
{
    size_t n = document->n_links;
    if (document->n_loops > 0) return true;
    double *mass   = api_arena_take(reader->arena, n + 1, sizeof *mass);
    bool   *tensor = api_arena_take(reader->arena, n + 1, sizeof *tensor);
    bool   *moves  = api_arena_take(reader->arena, n, sizeof *moves);
    if (!mass || !tensor || !moves) return api_reader_no_memory(reader);
    mass[0]          = document->base_inertia.mass;
    bool base_weighs = find_moving(document, moves, mass, tensor);
    if (is_massless(document))
        return api_reader_report(reader, document->from_screws ? "/screws/G" : "/links", "warning", "suspicious",
                                 "no link has a mass: all torques are zero%s, and forward dynamics will fail",
                                 has_joint_forces(document) ? " but those of friction and springs" : "");
    if (!report_all_weightless(document, reader, moves)) return false;
    if (!document->floating || base_weighs) return true;
    return api_reader_report(
        reader, "/base", "warning", "suspicious",
        "the floating base moves no mass: the mass matrix is singular, forward dynamics will fail");
}

static bool report_mimics(const api_document *document, api_reader *reader)
{
    for (size_t i = 0; i < document->n_links; i++) {
        const api_document_link *link = &document->links[i];
        char                     where[64];
        if (!link->dyn.mimic) continue;
        const char *leader = document->links[link->leader].joint;
        snprintf(where, sizeof where, "/links/%zu/joint/mimic", i);
        if (!api_reader_report(reader, where, "info", "coupled",
                               "joint \"%.*s\" has no coordinate of its own: it is at %.9g times that of \"%.*s\" "
                               "plus %.9g",
                               api_text_shown(link->joint), link->joint, link->dyn.ratio, api_text_shown(leader),
                               leader, link->dyn.offset))
            return false;
    }
    return true;
}

/* Reports elastic joints whose motor coordinate has no rotor inertia to move. */
static bool report_rotors(const api_document *document, api_reader *reader)
{
    for (size_t i = 0; i < document->n_links; i++) {
        const api_document_link *link = &document->links[i];
        char                     where[64];
        if (!link->dyn.elastic || link->dyn.rotor_inertia > 0 || link->dyn.motor.spin_inertia > 0) continue;
        snprintf(where, sizeof where, "/links/%zu/joint/elastic", i);
        if (!api_reader_report(reader, where, "warning", "suspicious",
                               "the motor of joint \"%.*s\" has no inertia: give rotor_inertia, or a motor with a "
                               "spin_inertia; the mass matrix is singular, forward dynamics will fail",
                               api_text_shown(link->joint), link->joint))
            return false;
    }
    return true;
}

/* Reports once a limit that is 0 at some joints: it keeps them from moving, or is a placeholder. */
static bool report_zero(const api_document *document, api_reader *reader, const char *field,
                        bool (*is_zero)(const api_document_link *))
{
    size_t n = 0, first          = 0;
    char   where[64], others[40] = "";
    for (size_t i = document->n_links; i-- > 0;)
        if (document->links[i].dyn.joint != DYN_FIXED && is_zero(&document->links[i])) {
            first = i;
            n++;
        }
    if (n == 0) return true;
    snprintf(where, sizeof where, "/links/%zu/joint/limits/%s", first, field);
    if (n > 1) snprintf(others, sizeof others, ", and of %zu other%s,", n - 1, n > 2 ? "s" : "");
    const char *name = document->links[first].joint;
    return api_reader_report(
        reader, where, "warning", "suspicious",
        "the %s limit of joint \"%.*s\"%s is 0: no motion keeps it; MuJoCo takes 0 for no limit, as "
        "zero_limits=none does for a URDF or SDF file",
        field, api_text_shown(name), name, others);
}

static bool has_no_effort(const api_document_link *link)
{
    return link->limits.has_effort && link->limits.effort == 0;
}

static bool has_no_velocity(const api_document_link *link)
{
    return link->limits.has_velocity && link->limits.velocity == 0;
}

static bool has_no_range(const api_document_link *link)
{
    return link->has_position_limits && link->lower == 0 && link->upper == 0;
}

static bool report_zeros(const api_document *document, api_reader *reader)
{
    return report_zero(document, reader, "effort", has_no_effort) &&
           report_zero(document, reader, "velocity", has_no_velocity) &&
           report_zero(document, reader, "position", has_no_range);
}

bool api_document_review(const api_document *document, api_reader *reader)
{
    return report_base(document, reader) && report_fixed(document, reader) && report_mimics(document, reader) &&
           report_singular(document, reader) && report_rotors(document, reader) &&
           api_document_check_figures(document, reader) && report_zeros(document, reader);
}
