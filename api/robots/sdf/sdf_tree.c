/* sdf_tree.c - find the tree: from the world, or from a root link that moves freely, along joints in either direction.
 * A joint between two links that the tree has already closes a loop. */
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

static bool is_in(const api_sdf_tree *t, int link)
{
    return t->place[link + 1] > 0;
}

static void add_to_tree(api_sdf_tree *t, int link, int joint)
{
    t->link[t->n++]    = (api_sdf_tree_link){.link = link, .joint = joint};
    t->place[link + 1] = (int)t->n;
}

/* Adds all links that joints connect to its links from `first` on, nearest first, in the order of the joints in the
 * file.
 */
static void follow_joints(api_sdf_tree *t, size_t first, bool follow_balls)
{
    api_sdf *sdf = t->sdf;
    for (size_t k = first; k < t->n; k++)
        for (size_t i = 0; i < sdf->n_joints; i++) {
            api_sdf_joint *joint   = &sdf->joints[i];
            int            from    = t->link[k].link;
            bool           forward = joint->parent == from && !is_in(t, joint->child);
            bool           reverse = joint->child == from && !is_in(t, joint->parent);
            if (joint->type == API_SDF_GEARBOX || joint->used || !(forward || reverse)) continue;
            if (joint->type == API_SDF_BALL && !follow_balls) continue;
            joint->used     = true;
            joint->reversed = reverse;
            add_to_tree(t, forward ? joint->child : joint->parent, (int)i);
        }
}

static void grow(api_sdf_tree *t, size_t first)
{
    if (t->balls_last) follow_joints(t, first, false);
    follow_joints(t, t->balls_last ? 0 : first, true);
}

static bool is_child(const api_sdf *sdf, int link)
{
    for (size_t i = 0; i < sdf->n_joints; i++)
        if (sdf->joints[i].type != API_SDF_GEARBOX && sdf->joints[i].child == link) return true;
    return false;
}

/* Finds a root among the links that are not in the tree yet: one that no joint carries, preferably the canonical link;
 * else the first link. API_SDF_NONE: none is left. */
static int find_root(const api_sdf_tree *t)
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

dyn_pose api_sdf_link_in_world(const api_sdf *sdf, int link)
{
    return link == API_SDF_WORLD ? dyn_pose_identity() : api_sdf_in_world(sdf, link);
}

/* Writes the link that a joint carries; a joint with two axes first carries a massless link. */
static bool write_link(const api_sdf_tree *t, const api_sdf_tree_link *at)
{
    api_sdf             *sdf   = t->sdf;
    const api_sdf_joint *joint = &sdf->joints[at->joint];
    int                  parts, from = joint->reversed ? joint->child : joint->parent;
    const char          *type   = api_sdf_joint_type(joint, &parts);
    dyn_pose             X_from = api_sdf_link_in_world(sdf, from), X_to = api_sdf_link_in_world(sdf, at->link);
    dyn_pose             X_j  = api_sdf_in_world(sdf, joint->frame);
    api_xml_link         link = {.parent        = document_name(sdf, from),
                                 .type          = type,
                                 .before        = api_sdf_between(&X_from, &X_j),
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
            link.after                = api_sdf_between(&X_j, &X_to);
            link.inertia              = sdf->frames[at->link].inertia;
            link.gravity_compensation = sdf->frames[at->link].weightless;
        } else {
            link.name = api_xml_reserve_name(&sdf->document, sdf->document.names, link.joint);
        }
        if (!link.name || !(i + 1 == parts ? api_sdf_write_link(sdf, &sdf->frames[at->link], &link)
                                           : api_xml_write_link(&sdf->document, &link)))
            return api_reader_no_memory(&sdf->xml.base);
        link.parent = link.name;
        link.before = dyn_pose_identity();
    }
    return true;
}

/* Writes a root link with the joint that the file lacks: a fixed joint, or a floating one if several roots move
 * freely. */
static bool write_root(api_sdf *sdf, int link, bool fixed)
{
    static const char suffix[] = ".free";
    const char       *name     = document_name(sdf, link);
    size_t            size     = strlen(name) + sizeof suffix;
    char             *text     = api_arena_take(sdf->xml.base.arena, size, 1);
    dyn_pose          X        = api_sdf_link_in_world(sdf, link);
    double            home[7];
    if (!text) return api_reader_no_memory(&sdf->xml.base);
    snprintf(text, size, "%s%s", name, suffix);
    api_xml_link root  = {.name                 = name,
                          .parent               = "world",
                          .joint                = api_xml_reserve_name(&sdf->document, sdf->document.joints, text),
                          .type                 = fixed ? "fixed" : "floating",
                          .before               = fixed ? X : dyn_pose_identity(),
                          .after                = dyn_pose_identity(),
                          .inertia              = sdf->frames[link].inertia,
                          .gravity_compensation = sdf->frames[link].weightless,
                          .element              = sdf->frames[link].element};
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
    return api_sdf_write_link(sdf, &sdf->frames[link], &root);
}

static bool write_base(api_sdf *sdf, int floating)
{
    json_t     *base = json_object();
    const char *name = document_name(sdf, floating);
    return api_xml_set_field(&sdf->xml, sdf->document.document, "base", base) &&
           api_xml_set_field(&sdf->xml, base, "type", json_string(floating >= 0 ? "floating" : "fixed")) &&
           api_xml_set_field(&sdf->xml, base, "link", json_string(name)) &&
           (floating < 0 || (api_xml_write_inertial(&sdf->document, base, &sdf->frames[floating].inertia) &&
                             api_xml_write_compensation(&sdf->document, base, sdf->frames[floating].weightless) &&
                             api_sdf_read_visuals(sdf, &sdf->frames[floating], base)));
}

static bool write_frames(const api_sdf_tree *t, int floating)
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
        dyn_pose    X_wl = api_sdf_link_in_world(sdf, frame->link), X_wf = api_sdf_in_world(sdf, i);
        dyn_pose    X = api_sdf_between(&X_wl, &X_wf);
        const char *name;
        if (!api_xml_reserve_given(&sdf->document, sdf->document.names, frame->element, frame->name, &name) ||
            !api_xml_write_frame(&sdf->document, name, document_name(sdf, frame->link), &X))
            return false;
    }
    return left_out == 0 || api_xml_report(&sdf->xml, first, "info", "dropped",
                                           "%zu frames are fixed to the world, beside a floating base", left_out);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

static bool write_loop_frame(api_sdf *sdf, const api_sdf_joint *joint, int side, json_t *entry)
{
    const char *name = sdf->frames[joint->frame].name;
    size_t      size = strlen(name) + sizeof ".a";
    char       *text = api_arena_take(sdf->xml.base.arena, size, 1);
    int         link = side == 0 ? joint->parent : joint->child;
    dyn_pose    X_wl = api_sdf_link_in_world(sdf, link), X_wj = api_sdf_in_world(sdf, joint->frame);
    dyn_pose    X = api_sdf_between(&X_wl, &X_wj);
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
                                             "the joint closes a loop: the model does not hold its %s", lost);
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

static bool report_open(api_sdf *sdf, const api_sdf_joint *joint)
{
    return api_xml_report(&sdf->xml, sdf->frames[joint->frame].element, "warning", "not-held",
                          "loops=open was requested: the joint, which closes a loop, is left out");
}

static bool write_loops(const api_sdf_tree *t)
{
    for (size_t i = 0; i < t->sdf->n_joints; i++) {
        const api_sdf_joint *joint = &t->sdf->joints[i];
        if (!api_sdf_closes_loop(joint)) continue;
        if (t->sdf->loops_open ? !report_open(t->sdf, joint)
                               : !(report_loop(t->sdf, joint) && write_loop(t->sdf, joint)))
            return false;
    }
    return true;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* True if a joint closes a loop while the tree has a ball joint, which may be part of that loop. */
static bool has_loop_beside_ball(const api_sdf *sdf)
{
    bool loop = false, ball = false;
    for (size_t i = 0; i < sdf->n_joints; i++) {
        loop |= api_sdf_closes_loop(&sdf->joints[i]);
        ball |= sdf->joints[i].used && sdf->joints[i].type == API_SDF_BALL;
    }
    return loop && ball;
}

static void forget_tree(api_sdf_tree *t)
{
    for (size_t i = 0; i < t->sdf->n_joints; i++)
        t->sdf->joints[i].used = t->sdf->joints[i].reversed = false;
    memset(t->place, 0, (t->sdf->n_frames + 1) * sizeof *t->place);
    t->n = 0;
}

/* Adds all links to the tree. *floating is the link of a floating base, or API_SDF_WORLD. */
static bool grow_all(api_sdf_tree *t, int *floating)
{
    api_sdf *sdf = t->sdf;
    *floating    = API_SDF_WORLD;
    bool held    = touches_world(sdf);
    if (held && sdf->base == API_SDF_BASE_FLOATING)
        return api_xml_fail(&sdf->xml, sdf->model, API_BAD_VALUE,
                            "base=floating was requested, but a joint holds the model in the world");
    if (held) add_to_tree(t, API_SDF_WORLD, -1);
    grow(t, 0);
    int root = find_root(t);
    if (!held && sdf->base != API_SDF_BASE_FIXED) {
        add_to_tree(t, root, -1);
        grow(t, t->n - 1);
        *floating = root;
        if (find_root(t) == API_SDF_NONE) return true;
        *floating = API_SDF_WORLD; /* several free roots: the world is the base */
    }
    while ((root = find_root(t)) != API_SDF_NONE) {
        add_to_tree(t, root, -1);
        grow(t, t->n - 1);
    }
    return true;
}

/* Builds the tree. If possible, the joints that close loops are ball joints: they have three equations instead of five,
 * and each of the remaining joints has an axis, which may be a coordinate. */
static bool build_tree(api_sdf_tree *t, int *floating)
{
    if (!grow_all(t, floating)) return false;
    if (!has_loop_beside_ball(t->sdf)) return true;
    forget_tree(t);
    t->balls_last = true;
    return grow_all(t, floating);
}

static bool write_links(const api_sdf_tree *t, int floating)
{
    api_sdf *sdf = t->sdf;
    for (size_t k = 0; k < t->n; k++) {
        const api_sdf_tree_link *at = &t->link[k];
        if (at->joint >= 0 ? !write_link(t, at)
                           : at->link != API_SDF_WORLD && at->link != floating &&
                                 !write_root(sdf, at->link, sdf->base == API_SDF_BASE_FIXED))
            return false;
    }
    return true;
}

bool api_sdf_write_document(api_sdf *sdf)
{
    api_sdf_tree t = {.sdf = sdf};
    int          floating;
    const char  *name = NULL;
    t.link            = api_arena_take(sdf->xml.base.arena, sdf->n_frames + 1, sizeof *t.link);
    t.place           = api_arena_take(sdf->xml.base.arena, sdf->n_frames + 1, sizeof *t.place);
    if (!t.link || !t.place) return api_reader_no_memory(&sdf->xml.base);
    if (!api_xml_text(&sdf->xml, sdf->model, "name", API_OPTIONAL, &name) ||
        (name && !api_xml_set_field(&sdf->xml, sdf->document.document, "name", json_string(name))) ||
        (sdf->gravity && !api_xml_set_vector(&sdf->xml, sdf->document.document, "gravity", sdf->gravity, 3)))
        return false;
    if (!build_tree(&t, &floating) || !api_sdf_check_leaders(sdf) || !api_sdf_choose_driven(&t) ||
        !write_base(sdf, floating) || !write_links(&t, floating) || !write_frames(&t, floating) || !write_loops(&t))
        return false;
    api_xml_document_finish(&sdf->document);
    return true;
}
