/* document_motor.c - read "motors". A motor drives a joint and is carried by a link. Its mass and inertia, with the
 * rotor locked, are added to the carrying link. dynamics/ (dyn_motor) adds the effects of the rotor, which spins at
 * gear_ratio times the rate of the driven joint. */
#include "document.h"
#include <stdio.h>

/* --- each by itself ----------------------------------------------------------------------------------------------- */

static bool read_gear(const api_entry *entry, double *ratio)
{
    if (!api_entry_number(entry, "gear_ratio", API_REQUIRED, ratio)) return false;
    if (*ratio != 0) return true;
    return api_entry_fail(entry, "gear_ratio", API_BAD_VALUE, "a gear ratio must not be 0");
}

/* Reports a rotor whose moment of inertia about the axis exceeds that of the whole motor, which contains the rotor. */
static bool report_rotor(const api_entry *entry, const api_document_motor *motor)
{
    static const int tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double           about              = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            about += motor->dyn.axis[i] * motor->inertia.about_com[tensor_index[i][j]] * motor->dyn.axis[j];
    if (!api_entry_has(entry, "inertial") || motor->dyn.spin_inertia <= about * (1 + 1e-9)) return true;
    return api_entry_report(
        entry, "spin_inertia", "warning", "suspicious",
        "the rotor's %.6g kg m^2 are more than the %.6g that the whole motor, its \"inertial\", has "
        "about the axis",
        motor->dyn.spin_inertia, about);
}

static bool read_motor(const api_entry *root, size_t index, api_document_motor *motor)
{
    static const char *const fields[] = {"joint",        "link",     "axis",     "gear_ratio",
                                         "spin_inertia", "friction", "inertial", NULL};
    api_entry                entry;
    motor->dyn.present = true;
    return api_entry_item(&entry, root, "motors", index, fields) &&
           api_entry_name(&entry, "joint", API_REQUIRED, &motor->joint) &&
           api_entry_name(&entry, "link", API_REQUIRED, &motor->link_name) &&
           api_document_read_axis(&entry, "axis", motor->dyn.axis) && read_gear(&entry, &motor->dyn.gear_ratio) &&
           api_entry_not_negative(&entry, "spin_inertia", API_REQUIRED, &motor->dyn.spin_inertia) &&
           api_document_read_friction(&entry, &motor->dyn.friction) &&
           api_document_read_inertial(&entry, motor->link_name, &motor->inertia, true) && report_rotor(&entry, motor);
}

bool api_document_read_motors(const api_entry *root, api_document *document, size_t max_links)
{
    size_t n;
    if (!api_entry_list(root, "motors", API_OPTIONAL, &n)) return false;
    if (n > 0 && document->from_screws)
        return api_entry_fail(root, "motors", API_NOT_SUPPORTED, "a model given by \"screws\" takes no motors");
    if (n > max_links)
        return api_entry_fail(root, "motors", API_MODEL_TOO_LARGE, "the model has %zu motors, the limit is %zu", n,
                              max_links);
    document->n_motors = n;
    document->motors   = api_arena_take(root->reader->arena, n, sizeof *document->motors);
    if (!document->motors) return api_reader_no_memory(root->reader);
    for (size_t i = 0; i < n; i++)
        if (!read_motor(root, i, &document->motors[i])) return false;
    return true;
}

/* --- in the tree -------------------------------------------------------------------------------------------------- */

static bool fail(api_reader *reader, size_t i, const api_document_motor *motor, api_code code, const char *reason)
{
    char pointer[48];
    snprintf(pointer, sizeof pointer, "/motors/%zu/joint", i);
    return api_fail(reader->problem, code, pointer, "joint \"%.*s\" %s", api_text_shown(motor->joint), motor->joint,
                    reason);
}

static bool check_joint(const api_document *document, api_reader *reader, size_t i)
{
    const api_document_motor *motor = &document->motors[i];
    const dyn_link           *link  = &document->links[motor->joint_link].dyn;
    if (dyn_joint_nv(link->joint) != 1)
        return fail(reader, i, motor, API_BAD_VALUE, "must have exactly one coordinate to be driven by a motor");
    if (link->motor.present) return fail(reader, i, motor, API_DUPLICATE_NAME, "has another motor already");
    if (link->rotor_inertia != 0)
        return fail(reader, i, motor, API_BAD_VALUE,
                    "has a rotor_inertia in addition to the motor's spin_inertia: give only one of them");
    return true;
}

static bool report_standing(api_reader *reader, size_t i, const api_document_motor *motor)
{
    char where[48];
    snprintf(where, sizeof where, "/motors/%zu/inertial", i);
    return api_reader_report(reader, where, "info", "dropped",
                             "\"%.*s\" is the fixed base: mass and inertia of the motor on it have no effect",
                             api_text_shown(motor->link_name), motor->link_name);
}

bool api_document_attach_motors(api_document *document, api_reader *reader)
{
    for (size_t i = 0; i < document->n_motors; i++) {
        api_document_motor *motor = &document->motors[i];
        if (!check_joint(document, reader, i)) return false;
        bool on_base = motor->dyn.link == DYN_WORLD;
        if (!on_base || document->floating)
            api_inertia_add(on_base ? &document->base_inertia : &document->links[motor->dyn.link].dyn.inertia,
                            &motor->inertia);
        else if (motor->inertia.mass != 0 && !report_standing(reader, i, motor))
            return false;
        document->links[motor->joint_link].dyn.motor = motor->dyn;
    }
    return true;
}
