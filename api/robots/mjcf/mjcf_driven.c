/* mjcf_driven.c - choose which joints of the loops are actuated in the model, by api/robots/loop_actuation. */
#include "api/robots/loop_actuation/loop_choice.h"
#include "mjcf_reader.h"
#include <string.h>

static const api_loop_words words = {
    .follows = "has an actuator, but follows from the others: the model has no effort there",
    .free = "has no actuator and does not follow from the others: it is a coordinate of its own, whose effort is 0 in "
            "MuJoCo",
};

static api_loop_joint loop_joint_of(const api_mjcf *m, const api_mjcf_joint *joint)
{
    static const api_loop_motion motions[] = {[API_MJCF_HINGE] = API_LOOP_TURNS,
                                              [API_MJCF_SLIDE] = API_LOOP_SLIDES,
                                              [API_MJCF_BALL]  = API_LOOP_BALL,
                                              [API_MJCF_FREE]  = API_LOOP_FREE};
    api_loop_joint               to        = {.element    = joint->element,
                                              .name       = joint->name,
                                              .motion     = motions[joint->type],
                                              .body       = joint->body,
                                              .locked     = joint->locked,
                                              .leader     = joint->leader,
                                              .multiplier = joint->multiplier,
                                              .has_spring = api_mjcf_has(m, &joint->item, "stiffness") || joint->has_springdamper,
                                              .in_loop    = joint->passive,
                                              .driven     = joint->driven};
    memcpy(to.pos, joint->pos, sizeof to.pos);
    memcpy(to.axis, joint->axis, sizeof to.axis);
    return to;
}

static void fill_loop_tree(api_mjcf *m, api_loop_tree *t)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const api_mjcf_body *body = &m->bodies[i];
        t->bodies[i] = (api_loop_body){body->parent, body->X_pb, body->X_wb, body->first_joint, body->n_joints};
    }
    for (size_t i = 0; i < m->n_joints; i++)
        t->joints[i] = loop_joint_of(m, &m->joints[i]);
    for (size_t i = 0; i < m->n_loops; i++) {
        const api_mjcf_loop *loop = &m->loops[i];
        t->loops[i]               = (api_loop){.body     = {loop->body[0], loop->body[1]},
                                               .X        = {loop->X[0], loop->X[1]},
                                               .is_point = strcmp(loop->type, "fixed") != 0};
    }
}

/* If no actuator drives a joint of the loops, makes the first joint of the loops the driven one. */
static bool drive_first(api_mjcf *m)
{
    api_mjcf_joint *first = NULL;
    for (size_t i = 0; i < m->n_joints; i++) {
        api_mjcf_joint *joint = &m->joints[i];
        bool            moves = joint->passive && joint->leader < 0 && !joint->locked;
        if (moves && joint->driven) return true;
        if (moves && !first) first = joint;
    }
    if (!first) return true;
    first->driven = true;
    return api_xml_report(&m->xml, first->element, "info", "assumed",
                          "no actuator drives a joint of the loops: joint \"%.*s\" is taken as the driven one",
                          api_text_shown(first->name), first->name);
}

bool api_mjcf_choose_driven(api_mjcf *m)
{
    api_arena *arena = m->xml.base.arena;
    if (!api_mjcf_split_rods(m)) return false;
    api_loop_tree t = {.xml      = &m->xml,
                       .n_bodies = m->n_bodies,
                       .n_joints = m->n_joints,
                       .n_loops  = m->n_loops,
                       .bodies   = api_arena_take(arena, m->n_bodies, sizeof *t.bodies),
                       .joints   = api_arena_take(arena, m->n_joints, sizeof *t.joints),
                       .loops    = api_arena_take(arena, m->n_loops, sizeof *t.loops),
                       .words    = &words};
    if (m->n_loops == 0) return true;
    if (!t.bodies || !t.joints || !t.loops) return api_reader_no_memory(&m->xml.base);
    if (!drive_first(m)) return false;
    fill_loop_tree(m, &t);
    if (!api_loop_choose(&t)) return false;
    m->undetermined = t.undetermined;
    for (size_t i = 0; i < m->n_joints; i++) {
        m->joints[i].passive = t.joints[i].in_loop && !t.joints[i].driven;
        m->joints[i].driven  = t.joints[i].driven;
    }
    return true;
}
