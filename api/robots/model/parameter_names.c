/* parameter_names.c - names parameters and writes base parameters (parameter_names.h). */
#include "parameter_names.h"
#include <stdio.h>

static const char *const body_names[DYN_PER_BODY] = {"m",   "mcx", "mcy", "mcz", "Ixx",
                                                     "Ixy", "Iyy", "Ixz", "Iyz", "Izz"};

static const char *const joint_names[DYN_PER_JOINT] = {"rotor_inertia", "viscous", "coulomb_positive",
                                                       "coulomb_negative"};

static const char *const curve_names[DYN_PER_CURVE] = {"load", "breakaway_positive", "breakaway_negative",
                                                       "stribeck_velocity"};

const char *const api_tensor_names[DYN_TENSOR] = {"xx", "yy", "zz", "xy", "xz", "yz"};

void api_parameter_name(const api_model *m, size_t parameter, char name[API_PARAMETER_NAME])
{
    const dyn_parameter_owner owner   = dyn_parameter_owner_of(m->dyn, parameter);
    const char *const *const  names[] = {body_names, joint_names, curve_names};
    const char *const whose = owner.kind == DYN_OF_BODY ? m->body_names[owner.index] : m->mover_names[owner.index];
    snprintf(name, API_PARAMETER_NAME, "%s.%s", whose, names[owner.kind][owner.c]);
}

void api_base_emit(api_emit *to, const api_model *m, const dyn_base *base, size_t k)
{
    char name[API_PARAMETER_NAME];
    api_parameter_name(m, base->parameter[k], name);
    api_emit_object(to);
    api_emit_key(to, "parameter");
    api_emit_string(to, name);
    api_emit_key(to, "with");
    api_emit_array(to);
    for (size_t i = base->first[k]; i < base->first[k + 1]; i++) {
        api_parameter_name(m, base->term[i].parameter, name);
        api_emit_object(to);
        api_emit_key(to, "parameter");
        api_emit_string(to, name);
        api_emit_key(to, "coefficient");
        api_emit_number(to, base->term[i].coefficient);
        api_emit_end(to);
    }
    api_emit_end(to);
    api_emit_end(to);
}
