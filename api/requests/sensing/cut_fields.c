/* cut_fields.c - read through which joints a request asks for wrenches, and find what lies beyond (cut_fields.h). */
#include "cut_fields.h"
#include "api/requests/fields/fields.h"
#include "dynamics/math/geometry.h"
#include <string.h>

/* --- names -------------------------------------------------------------------------------------------------------- */

static const char *const fields[] = {"joint", "frame", NULL};

/* Returns the link that a frame of the model is fixed to, as an index of link_names. */
static int link_with_frame(const api_model *m, int frame)
{
    int link = 0;
    while (m->link_names[link] != m->frames[frame].link)
        link++;
    return link;
}

static const char *joint_name(const void *model, size_t i)
{
    return ((const api_model *)model)->attached[i + 1].joint;
}

/* Returns the link that the named joint carries; -1 with a problem. */
static int read_cut_joint(const api_query *q, const api_node *value, const api_place *where)
{
    const api_model *m    = q->model;
    const char      *name = api_read_string(q, value, where);
    if (!name) return -1;
    for (size_t link = 1; link < m->n_links; link++)
        if (strcmp(m->attached[link].joint, name) == 0) return (int)link;
    api_names known = {m->n_links - 1, joint_name, m};
    api_fail_no_such(q, where, "joint", name, &known);
    return -1;
}

static bool read_cut(const api_query *q, const api_node *node, const api_place *up, api_cut *cut)
{
    const api_node *joint = api_node_get(node, "joint"), *frame = api_node_get(node, "frame");
    api_place       joint_at = api_place_key(up, "joint"), frame_at = api_place_key(up, "frame");
    if (!api_check_keys(q, node, up, fields, "an entry of force_torque")) return false;
    if (!joint && !frame)
        return api_fail_at(q->problem, &joint_at, API_MISSING_FIELD,
                           "a joint is needed, or a frame on the link that the joint carries");
    const int where = frame ? api_read_frame(q, frame, &frame_at) : 0;
    if (where < 0) return false;
    cut->link = joint ? read_cut_joint(q, joint, &joint_at) : link_with_frame(q->model, where);
    if (cut->link < 0) return false;
    if (cut->link == 0)
        return api_fail_at(q->problem, &frame_at, API_BAD_VALUE,
                           "%.64s is on the base link, which no joint carries: name a joint",
                           q->model->frames[where].name);
    const dyn_frame *link_frame = &q->model->frames[cut->link].frame;
    cut->frame                  = frame ? q->model->frames[where].frame : *link_frame;
    return cut->frame.body == link_frame->body ||
           api_fail_at(q->problem, &frame_at, API_BAD_VALUE,
                       "%.64s moves against the link that the joint carries: a frame that is fixed to it expected",
                       q->model->frames[where].name);
}

bool api_check_sensors(const api_query *q, size_t n, const api_place *where)
{
    return n <= API_MOST_SENSORS || api_fail_at(q->problem, where, API_WRONG_SHAPE,
                                                "%zu entries given, at most %d expected", n, API_MOST_SENSORS);
}

api_cut *api_cut_read(api_query *q, const api_node *list, const api_place *where, size_t *n)
{
    if (!api_check_list(q, list, where, "an object of joint and frame")) return NULL;
    *n = api_node_size(list);
    if (!api_check_sensors(q, *n, where)) return NULL;
    api_cut *cut = api_take(q->pool, *n * sizeof *cut);
    for (size_t i = 0; cut && i < *n; i++) {
        api_place entry = api_place_index(where, i);
        api_node  item;
        if (!api_node_item(list, i, &item) || !read_cut(q, &item, &entry, &cut[i])) return NULL;
    }
    return cut;
}

/* --- what lies beyond a joint ------------------------------------------------------------------------------------- */

/* Lists of a cut while it is prepared, and the frames on which the wrenches of the request act. */
typedef struct lists {
    size_t        *rows;
    dyn_frame     *frames;
    dyn_cut_rotor *rotors;
    dyn_cut_push  *pushes;
    const int     *pushed; /* [n_wrenches] frame on which each wrench of the request acts */
} lists;

enum { LOOK = 64 /* entries between two checks of the deadline */ };

/* True if `link` is the link that the joint of the cut carries, or is fixed to it. */
static bool is_beyond(const api_model *m, const api_cut *cut, int link)
{
    while (link != cut->link && m->attached[link].fixed)
        link = m->attached[link].parent;
    return link == cut->link;
}

/* Adds the child that is connected by the joint of `link`, which moves. */
static void list_child(const api_model *m, int link, dyn_cut *to, const lists *l)
{
    const api_attached_body *child = &m->attached[link];
    dyn_frame               *frame = &l->frames[1 + 2 * to->n_children];
    frame[0] = frame[1] = m->frames[link].frame;
    if (child->at_parent) {
        dyn_pose point = dyn_pose_translation(child->point[0], child->point[1], child->point[2]);
        frame[1]       = m->frames[child->parent].frame;
        frame[1].X_bf  = dyn_pose_compose(&frame[1].X_bf, &point);
    }
    l->rows[to->n_children++] = (size_t)child->row;
}

/* Returns the body of the rotor of the motor that drives a joint; NULL: none. */
static const dyn_body *rotor_body_of(const api_model *m, const char *joint)
{
    for (size_t j = 0; j < m->n_joints; j++)
        for (size_t i = 0; strcmp(m->joints[j].name, joint) == 0 && i < m->dyn->n_bodies; i++) {
            const dyn_body *b = &m->dyn->body[i];
            if (b->joint.is_rotor && b->tree.link == m->dyn->body[m->joints[j].body].tree.link) return b;
        }
    return NULL;
}

static void list_rotor(const api_model *m, const api_motor_name *motor, int link, const dyn_pose *X_fb, dyn_cut *to,
                       const lists *l)
{
    const dyn_body *rotor = rotor_body_of(m, motor->joint);
    const dyn_pose  X_fl  = dyn_pose_compose(X_fb, &m->frames[link].frame.X_bf);
    if (!rotor) return;
    dyn_cut_rotor *r = &l->rotors[to->n_rotors++];
    *r               = (dyn_cut_rotor){
                      .v = (size_t)rotor->joint.v, .ratio = rotor->joint.ratio, .spin_inertia = motor->motor.spin_inertia};
    for (int i = 0; i < 3; i++)
        r->u[i] = dyn_dot(X_fl.R[i], motor->motor.axis);
}

/* Adds to the cut the rigid body beyond its joint, with the payloads of the request, and the rotors on it. */
static void list_rigid_part(const api_query *q, const api_cut *cut, const dyn_pose *X_fb, dyn_cut *to, const lists *l)
{
    const api_model        *m            = q->model;
    const dyn_pose          link_frame   = dyn_pose_compose(X_fb, &m->frames[cut->link].frame.X_bf);
    const dyn_compensation *compensation = &m->attached[cut->link].compensation;
    dyn_cut_add_inertia(to, &m->attached[cut->link].inertia, &link_frame);
    dyn_cut_add_compensation(to, compensation->mass, compensation->h, &link_frame);
    for (size_t i = 0; i < q->n_payloads; i++) {
        const int frame = q->payload_frames[i];
        if (!is_beyond(m, cut, link_with_frame(m, frame))) continue;
        const dyn_pose     X       = dyn_pose_compose(X_fb, &m->frames[frame].frame.X_bf);
        const dyn_payload *payload = &q->payloads[i];
        const double       mass    = payload->gravity_compensation * payload->inertia.mass;
        double             h[3];
        for (int k = 0; k < 3; k++)
            h[k] = mass * payload->inertia.com[k];
        dyn_cut_add_inertia(to, &payload->inertia, &X);
        dyn_cut_add_compensation(to, mass, h, &X);
    }
    for (size_t i = 0; i < m->n_motors; i++) {
        const int frame = api_model_frame(m, m->motors[i].link, strlen(m->motors[i].link));
        if (is_beyond(m, cut, frame)) list_rotor(m, &m->motors[i], frame, X_fb, to, l);
    }
}

/* Finds the frames on which the wrenches of the request act. NULL with a problem. */
static int *find_pushed(const api_query *q)
{
    int *pushed = api_take(q->pool, q->scene.n_wrenches * sizeof *pushed);
    for (size_t i = 0; pushed && i < q->scene.n_wrenches; i++) {
        api_node    wrench;
        size_t      length = 0;
        const char *name   = NULL;
        if (i % LOOK == 0 && !api_deadline_check(q->input->deadline, q->problem)) return NULL;
        if (api_node_item(q->field[API_WRENCHES], i, &wrench))
            name = api_node_string(api_node_get(&wrench, "link"), &length);
        pushed[i] = name ? api_model_frame(q->model, name, length) : 0;
    }
    return pushed;
}

/* Adds the wrenches of the request that act on the rigid body. Where the list is NULL, counts them. */
static bool list_pushes(const api_query *q, const api_cut *cut, const dyn_pose *X_fb, dyn_cut *to, const lists *l)
{
    const api_model *m = q->model;
    to->n_pushes       = 0;
    for (size_t i = 0; i < q->scene.n_wrenches; i++) {
        const dyn_frame *frame = &m->frames[l->pushed[i]].frame;
        if (i % LOOK == 0 && !api_deadline_check(q->input->deadline, q->problem)) return false;
        if (!is_beyond(m, cut, link_with_frame(m, l->pushed[i]))) continue;
        if (l->pushes) l->pushes[to->n_pushes] = (dyn_cut_push){i, dyn_pose_compose(X_fb, &frame->X_bf)};
        to->n_pushes++;
    }
    return true;
}

/* Loops exert forces and moments on the rigid body where they are fixed to its links. The model does not record which
 * of its links these are, so such cuts are refused. */
static bool check_cut_loops(const api_query *q, const api_cut *cut, const dyn_cut *prepared)
{
    const dyn_loops *loops = q->model->loops;
    bool             met   = prepared->n_rotors > 0;
    for (size_t i = 0; loops && i < loops->n; i++)
        met |= loops->pair[i].a.body == cut->frame.body || loops->pair[i].b.body == cut->frame.body;
    return !loops || !met ||
           api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                    "the wrench through the fixed joint %.64s is not computed: a loop or a motor is on its body",
                    q->model->attached[cut->link].joint);
}

/* Adds the children that move beyond a fixed joint. Where the lists are NULL, counts them. */
static void list_children(const api_model *m, const api_cut *cut, dyn_cut *to, const lists *l)
{
    to->n_children = 0;
    for (int link = 1; link < (int)m->n_links; link++) {
        if (m->attached[link].fixed || !is_beyond(m, cut, m->attached[link].parent)) continue;
        if (l->rows)
            list_child(m, link, to, l);
        else
            to->n_children++;
    }
}

static bool prepare_fixed(const api_query *q, const api_cut *cut, dyn_cut *to, lists *l)
{
    const dyn_pose X_fb = dyn_pose_inverse(&cut->frame.X_bf);
    list_children(q->model, cut, to, l);
    if (!list_pushes(q, cut, &X_fb, to, l)) return false;
    l->rows   = api_take(q->pool, to->n_children * sizeof *l->rows);
    l->frames = api_take(q->pool, (1 + 2 * to->n_children) * sizeof *l->frames);
    l->rotors = api_take(q->pool, q->model->n_motors * sizeof *l->rotors);
    l->pushes = api_take(q->pool, to->n_pushes * sizeof *l->pushes);
    if (!l->rows || !l->frames || !l->rotors || !l->pushes) return false;
    l->frames[0] = cut->frame;
    list_rigid_part(q, cut, &X_fb, to, l);
    list_children(q->model, cut, to, l);
    return list_pushes(q, cut, &X_fb, to, l);
}

static bool prepare_moving(const api_query *q, const api_cut *cut, dyn_cut *to, lists *l)
{
    l->rows   = api_take(q->pool, sizeof *l->rows);
    l->frames = api_take(q->pool, 3 * sizeof *l->frames);
    if (!l->rows || !l->frames) return false;
    l->frames[0] = cut->frame;
    list_child(q->model, cut->link, to, l);
    return true;
}

static bool prepare_cut(const api_query *q, const api_cut *cut, dyn_cut *to, lists l)
{
    const bool fixed = q->model->attached[cut->link].fixed;
    *to              = (dyn_cut){.mass = 0};
    if (!(fixed ? prepare_fixed(q, cut, to, &l) : prepare_moving(q, cut, to, &l))) return false;
    to->rows   = l.rows;
    to->frames = l.frames;
    to->rotors = l.rotors;
    to->pushes = l.pushes;
    return !fixed || check_cut_loops(q, cut, to);
}

bool api_cut_prepare(const api_query *q, size_t n, const api_cut *cuts, dyn_cut *prepared)
{
    const lists l = {.pushed = find_pushed(q)};
    for (size_t i = 0; l.pushed && i < n; i++)
        if (!api_deadline_check(q->input->deadline, q->problem) || !prepare_cut(q, &cuts[i], &prepared[i], l))
            return false;
    return l.pushed != NULL;
}
