/* document_inertial.c - read "inertial" of a link: mass, centre of mass and inertia tensor, or a homogeneous solid. */
#include "document.h"
#include <string.h>

bool api_document_check_inertia(const api_entry *place, const char *link, const dyn_inertia *inertia)
{
    char        reason[160];
    const char *refusal = api_inertia_refusal(inertia, reason);
    if (refusal) return api_entry_fail(place, NULL, API_BAD_INERTIA, "%s", refusal);
    const char *suspicion = api_inertia_suspicion(inertia, reason);
    return !suspicion || api_entry_report(place, NULL, "warning", "suspicious", "link \"%.*s\": %s",
                                          api_text_shown(link), link, suspicion);
}

static const char *const tensor_fields[] = {"xx", "yy", "zz", "xy", "xz", "yz", NULL};

static bool read_tensor(const api_entry *inertial, double about_com[6])
{
    static const int tensor_index[6] = {0, 3, 5, 1, 2, 4}; /* place of each of tensor_fields in xx xy xz yy yz zz */
    api_entry        tensor;
    if (!api_entry_has(inertial, "inertia")) return true;
    if (!api_entry_open(&tensor, inertial, "inertia", tensor_fields)) return false;
    for (int i = 0; i < 6; i++)
        if (!api_entry_number(&tensor, tensor_fields[i], API_OPTIONAL, &about_com[tensor_index[i]])) return false;
    api_entry_close(&tensor, false);
    return true;
}

/* Reads the mass. It is checked here, before the whole inertia is, so that the problem points at the field "mass". */
static bool read_mass(const api_entry *inertial, int need, double *mass)
{
    if (!api_entry_number(inertial, "mass", need, mass)) return false;
    if (*mass >= 0) return true;
    return api_entry_fail(inertial, "mass", API_BAD_INERTIA, "the mass %.6g kg is negative", *mass);
}

static bool find_solid(const api_entry *entry, api_solid *solid)
{
    const char *name = NULL;
    if (!api_entry_text(entry, "solid", API_REQUIRED, &name)) return false;
    for (*solid = 0; *solid < API_SOLIDS; (*solid)++)
        if (strcmp(api_solid_form_of(*solid)->name, name) == 0) return true;
    return api_entry_fail(entry, "solid", API_BAD_VALUE,
                          "\"%.*s\" is not a solid; known are box, cylinder, sphere, ellipsoid and capsule",
                          api_text_shown(name), name);
}

static bool read_size(const api_entry *entry, api_solid solid, double size[3])
{
    const api_solid_form *form  = api_solid_form_of(solid);
    const json_t         *value = json_object_get(entry->input, "size");
    if (json_is_array(value) && json_array_size(value) != form->n_sizes)
        return api_entry_fail(entry, "size", API_WRONG_SHAPE, "the size of a %s is %s: expected %zu entries, given %zu",
                              form->name, form->sizes, form->n_sizes, json_array_size(value));
    if (!api_entry_vector(entry, "size", API_REQUIRED, size, form->n_sizes)) return false;
    for (size_t i = 0; i < form->n_sizes; i++)
        if (size[i] < 0) return api_entry_fail(entry, "size", API_BAD_VALUE, "sizes must not be negative");
    return true;
}

bool api_document_read_solid(const api_entry *entry, api_solid *solid, double size[3])
{
    return find_solid(entry, solid) && read_size(entry, *solid, size);
}

static bool read_solid_mass(const api_entry *inertial, double volume, double *mass)
{
    double density  = 0;
    bool   has_mass = api_entry_has(inertial, "mass"), has_density = api_entry_has(inertial, "density");
    if (has_mass == has_density)
        return api_entry_fail(inertial, NULL, has_mass ? API_BAD_VALUE : API_MISSING_FIELD,
                              "a solid takes either \"mass\" or \"density\", given %s", has_mass ? "both" : "neither");
    if (has_mass) return read_mass(inertial, API_REQUIRED, mass);
    if (!api_entry_not_negative(inertial, "density", API_REQUIRED, &density)) return false;
    *mass = density * volume;
    return true;
}

static bool read_solid(const api_entry *inertial, dyn_inertia *inertia)
{
    api_solid solid;
    double    size[3] = {0}, mass = 0, xyz[3] = {0}, rpy[3] = {0};
    if (!api_document_read_solid(inertial, &solid, size) ||
        !read_solid_mass(inertial, api_solid_volume(solid, size), &mass) ||
        !api_entry_vector(inertial, "xyz", API_OPTIONAL, xyz, 3) || !api_entry_rpy(inertial, rpy))
        return false;
    dyn_pose X = dyn_pose_rpy(xyz, rpy);
    *inertia   = api_solid_inertia(solid, size, mass, &X);
    return true;
}

bool api_document_read_inertial(const api_entry *entry, const char *link, dyn_inertia *inertia, bool alone)
{
    static const char *const value_fields[] = {"mass", "com", "inertia", NULL};
    static const char *const solid_fields[] = {"solid", "size", "mass", "density", "xyz", "rpy", NULL};
    api_entry                inertial;
    *inertia         = (dyn_inertia){0};
    const json_t *in = json_object_get(entry->input, "inertial");
    if (!in) return true;

    bool is_solid = json_object_get(in, "solid") != NULL;
    if (!api_entry_open(&inertial, entry, "inertial", is_solid ? solid_fields : value_fields)) return false;
    if (is_solid ? !read_solid(&inertial, inertia)
                 : !read_mass(&inertial, API_OPTIONAL, &inertia->mass) ||
                       !api_entry_vector(&inertial, "com", API_OPTIONAL, inertia->com, 3) ||
                       !read_tensor(&inertial, inertia->about_com))
        return false;
    if ((alone || !api_inertia_is_indefinite(inertia)) && !api_document_check_inertia(&inertial, link, inertia))
        return false;
    api_entry_close(&inertial, false);
    return true;
}
