/* motor_orders.c - finds levels of elastic joints and orders of derivatives: see motor_orders.h. */
#include "motor_orders.h"
#include "api/robots/model/actuation.h"

const char *api_elastic_joint(const api_model *m, size_t i)
{
    const int v = m->dyn->coupling[i].v;
    for (size_t j = 0; j < m->n_joints; j++)
        if (m->joints[j].elastic && m->dyn->body[m->joints[j].body].joint.v == v) return m->joints[j].name;
    return "";
}

/* Returns the index of the coupling whose joint, or whose motor, has the velocity coordinate v; n_couplings if there is
 * none.
 */
static size_t coupling_of(const dyn_model *m, int v, bool motor)
{
    size_t i = 0;
    while (i < m->n_couplings && (motor ? m->coupling[i].v_theta : m->coupling[i].v) != v)
        i++;
    return i;
}

/* Calls `visit` for each pair of an elastic joint and the motor of another that it moves. True if a call has returned
 * true. */
typedef bool visitor(api_motor_order *joint, api_motor_order *motor, size_t level);

static bool visit_pairs(const dyn_model *m, api_motor_order *order, size_t level, visitor *visit)
{
    bool any = false;
    for (size_t i = m->n_bodies; i-- > 0 && m->body[i].joint.is_rotor;) { /* rotors are the last bodies */
        const size_t motor = coupling_of(m, m->body[i].joint.v, true);
        if (motor == m->n_couplings) continue;
        for (int b = m->body[i].tree.parent; b != DYN_WORLD; b = m->body[b].tree.parent) {
            const size_t joint = coupling_of(m, m->body[b].joint.v, false);
            if (joint < m->n_couplings && visit(&order[joint], &order[motor], level)) any = true;
        }
    }
    return any;
}

/* Raises the level of a joint above that of a motor that it moves. True if the level has changed. */
static bool raise_level(api_motor_order *joint, api_motor_order *motor, size_t level)
{
    (void)level;
    if (joint->level > motor->level) return false;
    joint->level = motor->level + 1;
    return true;
}

/* Raises the order of a motor as far as an elastic joint of this level, which moves the motor, needs it. */
static bool raise_order(api_motor_order *joint, api_motor_order *motor, size_t level)
{
    const size_t needed = joint->load + 2;
    if (joint->level != level || motor->motion >= needed) return false;
    motor->motion = needed;
    return true;
}

/* Sets the level of every coupling. Levels grow with each round until they are right. If motors move each other's
 * joints in a circle, levels grow beyond API_MAX_MOTOR_LEVEL. */
static void set_levels(const dyn_model *m, api_motor_order *order)
{
    for (size_t i = 0; i < m->n_couplings; i++)
        order[i] = (api_motor_order){.level = 1, .motion = 2};
    for (size_t round = 0; visit_pairs(m, order, 0, raise_level) && round <= API_MAX_MOTOR_LEVEL;)
        round++;
}

/* Sets the orders of all joints, from the highest level on. */
static void set_orders(const dyn_model *m, bool integrated, api_motor_order *order, api_motor_orders *orders)
{
    orders->motion = 2;
    for (size_t level = orders->levels; level > 0; level--) {
        orders->pass[level] = 0;
        for (size_t i = 0; i < m->n_couplings; i++) {
            if (order[i].level != level) continue;
            order[i].load = order[i].motion - (m->coupling[i].spring.damping != 0 && !integrated ? 1 : 0);
            if (order[i].load > orders->pass[level]) orders->pass[level] = order[i].load;
        }
        visit_pairs(m, order, level, raise_order);
        if (orders->pass[level] + 2 > orders->motion) orders->motion = orders->pass[level] + 2;
    }
}

bool api_motor_orders_find(const api_query *q, bool integrated, api_motor_orders *orders)
{
    const dyn_model *m     = q->model->dyn;
    api_motor_order *order = api_take(q->pool, (m->n_couplings + 1) * sizeof *order);
    if (!order) return false;
    set_levels(m, order);
    *orders = (api_motor_orders){.joint = order};
    for (size_t i = 0; i < m->n_couplings; i++)
        if (order[i].level > orders->levels) {
            orders->levels  = order[i].level;
            orders->highest = i;
        }
    if (orders->levels > API_MAX_MOTOR_LEVEL)
        return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                        "elastic joint %s moves motors of elastic joints: its torque depends on derivatives of q of "
                        "orders above %d, the highest that is taken",
                        api_elastic_joint(q->model, orders->highest), DYN_MAX_DERIVATIVE);
    set_orders(m, integrated, order, orders);
    return true;
}
