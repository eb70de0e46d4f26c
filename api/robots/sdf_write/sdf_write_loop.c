/* sdf_write_loop.c - write the joints that close loops. A joint of SDF has one pose, which its parent and its child
 * share while all positions are zero: the file holds a loop that is closed there. */
#include "sdf_write.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define APART 1e-9 /* m, and entries of a rotation: frames that differ by more are not the same */

/* Pose of a frame at zero positions, in the base link, and the link that it is fixed to. */
typedef struct loop_end {
    int      link;
    dyn_pose X_lf, X; /* pose of the frame in its link; in the base link */
} loop_end;

/* Poses of all links in the base link at zero positions; NULL when memory is short. */
static dyn_pose *find_zero_poses(api_sdf_writer *s)
{
    const api_document *d = s->w.document;
    dyn_pose           *X = api_arena_take(s->w.reader->arena, d->n_links, sizeof *X);
    for (size_t k = 0; X && k < d->n_links; k++) {
        const api_document_link *link = &d->links[d->order[k]];
        dyn_pose                 from = link->parent_index == DYN_WORLD ? dyn_pose_identity() : X[link->parent_index];
        from                          = dyn_pose_compose(&from, &link->dyn.before);
        X[d->order[k]]                = dyn_pose_compose(&from, &link->dyn.after);
    }
    return X;
}

static loop_end find_loop_end(const api_document *d, const dyn_pose *X, const char *name)
{
    loop_end end = {.link = DYN_WORLD, .X_lf = dyn_pose_identity(), .X = dyn_pose_identity()};
    for (size_t i = 0; i < d->n_links; i++)
        if (strcmp(d->links[i].name, name) == 0) end.link = (int)i;
    for (size_t i = 0; i < d->n_frames; i++)
        if (strcmp(d->frames[i].name, name) == 0) {
            end.link = d->frames[i].link;
            end.X_lf = d->frames[i].X_lf;
        }
    if (end.link != DYN_WORLD) end.X = X[end.link];
    end.X = dyn_pose_compose(&end.X, &end.X_lf);
    return end;
}

/* True if the loop is closed at zero positions: for a ball joint the points are equal, for a revolute joint also the
 * axes, for other joints the frames. */
static bool is_closed_at_zero(const api_document_loop *loop, const loop_end *a, const loop_end *b)
{
    dyn_pose X_a = dyn_pose_inverse(&a->X), X = dyn_pose_compose(&X_a, &b->X);
    bool     closed = fabs(X.p[0]) <= APART && fabs(X.p[1]) <= APART && fabs(X.p[2]) <= APART;
    for (int i = 0; i < 3; i++) {
        if (loop->kind == DYN_LOOP_REVOLUTE) closed &= fabs(dyn_dot(X.R[i], loop->axis) - loop->axis[i]) <= APART;
        for (int j = 0; j < 3; j++)
            if (loop->kind != DYN_LOOP_REVOLUTE && loop->kind != DYN_LOOP_SPHERICAL)
                closed &= fabs(X.R[i][j] - (i == j)) <= APART;
    }
    return closed;
}

/* Type of the joint in the file, and its kind among those of the tree; NULL: SDF has no such joint. */
static const char *loop_type_in_file(const api_document_loop *loop, dyn_joint_kind *kind)
{
    *kind = DYN_REVOLUTE;
    switch (loop->kind) {
    case DYN_LOOP_REVOLUTE: return "continuous";
    case DYN_LOOP_UNIVERSAL: return "universal";
    case DYN_LOOP_PRISMATIC: return "prismatic";
    case DYN_LOOP_FIXED: *kind = DYN_FIXED; return "fixed";
    case DYN_LOOP_SPHERICAL: *kind = DYN_SPHERICAL; return "ball";
    case DYN_LOOP_HELICAL: *kind = DYN_HELICAL; return loop->pitch != 0 ? "screw" : "continuous";
    case DYN_LOOP_PLANAR:
    case DYN_LOOP_CYLINDRICAL: break;
    }
    return NULL;
}

static void report_unheld_loop(api_sdf_writer *s, size_t i, const char *why)
{
    const char *name = s->w.document->loops[i].name;
    char        where[40];
    snprintf(where, sizeof where, "/loops/%zu", i);
    api_xml_not_held(&s->w, where, "loop \"%.*s\" is not part of the file: %s", api_text_shown(name), name, why);
}

/* The child of a joint cannot be the world: then the joint is written with parent and child exchanged, which is the
 * same constraint. */
static void put_loop_joint(api_sdf_writer *s, size_t i, const dyn_pose *poses)
{
    const api_document      *d    = s->w.document;
    const api_document_loop *loop = &d->loops[i];
    loop_end                 a = find_loop_end(d, poses, loop->frame_a), b = find_loop_end(d, poses, loop->frame_b);
    dyn_joint_kind           kind;
    const char              *type = loop_type_in_file(loop, &kind);
    if (!type) {
        report_unheld_loop(s, i, "SDF has no such joint");
        return;
    }
    if (!is_closed_at_zero(loop, &a, &b)) {
        report_unheld_loop(s, i,
                           "while all positions are zero its frames are apart, and SDF gives a joint one pose there");
        return;
    }
    bool         swapped = strcmp(api_sdf_link_name(s, b.link), "world") == 0;
    api_sdf_part part    = {.name   = api_sdf_take_reported_name(s, "loop", "/loops", loop->name),
                            .parent = api_sdf_link_name(s, swapped ? b.link : a.link),
                            .child  = api_sdf_link_name(s, swapped ? a.link : b.link),
                            .X      = swapped ? b.X_lf : a.X_lf,
                            .kind   = kind,
                            .pitch  = loop->pitch};
    memcpy(part.axis, swapped && loop->kind == DYN_LOOP_UNIVERSAL ? loop->axis_b : loop->axis, sizeof part.axis);
    xmlNode *axis = api_sdf_put_part(s, &part, type);
    if (loop->kind != DYN_LOOP_UNIVERSAL || !axis) return;
    api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, api_xml_put(&s->w, axis->parent, "axis2"), "xyz"),
                                swapped ? loop->axis : loop->axis_b, 3);
}

void api_sdf_put_loops(api_sdf_writer *s)
{
    const dyn_pose *poses = find_zero_poses(s);
    if (!poses) {
        s->w.failed = true;
        api_reader_no_memory(s->w.reader);
        return;
    }
    for (size_t i = 0; i < s->w.document->n_loops; i++)
        put_loop_joint(s, i, poses);
}
