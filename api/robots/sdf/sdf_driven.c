/* sdf_driven.c - choose which joints of the loops are driven, by api/robots/loop_actuation. A file does not say which
 * are: one is taken for each freedom of the loops. */
#include "api/robots/loop_actuation/loop_choice.h"
#include "sdf_reader.h"
#include <string.h>

/* The moving joints of the tree as joints of a loop tree (loop_actuation/loop_tree.h), whose bodies are the links. An
 * SDF joint with two axes has two parts. */
typedef struct loop_parts {
    const api_sdf_tree *t;
    api_loop_tree       loops;
    int *part; /* [n_joints of the file] index in loops.joints of the joint's part 0; -1: it is not in the tree */
} loop_parts;

bool api_sdf_closes_loop(const api_sdf_joint *joint)
{
    return joint->type != API_SDF_GEARBOX && !joint->used;
}

/* Sets the motion of each part of a joint. False: it has none. */
static bool read_motion(const api_sdf_joint *joint, api_loop_motion *motion)
{
    *motion = API_LOOP_TURNS;
    switch (joint->type) {
    case API_SDF_REVOLUTE:
    case API_SDF_CONTINUOUS:
    case API_SDF_UNIVERSAL:
    case API_SDF_REVOLUTE2: return true;
    case API_SDF_PRISMATIC: *motion = API_LOOP_SLIDES; return true;
    case API_SDF_SCREW: *motion = API_LOOP_SCREWS; return true;
    case API_SDF_BALL: *motion = API_LOOP_BALL; return true;
    case API_SDF_FIXED:
    case API_SDF_GEARBOX: break;
    }
    return false;
}

/* Number of the link's body, -1 for the world. */
static int body_of_link(const api_sdf_tree *t, int link)
{
    return link == API_SDF_WORLD ? -1 : t->place[link + 1] - 1;
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

/* Adds the joints that move a body: the parts of the SDF joint that carries the link of the body. */
static bool add_parts(loop_parts *p, int body, const dyn_pose *X_bj)
{
    api_sdf             *sdf   = p->t->sdf;
    const int            index = p->t->link[body].joint;
    const api_sdf_joint *from  = &sdf->joints[index];
    int                  parts;
    api_loop_motion      motion;
    api_sdf_joint_type(from, &parts);
    if (!read_motion(from, &motion)) return true;
    p->part[index] = (int)p->loops.n_joints;
    for (int i = 0; i < parts; i++) {
        const int       part = from->reversed ? parts - 1 - i : i;
        api_loop_joint *to   = &p->loops.joints[p->loops.n_joints++];
        *to                  = (api_loop_joint){.element    = sdf->frames[from->frame].element,
                                                .name       = from->name[part],
                                                .motion     = motion,
                                                .body       = body,
                                                .pitch      = from->pitch,
                                                .leader     = from->follows[part].leader,
                                                .multiplier = from->follows[part].multiplier};
        memcpy(to->pos, X_bj->p, sizeof to->pos);
        for (int k = 0; k < 3; k++)
            to->axis[k] = (from->reversed ? -1 : 1) * dyn_dot(X_bj->R[k], from->axis[part].axis);
        if (!api_sdf_read_spring(sdf, from, part, &to->has_spring)) return false;
    }
    return true;
}

static bool add_tree_body(loop_parts *p, int body)
{
    const api_sdf           *sdf     = p->t->sdf;
    const api_sdf_tree_link *carried = &p->t->link[body];
    const api_sdf_joint     *joint   = carried->joint < 0 ? NULL : &sdf->joints[carried->joint];
    api_loop_body           *to      = &p->loops.bodies[body];
    const int                up      = joint ? joint->reversed ? joint->child : joint->parent : API_SDF_WORLD;
    const dyn_pose           X_wb = api_sdf_link_in_world(sdf, carried->link), X_wp = api_sdf_link_in_world(sdf, up);
    *to = (api_loop_body){body_of_link(p->t, up), api_sdf_between(&X_wp, &X_wb), X_wb, p->loops.n_joints, 0};
    if (joint) {
        const dyn_pose X_wj = api_sdf_in_world(sdf, joint->frame), X_bj = api_sdf_between(&X_wb, &X_wj);
        if (!add_parts(p, body, &X_bj)) return false;
    }
    to->n_joints = p->loops.n_joints - to->first_joint;
    return true;
}

/* Returns the index in the tree of a part of a joint; -1: the joint is not in the tree. */
static int part_of_joint(const loop_parts *p, int joint, int part)
{
    const api_sdf_joint *from = &p->t->sdf->joints[joint];
    int                  parts;
    api_sdf_joint_type(from, &parts);
    return p->part[joint] < 0 ? -1 : p->part[joint] + (from->reversed ? parts - 1 - part : part);
}

/* Replaces the leaders, which are joints of the file, by those of the tree. A part whose leader is not in the tree has
 * none. */
static void find_leaders(const loop_parts *p)
{
    for (size_t i = 0; i < p->t->sdf->n_joints; i++) {
        const api_sdf_joint *joint = &p->t->sdf->joints[i];
        api_loop_motion      motion;
        int                  parts;
        api_sdf_joint_type(joint, &parts);
        for (int part = 0; p->part[i] >= 0 && read_motion(joint, &motion) && part < parts; part++) {
            const api_sdf_mimicked *follows = &joint->follows[part];
            if (follows->leader >= 0)
                p->loops.joints[part_of_joint(p, (int)i, part)].leader =
                    part_of_joint(p, follows->leader, follows->part);
        }
    }
}

/* --- the loops ---------------------------------------------------------------------------------------------------- */

static void add_loop(loop_parts *p, const api_sdf_joint *joint)
{
    const api_sdf  *sdf    = p->t->sdf;
    api_loop       *loop   = &p->loops.loops[p->loops.n_loops++];
    const dyn_pose  X_wj   = api_sdf_in_world(sdf, joint->frame);
    const int       end[2] = {joint->parent, joint->child};
    int             parts;
    api_loop_motion motion;
    *loop = (api_loop){.is_point = joint->type == API_SDF_BALL};
    for (int side = 0; side < 2; side++) {
        const dyn_pose X_wb = api_sdf_link_in_world(sdf, end[side]);
        loop->body[side]    = body_of_link(p->t, end[side]);
        loop->X[side]       = api_sdf_between(&X_wb, &X_wj);
    }
    api_sdf_joint_type(joint, &parts);
    for (int part = 0; read_motion(joint, &motion) && motion != API_LOOP_BALL && part < parts; part++) {
        api_loop_free *free = &loop->free[loop->n_free++];
        *free               = (api_loop_free){.motion = motion, .pitch = joint->pitch};
        memcpy(free->axis, joint->axis[part].axis, sizeof free->axis);
    }
}

/* Inverts the marks of the joints between a link and the root. */
static void invert_marks(const api_sdf_tree *t, int link, bool *mark)
{
    for (int k = t->place[link + 1] - 1; t->link[k].joint >= 0;) {
        const api_sdf_joint *joint = &t->sdf->joints[t->link[k].joint];
        mark[t->link[k].joint]     = !mark[t->link[k].joint];
        k                          = t->place[(joint->reversed ? joint->child : joint->parent) + 1] - 1;
    }
}

/* Marks the joints between the ends of a loop. The first joint of the file that moves the first loop is driven. */
static bool mark_loop(loop_parts *p, const api_sdf_joint *loop, bool *any)
{
    api_sdf *sdf  = p->t->sdf;
    bool    *mark = api_arena_take(sdf->xml.base.arena, sdf->n_joints, sizeof *mark);
    if (!mark) return api_reader_no_memory(&sdf->xml.base);
    invert_marks(p->t, loop->parent, mark);
    invert_marks(p->t, loop->child, mark);
    for (size_t i = 0; i < sdf->n_joints; i++) {
        const api_sdf_joint *joint = &sdf->joints[i];
        api_loop_motion      motion;
        int                  parts;
        if (!mark[i] || !read_motion(joint, &motion)) continue;
        api_sdf_joint_type(joint, &parts);
        bool leads = false;
        for (int k = 0; k < parts; k++) {
            api_loop_joint *part = &p->loops.joints[p->part[i] + k];
            part->in_loop        = true;
            part->driven |= part->leader < 0 && !*any;
            leads |= part->leader < 0;
        }
        *any |= leads;
    }
    return true;
}

/* --- the choice --------------------------------------------------------------------------------------------------- */

static bool open_parts(loop_parts *p)
{
    const api_sdf *sdf   = p->t->sdf;
    api_arena     *arena = sdf->xml.base.arena;
    size_t         loops = 0;
    for (size_t i = 0; i < sdf->n_joints; i++)
        loops += api_sdf_closes_loop(&sdf->joints[i]);
    p->loops.n_bodies = p->t->n;
    p->loops.bodies   = api_arena_take(arena, p->t->n, sizeof *p->loops.bodies);
    p->loops.joints   = api_arena_take(arena, 2 * p->t->n, sizeof *p->loops.joints);
    p->loops.loops    = api_arena_take(arena, loops, sizeof *p->loops.loops);
    p->part           = api_arena_take(arena, sdf->n_joints, sizeof *p->part);
    for (size_t i = 0; p->part && i < sdf->n_joints; i++)
        p->part[i] = -1;
    return (p->loops.bodies && p->loops.joints && p->loops.loops && p->part) ||
           api_reader_no_memory(&p->loops.xml->base);
}

static bool fill_parts(loop_parts *p)
{
    const api_sdf *sdf = p->t->sdf;
    bool           any = false;
    for (size_t k = 0; k < p->t->n; k++)
        if (!add_tree_body(p, (int)k)) return false;
    find_leaders(p);
    for (size_t i = 0; i < sdf->n_joints; i++) {
        if (!api_sdf_closes_loop(&sdf->joints[i])) continue;
        add_loop(p, &sdf->joints[i]);
        if (!mark_loop(p, &sdf->joints[i], &any)) return false;
    }
    return true;
}

static bool report_driven(const loop_parts *p)
{
    size_t n  = 0;
    bool   ok = true;
    for (size_t i = 0; i < p->loops.n_joints; i++)
        n += p->loops.joints[i].driven;
    for (size_t i = 0; ok && i < p->loops.n_joints; i++) {
        const api_loop_joint *joint = &p->loops.joints[i];
        if (joint->driven && n == 1)
            ok = api_xml_report(p->loops.xml, joint->element, "info", "assumed",
                                "\"%.*s\" is taken as the driven joint of the loops", api_text_shown(joint->name),
                                joint->name);
        else if (joint->driven)
            ok = api_xml_report(
                p->loops.xml, joint->element, "info", "assumed",
                "\"%.*s\" is taken as one of the %zu driven joints of the loops, which have %zu freedoms",
                api_text_shown(joint->name), joint->name, n, n);
    }
    return ok;
}

bool api_sdf_choose_driven(const api_sdf_tree *t)
{
    if (t->sdf->loops_open) return true;
    loop_parts p = {.t = t, .loops = {.xml = &t->sdf->xml, .guesses = true}};
    if (!open_parts(&p) || !fill_parts(&p)) return false;
    t->sdf->has_loops = p.loops.n_loops > 0;
    if (!api_loop_choose(&p.loops) || !report_driven(&p)) return false;
    t->sdf->undetermined = p.loops.undetermined;
    for (size_t i = 0; i < t->sdf->n_joints; i++) {
        api_sdf_joint  *joint = &t->sdf->joints[i];
        int             parts;
        api_loop_motion motion;
        api_sdf_joint_type(joint, &parts);
        for (int k = 0; p.part[i] >= 0 && read_motion(joint, &motion) && k < parts; k++) {
            const api_loop_joint *part                          = &p.loops.joints[p.part[i] + k];
            joint->passive[joint->reversed ? parts - 1 - k : k] = part->in_loop && !part->driven;
        }
    }
    return true;
}
