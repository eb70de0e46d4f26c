/* document_locked.c - read "locked", positions at which joints are held, and reduce the document by these joints.
 *
 * A locked joint becomes fixed at its position: its link belongs to the body of its parent. Joints that mimic it are
 * fixed at the positions that follow. A motor or rotor on a locked joint does not turn relative to the link that
 * carries it, whose inertia includes the motor with its rotor locked; a rotor_inertia has no axis in space and
 * disappears. A locked motor coordinate of an elastic joint leaves the joint with the spring to the motor's place. */
#include "document.h"
#include "api/codec/number.h"
#include "api/codec/pointer.h"
#include "dynamics/model/expand_joints.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char motor_suffix[] = ".motor";

/* --- the field ---------------------------------------------------------------------------------------------------- */

/* Pointer to the entry `name`. */
static api_pointer lock_pointer(const char *name)
{
    const api_place all = api_place_key(NULL, "locked"), place = api_place_key(&all, name);
    return api_place_pointer(&place);
}

/* Fails at the entry `name`. */
static bool fail_lock(api_reader *reader, const char *name, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool fail_lock(api_reader *reader, const char *name, api_code code, const char *format, ...)
{
    va_list           args;
    const api_pointer pointer = lock_pointer(name);
    va_start(args, format);
    api_failv(reader->problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

static bool read_lock(const api_entry *root, const char *name, const json_t *value, api_document_lock *lock)
{
    lock->n        = json_is_array(value) ? json_array_size(value) : 1;
    lock->is_array = json_is_array(value);
    if (lock->n > API_LOCK_VALUES)
        return fail_lock(root->reader, name, API_WRONG_SHAPE, "%zu numbers given, a position has at most %d", lock->n,
                         API_LOCK_VALUES);
    for (size_t i = 0; i < lock->n; i++) {
        const json_t *entry = lock->is_array ? json_array_get(value, i) : value;
        if (!json_is_number(entry))
            return fail_lock(
                root->reader, name, API_WRONG_TYPE,
                "%s given, expected the position of the joint: a number, or an array of the numbers of a joint "
                "with several coordinates",
                api_json_kind(entry));
        lock->value[i] = json_number_value(entry);
    }
    return true;
}

/* Copies the positions of a lock to the canonical document. */
static bool copy_value(const api_document_lock *lock, json_t *canonical)
{
    json_t *value = lock->is_array ? json_array() : json_real(lock->value[0]);
    bool    ok    = value != NULL;
    for (size_t i = 0; ok && lock->is_array && i < lock->n; i++)
        ok = json_array_append_new(value, json_real(lock->value[i])) == 0;
    if (ok) return json_object_set_new(canonical, lock->name, value) == 0;
    json_decref(value);
    return false;
}

bool api_document_read_locked(const api_entry *root, api_document *document)
{
    const char   *name;
    const json_t *value, *in = json_object_get(root->input, "locked");
    if (!in) return true;
    if (!json_is_object(in))
        return api_entry_fail(root, "locked", API_WRONG_TYPE,
                              "%s given, expected an object from names of joints to positions, {\"elbow\": 1.57}",
                              api_json_kind(in));
    const size_t n = json_object_size(in);
    if (n == 0) return true;
    json_t *canonical = json_object();
    document->locks   = api_arena_take(root->reader->arena, n, sizeof *document->locks);
    if (!api_entry_set_canonical(root, "locked", canonical)) return false;
    if (!document->locks) return api_reader_no_memory(root->reader);
    json_object_foreach ((json_t *)(uintptr_t)in, name, value) {
        api_document_lock *lock = &document->locks[document->n_locks++];
        lock->name              = api_arena_text(root->reader->arena, name);
        if (!lock->name) return api_reader_no_memory(root->reader);
        if (!read_lock(root, name, value, lock)) return false;
        if (!copy_value(lock, canonical)) return api_reader_no_memory(root->reader);
    }
    return true;
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

/* Returns the index of the link whose joint has the first `length` bytes of `name` as its name; -1 if there is none. */
static int find_named_joint(const api_document *document, const char *name, size_t length)
{
    for (size_t i = 0; i < document->n_links; i++)
        if (strlen(document->links[i].joint) == length && memcmp(document->links[i].joint, name, length) == 0)
            return (int)i;
    return -1;
}

/* Returns the index of the link whose joint is elastic and has the motor coordinate `name`; -1 if there is none. */
static int find_elastic(const api_document *document, const char *name)
{
    const size_t length = strlen(name), suffix = sizeof motor_suffix - 1;
    if (length <= suffix || strcmp(name + length - suffix, motor_suffix) != 0) return -1;
    const int i = find_named_joint(document, name, length - suffix);
    return i >= 0 && document->links[i].dyn.elastic ? i : -1;
}

/* Motion of a part of a joint about or along its axis, by the joint position s. */
static dyn_pose move_part(const dyn_link *part, double s)
{
    const double *a = part->axis;
    return part->joint == DYN_PRISMATIC ? dyn_pose_translation(s * a[0], s * a[1], s * a[2]) : dyn_pose_about(a, s);
}

/* Pose of a link frame in the parent's link frame, at the coordinates q of the joint. */
static dyn_pose pose_at(const dyn_link *link, const double *q)
{
    dyn_pose X = link->before;
    if (dyn_joint_has_quaternion(link->joint)) {
        const double  *turn = q + dyn_joint_nq(link->joint) - 4;
        const dyn_pose R    = dyn_pose_wxyz((double[]){turn[3], turn[0], turn[1], turn[2]});
        const dyn_pose p    = turn > q ? dyn_pose_translation(q[0], q[1], q[2]) : dyn_pose_identity();
        X                   = dyn_pose_compose(&X, &p);
        X                   = dyn_pose_compose(&X, &R);
        return dyn_pose_compose(&X, &link->after);
    }
    dyn_link     part[DYN_MAX_PARTS];
    const size_t n       = dyn_expand_joint(link, part);
    const bool   several = dyn_joint_nq(link->joint) > 1;
    X                    = dyn_pose_identity();
    for (size_t k = 0; k < n; k++) {
        const dyn_pose motion = move_part(&part[k], part[k].ratio * q[several ? k : 0] + part[k].offset);
        X                     = dyn_pose_compose(&X, &part[k].before);
        X                     = dyn_pose_compose(&X, &motion);
        X                     = dyn_pose_compose(&X, &part[k].after);
    }
    return X;
}

/* Fixes the joint of a link at the coordinates q. */
static void fix(api_document_link *link, const double *q)
{
    const dyn_pose X          = pose_at(&link->dyn, q);
    const dyn_link was        = link->dyn;
    link->lost                = api_joint_coordinate_suffixes(link, false);
    link->dyn                 = (dyn_link){.parent               = was.parent,
                                           .before               = X,
                                           .after                = dyn_pose_identity(),
                                           .axis                 = {0, 0, 1},
                                           .ratio                = 1,
                                           .inertia              = was.inertia,
                                           .gravity_compensation = was.gravity_compensation};
    link->type                = dyn_joint_types[DYN_FIXED].name;
    link->has_position_limits = link->has_home = false;
    link->limits                               = (api_drive_limits){0};
    link->actuated                             = true;
}

enum { POSITION_FORM = 80 };

/* Returns how the position of a joint of this type is given, such as "[x, y, angle] in m and rad", in `text`. */
static const char *position_form(dyn_joint_kind kind, char text[POSITION_FORM])
{
    const size_t n = (size_t)dyn_joint_nq(kind);
    if (n == 1) return "a number in rad or m";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) /* a suffix begins with a point */
        used += (size_t)snprintf(text + used, POSITION_FORM - used, "%s%s", i == 0 ? "[" : ", ",
                                 dyn_joint_types[kind].position_suffix[i] + 1);
    snprintf(text + used, POSITION_FORM - used, "]%s",
             !dyn_joint_has_quaternion(kind) ? " in m and rad"
             : n > 4                         ? ", the last four a quaternion"
                                             : ", a quaternion");
    return text;
}

/* Checks the number of coordinates, their angle and their quaternion, which is normalised. */
static bool check_value(api_reader *reader, const api_document_link *link, api_document_lock *lock)
{
    const dyn_joint_kind kind = link->dyn.joint;
    const size_t         n    = (size_t)dyn_joint_nq(kind);
    const int            turn = dyn_joint_types[kind].angle;
    double               norm = 1;
    char                 form[POSITION_FORM];
    if (lock->n != n || lock->is_array != (n > 1))
        return fail_lock(reader, lock->name, API_WRONG_SHAPE, "%s given, the position of a %s joint is %s",
                         lock->is_array ? "an array" : "a number", link->type, position_form(kind, form));
    if (dyn_joint_has_quaternion(kind) && !dyn_quaternion_normalise(lock->value + n - 4, 1, &norm))
        return fail_lock(reader, lock->name, API_BAD_QUATERNION,
                         "the last four are a quaternion of the norm %.9g, which differs from 1 by more than %g", norm,
                         DYN_QUATERNION_TOLERANCE);
    return turn < 0 || (lock->value[turn] <= DYN_MAX_ANGLE && lock->value[turn] >= -DYN_MAX_ANGLE) ||
           fail_lock(reader, lock->name, API_ANGLE_TOO_LARGE, "an angle of %s; angles are limited to %g rad",
                     API_NUMBER_TEXT(lock->value[turn]), DYN_MAX_ANGLE);
}

/* Reports a position outside the limits of the joint, or of one that mimics it. */
static bool report_limits(api_reader *reader, const api_document_link *link, const api_document_lock *lock)
{
    const api_pointer where = lock_pointer(lock->name);
    const bool        mimic = link->dyn.mimic;
    const double      q     = mimic ? link->dyn.ratio * lock->value[0] + link->dyn.offset : lock->value[0];
    if (!link->has_position_limits || (q >= link->lower && q <= link->upper)) return true;
    return api_reader_report(reader, where.text, "warning", "suspicious",
                             "joint \"%.*s\" %s at %s, outside its limits %s to %s", api_text_shown(link->joint),
                             link->joint, mimic ? "follows, and stands" : "is locked", API_NUMBER_TEXT(q),
                             API_NUMBER_TEXT(link->lower), API_NUMBER_TEXT(link->upper));
}

static bool report_lock(api_reader *reader, const api_document_lock *lock, const char *what)
{
    const api_pointer where                                         = lock_pointer(lock->name);
    char              text[API_LOCK_VALUES * (API_NUMBER_ROOM + 1)] = "";
    for (size_t i = 0, used = 0; i < lock->n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? "," : "",
                                 API_NUMBER_TEXT(lock->value[i]));
    return api_reader_report(reader, where.text, "info", "locked", "\"%.*s\" is held at %s, and is no coordinate: %s",
                             api_text_shown(lock->name), lock->name, text, what);
}

static bool fail_unknown_lock(const api_document *document, api_reader *reader, const char *name)
{
    char            list[API_NAMES_TEXT];
    const api_names known = api_document_joint_names(document);
    if (document->floating && (strcmp(name, document->base) == 0 || strncmp(name, "base", 4) == 0))
        return fail_lock(
            reader, name, API_NOT_SUPPORTED,
            "a floating base is not locked: give its q and a qd and qdd of 0, or PUT the robot with a fixed base");
    api_names_write(&known, name, list);
    return fail_lock(reader, name, API_UNKNOWN_NAME, "there is no joint \"%.*s\" in this model%s", api_text_shown(name),
                     name, list);
}

/* Refuses joints that are not independent coordinates. */
static bool check_lock(const api_document *document, api_reader *reader, const api_document_link *link,
                       const char *name)
{
    if (link->lost)
        return fail_lock(reader, name, API_DUPLICATE_NAME,
                         "joint \"%.*s\" is locked by another entry: leave this one out", api_text_shown(link->joint),
                         link->joint);
    if (link->dyn.joint == DYN_FIXED)
        return fail_lock(reader, name, API_BAD_VALUE, "joint \"%.*s\" is fixed: leave it out",
                         api_text_shown(link->joint), link->joint);
    if (link->dyn.mimic) {
        const char *leader = document->links[link->leader].joint;
        return fail_lock(reader, name, API_BAD_VALUE, "joint \"%.*s\" follows \"%.*s\": lock that joint instead",
                         api_text_shown(link->joint), link->joint, api_text_shown(leader), leader);
    }
    return link->actuated || document->n_loops == 0 ||
           fail_lock(reader, name, API_BAD_VALUE,
                     "joint \"%.*s\" is passive, and follows from the loops: lock actuated joints instead",
                     api_text_shown(link->joint), link->joint);
}

/* --- motors, mimics, transmissions -------------------------------------------------------------------------------- */

/* Removes the motor of a joint from the list: its rotor is part of the link that carries it. */
static void drop_motor(api_document *document, int joint_link)
{
    size_t kept = 0;
    for (size_t i = 0; i < document->n_motors; i++)
        if (document->motors[i].joint_link != joint_link) document->motors[kept++] = document->motors[i];
    document->n_motors = kept;
}

/* Locks the motor coordinate theta of an elastic joint. R = k (q - theta - rest) + d qd becomes part of the joint's
 * spring: two parallel springs equal one at the mean of their rest positions, weighted by stiffness. */
static bool lock_motor(api_document *document, api_reader *reader, int i, api_document_lock *lock)
{
    dyn_link         *l = &document->links[i].dyn;
    const dyn_spring *e = &l->elasticity, spring = l->spring;
    if (lock->n != 1 || lock->is_array)
        return fail_lock(reader, lock->name, API_WRONG_SHAPE, "an array given, the position of a motor is a number");
    if (spring.stiffness2 != 0 || spring.stiffness3 != 0)
        return fail_lock(
            reader, lock->name, API_NOT_SUPPORTED,
            "the joint has a spring with a stiffness_polynomial, which is none beside that of the motor: lock "
            "the joint, or leave the motor free");
    l->spring.stiffness = spring.stiffness + e->stiffness;
    l->spring.damping   = spring.damping + e->damping;
    if (l->spring.stiffness != 0)
        l->spring.rest =
            (spring.stiffness * spring.rest + e->stiffness * (e->rest + lock->value[0])) / l->spring.stiffness;
    l->elastic       = false;
    l->elasticity    = (dyn_spring){0};
    l->rotor_inertia = 0;
    l->motor         = (dyn_motor){0};
    drop_motor(document, i);
    document->links[i].limits     = (api_drive_limits){.has_velocity = document->links[i].limits.has_velocity,
                                                       .velocity     = document->links[i].limits.velocity};
    document->links[i].motor_lost = true;
    return report_lock(reader, lock, "its spring is one of the joint now");
}

static bool lock_joint(api_document *document, api_reader *reader, int i, api_document_lock *lock)
{
    api_document_link *link = &document->links[i];
    if (!check_lock(document, reader, link, lock->name) || !check_value(reader, link, lock) ||
        !report_limits(reader, link, lock))
        return false;
    fix(link, lock->value);
    link->held = lock->value;
    drop_motor(document, i);
    for (size_t k = 0; k < document->n_links; k++) { /* joints that mimic it */
        api_document_link *follower = &document->links[k];
        if (!follower->dyn.mimic || follower->leader != i) continue;
        if (!report_limits(reader, follower, lock)) return false;
        fix(follower, lock->value);
        drop_motor(document, (int)k);
    }
    return report_lock(reader, lock, "the joint is fixed");
}

/* Removes transmissions whose joints are all locked, and refuses those of which some joints are. */
static bool drop_transmissions(api_document *document, api_reader *reader)
{
    size_t kept = 0;
    for (size_t i = 0; i < document->n_transmissions; i++) {
        const api_document_transmission *t    = &document->transmissions[i];
        size_t                           lost = 0;
        const char                      *lock = NULL, *moving = NULL;
        for (size_t j = 0; j < t->n; j++) {
            const api_document_link *link = &document->links[t->link[j]];
            lost += link->lost != NULL;
            if (link->lost)
                lock = link->joint;
            else
                moving = link->joint;
        }
        if (lost > 0 && lost < t->n)
            return fail_lock(
                reader, lock, API_NOT_SUPPORTED,
                "joint \"%.*s\" is in a transmission with \"%.*s\", whose motors move both: lock all joints of "
                "the transmission, or none",
                api_text_shown(lock), lock, api_text_shown(moving), moving);
        if (lost == 0) document->transmissions[kept++] = document->transmissions[i];
    }
    document->n_transmissions = kept;
    return true;
}

/* Refuses locks that leave the loops without an actuated joint. */
static bool check_actuated(const api_document *document, api_reader *reader)
{
    bool drives = document->n_loops == 0 || document->floating;
    for (size_t i = 0; !drives && i < document->n_links; i++)
        drives = document->links[i].dyn.joint != DYN_FIXED && document->links[i].actuated;
    return drives || api_fail(reader->problem, API_BAD_VALUE, "/locked",
                              "nothing moves: all actuated joints are locked; leave at least one out");
}

bool api_document_lock_joints(api_document *document, api_reader *reader)
{
    for (size_t k = 0; k < document->n_locks; k++) {
        api_document_lock *lock  = &document->locks[k];
        const int          joint = find_named_joint(document, lock->name, strlen(lock->name));
        const int          motor = joint < 0 ? find_elastic(document, lock->name) : -1;
        if (joint < 0 && motor < 0) return fail_unknown_lock(document, reader, lock->name);
        if (joint >= 0 ? !lock_joint(document, reader, joint, lock) : !lock_motor(document, reader, motor, lock))
            return false;
    }
    return document->n_locks == 0 || (check_actuated(document, reader) && drop_transmissions(document, reader));
}

bool api_document_has_lost(const api_document *document, const char *coordinate)
{
    for (size_t i = 0; i < document->n_links; i++) {
        const api_document_link *link   = &document->links[i];
        const size_t             length = strlen(link->joint);
        if ((!link->lost && !link->motor_lost) || strncmp(link->joint, coordinate, length) != 0) continue;
        for (const char *const *suffix = link->lost; suffix && *suffix; suffix++)
            if (strcmp(coordinate + length, *suffix) == 0) return true;
        if (link->motor_lost && strcmp(coordinate + length, motor_suffix) == 0) return true;
    }
    return false;
}
