/* sdf_tree.c - find the tree: from the world, or from a root link that moves freely, along joints in either direction.
 * A joint between two links that the tree has already closes a loop. */
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

/* A link of the tree, in the order in which the links are written. */
typedef struct tree_link {
    int link;  /* frame of the link; API_SDF_WORLD: the world */
    int joint; /* joint that carries it; -1: none */
} tree_link;

typedef struct sdf_tree {
    api_sdf   *sdf;
    tree_link *link; /* [n] */
    size_t     n;
    int       *place; /* [n_frames + 1] by link + 1: 1 + its index in `link`, 0 while it is not in the tree */
} sdf_tree;

static bool is_in(const sdf_tree *t, int link)
{
    return t->place[link + 1] > 0;
}

static void add(sdf_tree *t, int link, int joint)
{
    t->link[t->n++]    = (tree_link){.link = link, .joint = joint};
    t->place[link + 1] = (int)t->n;
}

/* Adds all links that joints connect to those from `first` on, nearest first, in the order of the joints in the file.
 */
static void grow(sdf_tree *t, size_t first)
{
    api_sdf *sdf = t->sdf;
    for (size_t k = first; k < t->n; k++)
        for (size_t i = 0; i < sdf->n_joints; i++) {
            api_sdf_joint *joint   = &sdf->joints[i];
            int            from    = t->link[k].link;
            bool           forward = joint->parent == from && !is_in(t, joint->child);
            bool           reverse = joint->child == from && !is_in(t, joint->parent);
            if (joint->type == API_SDF_GEARBOX || joint->used || !(forward || reverse)) continue;
            joint->used     = true;
            joint->reversed = reverse;
            add(t, forward ? joint->child : joint->parent, (int)i);
        }
}

static bool is_child(const api_sdf *sdf, int link)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].type != API_SDF_GEARBOX && sdf->joints[i].child == link) return true;
    return false;
}

/* Root of the links that are not in the tree yet: one that no joint carries, the canonical link if that is one; or else
 * the first. API_SDF_NONE: there is none left. */
static int find_root(const sdf_tree *t)
{
    const api_sdf *sdf       = t->sdf;
    int            canonical = sdf->frames[API_SDF_MODEL].link, first = API_SDF_NONE;
    if (!is_in(t, canonical) && !is_child(sdf, canonical)) return canonical;
    for (int i = 0; i < (int)sdf->n_frames; i++) {
        if (sdf->frames[i].kind != API_SDF_IS_LINK || is_in(t, i)) continue;
        if (!is_child(sdf, i)) return i;
        if (first == API_SDF_NONE) first = i;
    }
    return first;
}

static bool touches_world(const api_sdf *sdf)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].type != API_SDF_GEARBOX &&
            (sdf->joints[i].parent == API_SDF_WORLD || sdf->joints[i].child == API_SDF_WORLD))
            return true;
    return false;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static const char *document_name(const api_sdf *sdf, int link)
{
    return link == API_SDF_WORLD ? "world" : sdf->frames[link].link_name;
}

static dyn_pose link_in_world(const api_sdf *sdf, int link)
{
    return link == API_SDF_WORLD ? dyn_pose_identity() : api_sdf_in_world(sdf, link);
}

static bool is_equal(const dyn_pose *X, const dyn_pose *Y)
{
    for (int i = 0; i < 3; i++) {
        if (X->p[i] != Y->p[i]) return false;
        for (int j = 0; j < 3; j++)
            if (X->R[i][j] != Y->R[i][j]) return false;
    }
    return true;
}

/* X_ab of two frames, from their poses in the world. Of frames at the same pose it is the identity without rounding. */
static dyn_pose between(const dyn_pose *X_wa, const dyn_pose *X_wb)
{
    if (is_equal(X_wa, X_wb)) return dyn_pose_identity();
    dyn_pose X_aw = dyn_pose_inverse(X_wa), X = dyn_pose_compose(&X_aw, X_wb);
    return X;
}

/* Writes the link that a joint carries; a joint with two axes first carries a massless link. */
static bool write_link(const sdf_tree *t, const tree_link *at)
{
    api_sdf             *sdf   = t->sdf;
    const api_sdf_joint *joint = &sdf->joints[at->joint];
    int                  parts, from = joint->reversed ? joint->child : joint->parent;
    const char          *type   = api_sdf_joint_type(joint, &parts);
    dyn_pose             X_from = link_in_world(sdf, from), X_to = link_in_world(sdf, at->link);
    dyn_pose             X_j  = api_sdf_in_world(sdf, joint->frame);
    api_xml_link         link = {.parent        = document_name(sdf, from),
                                 .type          = type,
                                 .before        = between(&X_from, &X_j),
                                 .after         = dyn_pose_identity(),
                                 .element       = sdf->frames[at->link].element,
                                 .joint_element = sdf->frames[joint->frame].element};
    for (int i = 0; i < parts; i++) {
        int part    = joint->reversed ? parts - 1 - i : i;
        link.joint  = joint->name[part];
        link.fields = api_sdf_joint_fields(sdf, joint, part);
        if (!link.fields) return false;
        link.name = document_name(sdf, at->link);
        if (i + 1 == parts) {
            link.after   = between(&X_j, &X_to);
            link.inertia = sdf->frames[at->link].inertia;
        } else {
            link.name = api_xml_reserve_name(&sdf->document, sdf->document.names, link.joint);
        }
        if (!link.name || !api_xml_write_link(&sdf->document, &link)) return api_reader_no_memory(&sdf->xml.base);
        link.parent = link.name;
        link.before = dyn_pose_identity();
    }
    return true;
}

/* Writes a root that moves freely beside others, or is fixed: its joint has no element in the file. */
static bool write_root(api_sdf *sdf, int link, bool fixed)
{
    static const char suffix[] = ".free";
    const char       *name     = document_name(sdf, link);
    size_t            size     = strlen(name) + sizeof suffix;
    char             *text     = api_arena_take(sdf->xml.base.arena, size, 1);
    dyn_pose          X        = link_in_world(sdf, link);
    double            home[7];
    if (!text) return api_reader_no_memory(&sdf->xml.base);
    snprintf(text, size, "%s%s", name, suffix);
    api_xml_link root  = {.name    = name,
                          .parent  = "world",
                          .joint   = api_xml_reserve_name(&sdf->document, sdf->document.joints, text),
                          .type    = fixed ? "fixed" : "floating",
                          .before  = fixed ? X : dyn_pose_identity(),
                          .after   = dyn_pose_identity(),
                          .inertia = sdf->frames[link].inertia,
                          .element = sdf->frames[link].element};
    root.joint_element = root.element;
    memcpy(home, X.p, sizeof X.p);
    dyn_quaternion_of((const double(*)[3])X.R, home + 3);
    for (int i = 0; i < 7; i++)
        home[i] += 0.0; /* -0 becomes 0 */
    root.fields = json_object();
    if (!root.joint || !root.fields) {
        json_decref(root.fields);
        return api_reader_no_memory(&sdf->xml.base);
    }
    if (!fixed && !api_xml_set_vector(&sdf->xml, root.fields, "home", home, 7)) {
        json_decref(root.fields);
        return false;
    }
    return api_xml_write_link(&sdf->document, &root);
}

static bool write_base(api_sdf *sdf, int floating)
{
    json_t     *base = json_object();
    const char *name = document_name(sdf, floating);
    return api_xml_set_field(&sdf->xml, sdf->document.document, "base", base) &&
           api_xml_set_field(&sdf->xml, base, "type", json_string(floating >= 0 ? "floating" : "fixed")) &&
           api_xml_set_field(&sdf->xml, base, "link", json_string(name)) &&
           (floating < 0 || api_xml_write_inertial(&sdf->document, base, &sdf->frames[floating].inertia));
}

static bool write_frames(const sdf_tree *t, int floating)
{
    api_sdf       *sdf      = t->sdf;
    size_t         left_out = 0;
    const xmlNode *first    = NULL;
    for (int i = 0; i < (int)sdf->n_frames; i++) {
        const api_sdf_frame *frame = &sdf->frames[i];
        if (frame->kind != API_SDF_IS_FRAME) continue;
        if (frame->link == API_SDF_WORLD && floating >= 0) {
            if (left_out++ == 0) first = frame->element;
            continue;
        }
        dyn_pose    X_wl = link_in_world(sdf, frame->link), X_wf = api_sdf_in_world(sdf, i);
        dyn_pose    X = between(&X_wl, &X_wf);
        const char *name;
        if (!api_xml_reserve_given(&sdf->document, sdf->document.names, frame->element, frame->name, &name) ||
            !api_xml_write_frame(&sdf->document, name, document_name(sdf, frame->link), &X))
            return false;
    }
    return left_out == 0 || api_xml_report(&sdf->xml, first, "info", "dropped",
                                           "%zu frames are fixed to the world, beside a floating base", left_out);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

/* Inverts the marks of the joints between a link and the root. */
static void turn_over(const sdf_tree *t, int link, bool *mark)
{
    for (int k = t->place[link + 1] - 1; t->link[k].joint >= 0;) {
        const api_sdf_joint *joint = &t->sdf->joints[t->link[k].joint];
        mark[t->link[k].joint]     = !mark[t->link[k].joint];
        k                          = t->place[(joint->reversed ? joint->child : joint->parent) + 1] - 1;
    }
}

/* Makes the joints between the ends of all loops passive, but the first that moves: a file does not say which are
 * driven. */
static bool mark_passive(const sdf_tree *t, const api_sdf_joint *loop, bool *any)
{
    api_sdf *sdf  = t->sdf;
    bool    *mark = api_arena_take(sdf->xml.base.arena, sdf->n_joints, sizeof *mark);
    if (!mark) return api_reader_no_memory(&sdf->xml.base);
    turn_over(t, loop->parent, mark);
    turn_over(t, loop->child, mark);
    for (size_t i = 0; i < sdf->n_joints; i++) {
        api_sdf_joint *joint = &sdf->joints[i];
        bool           moves = mark[i] && joint->type != API_SDF_FIXED && joint->leader < 0;
        if (moves && !*any &&
            !api_xml_report(&sdf->xml, sdf->frames[joint->frame].element, "info", "assumed",
                            "the joint is taken as the driven one of the loops"))
            return false;
        joint->passive |= moves && *any;
        *any |= moves;
    }
    return true;
}

static bool write_loop_frame(api_sdf *sdf, const api_sdf_joint *joint, int side, json_t *entry)
{
    const char *name = sdf->frames[joint->frame].name;
    size_t      size = strlen(name) + sizeof ".a";
    char       *text = api_arena_take(sdf->xml.base.arena, size, 1);
    int         link = side == 0 ? joint->parent : joint->child;
    dyn_pose    X_wl = link_in_world(sdf, link), X_wj = api_sdf_in_world(sdf, joint->frame);
    dyn_pose    X = between(&X_wl, &X_wj);
    if (!text) return api_reader_no_memory(&sdf->xml.base);
    snprintf(text, size, "%s.%c", name, "ab"[side]);
    const char *unique = api_xml_reserve_name(&sdf->document, sdf->document.names, text);
    if (!unique) return api_reader_no_memory(&sdf->xml.base);
    return api_xml_write_frame(&sdf->document, unique, document_name(sdf, link), &X) &&
           api_xml_set_field(&sdf->xml, entry, side == 0 ? "frame_a" : "frame_b", json_string(unique));
}

/* Reports the limits, friction, springs, mimics and rotors of a joint that closes a loop: in a document such a joint
 * has none. */
static bool report_loop(api_sdf *sdf, const api_sdf_joint *joint)
{
    static const char *const fields[] = {"limits", "friction", "spring", "mimic", "rotor_inertia"};
    int                      parts;
    char                     lost[80] = "";
    api_sdf_joint_type(joint, &parts);
    for (int part = 0; part < parts; part++) {
        json_t *given = api_sdf_joint_fields(sdf, joint, part);
        if (!given) return false;
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            const json_t *field = json_object_get(given, fields[i]);
            bool          any   = field && (!json_is_object(field) || json_object_size(field) > 0);
            size_t        used  = strlen(lost);
            if (any && !strstr(lost, fields[i]))
                snprintf(lost + used, sizeof lost - used, "%s%s", used > 0 ? ", " : "", fields[i]);
        }
        json_decref(given);
    }
    return lost[0] == '\0' || api_xml_report(&sdf->xml, sdf->frames[joint->frame].element, "warning", "not-held",
                                             "the joint closes a loop: its %s are not part of the model", lost);
}

static bool write_loop(api_sdf *sdf, const api_sdf_joint *joint)
{
    int         parts;
    const char *type  = api_sdf_joint_type(joint, &parts);
    json_t     *entry = json_object();
    bool        axis  = joint->type != API_SDF_FIXED && joint->type != API_SDF_BALL;
    if (!entry || json_array_append_new(sdf->document.loops, entry)) return api_reader_no_memory(&sdf->xml.base);
    return api_xml_set_field(&sdf->xml, entry, "name", json_string(sdf->frames[joint->frame].name)) &&
           api_xml_set_field(&sdf->xml, entry, "type", json_string(parts == 2 ? "universal" : type)) &&
           write_loop_frame(sdf, joint, 0, entry) && write_loop_frame(sdf, joint, 1, entry) &&
           (!axis || api_xml_set_vector(&sdf->xml, entry, "axis", joint->axis[0].axis, 3)) &&
           (parts == 1 || api_xml_set_vector(&sdf->xml, entry, "axis_b", joint->axis[1].axis, 3)) &&
           (joint->type != API_SDF_SCREW || api_xml_set_number(&sdf->xml, entry, "pitch", joint->pitch));
}

static bool mark_loops(const sdf_tree *t)
{
    bool any = false;
    for (size_t i = 0; i < t->sdf->n_joints; i++) {
        const api_sdf_joint *joint = &t->sdf->joints[i];
        if (joint->type != API_SDF_GEARBOX && !joint->used && !mark_passive(t, joint, &any)) return false;
    }
    return true;
}

static bool write_loops(const sdf_tree *t)
{
    for (size_t i = 0; i < t->sdf->n_joints; i++) {
        const api_sdf_joint *joint = &t->sdf->joints[i];
        if (joint->type != API_SDF_GEARBOX && !joint->used &&
            !(report_loop(t->sdf, joint) && write_loop(t->sdf, joint)))
            return false;
    }
    return true;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* Builds the tree. *floating is the link of a floating base, or API_SDF_WORLD. */
static bool build(sdf_tree *t, int *floating)
{
    api_sdf *sdf = t->sdf;
    *floating    = API_SDF_WORLD;
    bool held    = touches_world(sdf);
    if (held && sdf->base == API_SDF_BASE_FLOATING)
        return api_xml_fail(&sdf->xml, sdf->model, API_BAD_VALUE,
                            "base=floating was requested, but a joint holds the model in the world");
    if (held) add(t, API_SDF_WORLD, -1);
    grow(t, 0);
    int root = find_root(t);
    if (!held && sdf->base != API_SDF_BASE_FIXED) {
        add(t, root, -1);
        grow(t, t->n - 1);
        *floating = root;
        if (find_root(t) == API_SDF_NONE) return true;
        *floating = API_SDF_WORLD; /* several free roots: the world is the base */
    }
    while ((root = find_root(t)) != API_SDF_NONE) {
        add(t, root, -1);
        grow(t, t->n - 1);
    }
    return true;
}

static bool write_links(const sdf_tree *t, int floating)
{
    api_sdf *sdf = t->sdf;
    for (size_t k = 0; k < t->n; k++) {
        const tree_link *at = &t->link[k];
        if (at->joint >= 0 ? !write_link(t, at)
                           : at->link != API_SDF_WORLD && at->link != floating &&
                                 !write_root(sdf, at->link, sdf->base == API_SDF_BASE_FIXED))
            return false;
    }
    return true;
}

bool api_sdf_write_document(api_sdf *sdf)
{
    sdf_tree    t = {.sdf = sdf};
    int         floating;
    const char *name = NULL;
    t.link           = api_arena_take(sdf->xml.base.arena, sdf->n_frames + 1, sizeof *t.link);
    t.place          = api_arena_take(sdf->xml.base.arena, sdf->n_frames + 1, sizeof *t.place);
    if (!t.link || !t.place) return api_reader_no_memory(&sdf->xml.base);
    if (!api_xml_text(&sdf->xml, sdf->model, "name", API_OPTIONAL, &name) ||
        (name && !api_xml_set_field(&sdf->xml, sdf->document.document, "name", json_string(name))) ||
        (sdf->gravity && !api_xml_set_vector(&sdf->xml, sdf->document.document, "gravity", sdf->gravity, 3)))
        return false;
    if (!build(&t, &floating) || !mark_loops(&t) || !write_base(sdf, floating) || !write_links(&t, floating) ||
        !write_frames(&t, floating) || !write_loops(&t))
        return false;
    api_xml_document_finish(&sdf->document);
    return true;
}
