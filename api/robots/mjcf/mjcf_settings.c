/* mjcf_settings.c - read <compiler> and <option>. Sections may be repeated, and later attributes replace earlier ones.
 *
 * Each attached model keeps its <compiler>. The robot has one <option>; `conflict` tells what becomes of those of
 * attached models (MuJoCo 3.14, XML reference, compiler/conflict). */
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

static const char *const false_true[] = {"false", "true", NULL};

static bool read_flag(api_mjcf *m, const xmlNode *element, const char *attribute, bool *flag)
{
    int index = *flag;
    if (!api_xml_choice(&m->xml, element, attribute, false_true, &index)) return false;
    *flag = index == 1;
    return true;
}

/* Reads an attribute that has one of two values; true for the second. */
static bool read_second(api_mjcf *m, const xmlNode *element, const char *attribute, const char *first,
                        const char *second, bool *is_second)
{
    const char *const values[] = {first, second, NULL};
    int               index    = *is_second;
    if (!api_xml_choice(&m->xml, element, attribute, values, &index)) return false;
    *is_second = index == 1;
    return true;
}

static bool read_sequence(api_mjcf *m, const xmlNode *compiler, api_mjcf_compiler *to)
{
    const char *text = NULL;
    if (!api_xml_text(&m->xml, compiler, "eulerseq", API_OPTIONAL, &text)) return false;
    if (!text) return true;
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
        return api_xml_fail(&m->xml, compiler, API_BAD_VALUE,
                            "eulerseq of <compiler> is \"%.*s\"; expected three of the letters x, y, z, X, Y, Z",
                            api_text_shown(text), text);
    memcpy(to->euler, text, 4);
    return true;
}

static bool read_compiler(api_mjcf *m, const xmlNode *compiler, api_mjcf_compiler *s)
{
    static const char *const from_geom[] = {"false", "true", "auto", NULL};
    static const char *const conflict[]  = {"warning", "merge", "error", NULL};
    return read_second(m, compiler, "angle", "degree", "radian", &s->radians) &&
           read_second(m, compiler, "coordinate", "local", "global", &s->global) &&
           read_flag(m, compiler, "autolimits", &s->auto_limits) &&
           read_flag(m, compiler, "balanceinertia", &s->balance_inertia) &&
           read_flag(m, compiler, "fusestatic", &s->fuse_static) &&
           read_flag(m, compiler, "alignfree", &s->align_free) && read_sequence(m, compiler, s) &&
           read_flag(m, compiler, "exactmeshinertia", &s->exact_meshes) &&
           read_flag(m, compiler, "fitaabb", &s->fit_aabb) && read_flag(m, compiler, "strippath", &s->strip_path) &&
           api_xml_text(&m->xml, compiler, "meshdir", API_OPTIONAL, &s->mesh_folder) &&
           api_xml_text(&m->xml, compiler, "assetdir", API_OPTIONAL, &s->asset_folder) &&
           api_xml_choice(&m->xml, compiler, "conflict", conflict, &s->conflict) &&
           api_xml_choice(&m->xml, compiler, "inertiafromgeom", from_geom, &s->inertia_from_geom) &&
           api_xml_numbers(&m->xml, compiler, "inertiagrouprange", API_OPTIONAL, s->inertia_groups, 2) &&
           api_xml_numbers(&m->xml, compiler, "boundmass", API_OPTIONAL, &s->bound_mass, 1) &&
           api_xml_numbers(&m->xml, compiler, "boundinertia", API_OPTIONAL, &s->bound_inertia, 1) &&
           api_xml_numbers(&m->xml, compiler, "settotalmass", API_OPTIONAL, &s->total_mass, 1);
}

/* Reports a medium that would resist the motion of the geoms. */
static bool read_medium(api_mjcf *m, const xmlNode *option)
{
    static const char *const attributes[] = {"density", "viscosity"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        double value = 0;
        if (!api_xml_numbers(&m->xml, option, attributes[i], API_OPTIONAL, &value, 1)) return false;
        if (value != 0 && !api_xml_report(&m->xml, option, "warning", "not-held",
                                          "%s %.9g in <option>: the forces of the medium are not part of the model",
                                          attributes[i], value))
            return false;
    }
    return true;
}

/* Reads a flag, by default enabled; *disabled stays as it is without the attribute. */
static bool read_disabled(api_mjcf *m, const xmlNode *flag, const char *attribute, bool *disabled)
{
    return read_second(m, flag, attribute, "enable", "disable", disabled);
}

/* Reports flags whose effect a model cannot hold. */
static bool report_flags(api_mjcf *m, const xmlNode *flag)
{
    bool no_actuation = false, discrete = false;
    if (!read_disabled(m, flag, "actuation", &no_actuation) ||
        !read_second(m, flag, "invdiscrete", "disable", "enable", &discrete))
        return false;
    if (no_actuation && !api_xml_report(&m->xml, flag, "warning", "not-held",
                                        "actuation in <flag> disables all actuators: the joints of the model take "
                                        "efforts all the same"))
        return false;
    return !discrete || api_xml_report(&m->xml, flag, "warning", "not-held",
                                       "invdiscrete in <flag>: inverse dynamics of the model are those of continuous "
                                       "time");
}

/* Reads the flags that disable a part of the dynamics. Until MuJoCo 3.3.5 `passive` was spring and damper together. */
static bool read_flags(api_mjcf *m, const xmlNode *flag, api_mjcf_option *s)
{
    s->states_flags = true;
    return read_disabled(m, flag, "gravity", &s->no_gravity) && read_disabled(m, flag, "passive", &s->no_passive) &&
           read_disabled(m, flag, "spring", &s->no_springs) && read_disabled(m, flag, "damper", &s->no_dampers) &&
           read_disabled(m, flag, "frictionloss", &s->no_friction) && read_disabled(m, flag, "limit", &s->no_limits) &&
           read_disabled(m, flag, "equality", &s->no_equalities) &&
           read_disabled(m, flag, "constraint", &s->no_constraints) &&
           read_disabled(m, flag, "clampctrl", &s->no_control_limits);
}

/* Applies the flags that disable several parts of the model to each of these parts. */
static void apply_flags(api_mjcf_option *s)
{
    s->no_springs |= s->no_passive;
    s->no_dampers |= s->no_passive;
    s->no_friction |= s->no_constraints;
    s->no_limits |= s->no_constraints;
    s->no_equalities |= s->no_constraints;
    if (s->no_gravity) memset(s->gravity, 0, sizeof s->gravity);
}

/* Reports groups of actuators that exert no force. */
static bool report_groups(api_mjcf *m, const xmlNode *option)
{
    const char *groups = NULL;
    if (!api_xml_text(&m->xml, option, "actuatorgroupdisable", API_OPTIONAL, &groups)) return false;
    return !groups || strspn(groups, " \t\r\n") == strlen(groups) ||
           api_xml_report(
               &m->xml, option, "warning", "not-held",
               "actuatorgroupdisable \"%.*s\" in <option>: actuators of these groups exert no force, and their "
               "joints take efforts in the model all the same",
               api_text_shown(groups), groups);
}

/* Reads gravity and flags. */
static bool read_option(api_mjcf *m, const xmlNode *option, api_mjcf_option *o)
{
    o->states_gravity |= api_xml_has(option, "gravity");
    if (!api_xml_numbers(&m->xml, option, "gravity", API_OPTIONAL, o->gravity, 3)) return false;
    for (const xmlNode *flag = api_xml_child(option, "flag"); flag; flag = api_xml_next(flag, "flag"))
        if (!read_flags(m, flag, o)) return false;
    return true;
}

static bool read_model_options(api_mjcf *m, const xmlNode *root, api_mjcf_option *o)
{
    *o = (api_mjcf_option){.gravity = {0, 0, -9.81}};
    for (const xmlNode *e = api_xml_child(root, "option"); e; e = api_xml_next(e, "option"))
        if (!read_option(m, e, o)) return false;
    return true;
}

/* Reports the settings of the robot's <option> that a model cannot hold. */
static bool report_options(api_mjcf *m)
{
    for (const xmlNode *e = api_xml_child(m->xml.root, "option"); e; e = api_xml_next(e, "option")) {
        if (!read_medium(m, e) || !report_groups(m, e)) return false;
        for (const xmlNode *flag = api_xml_child(e, "flag"); flag; flag = api_xml_next(flag, "flag"))
            if (!report_flags(m, flag)) return false;
    }
    return true;
}

/* --- options of attached models ----------------------------------------------------------------------------------- */

static bool same_gravity(const api_mjcf_option *a, const api_mjcf_option *b)
{
    return a->gravity[0] == b->gravity[0] && a->gravity[1] == b->gravity[1] && a->gravity[2] == b->gravity[2];
}

static bool same_flags(const api_mjcf_option *a, const api_mjcf_option *b)
{
    return a->no_gravity == b->no_gravity && a->no_passive == b->no_passive && a->no_springs == b->no_springs &&
           a->no_dampers == b->no_dampers && a->no_constraints == b->no_constraints &&
           a->no_friction == b->no_friction && a->no_limits == b->no_limits && a->no_equalities == b->no_equalities &&
           a->no_control_limits == b->no_control_limits;
}

static void add_flags(api_mjcf_option *to, const api_mjcf_option *from)
{
    to->no_gravity |= from->no_gravity;
    to->no_passive |= from->no_passive;
    to->no_springs |= from->no_springs;
    to->no_dampers |= from->no_dampers;
    to->no_constraints |= from->no_constraints;
    to->no_friction |= from->no_friction;
    to->no_limits |= from->no_limits;
    to->no_equalities |= from->no_equalities;
    to->no_control_limits |= from->no_control_limits;
}

static bool refuse_conflict(api_mjcf *m, const xmlNode *model, const char *what)
{
    return api_xml_fail(&m->xml, model, API_BAD_VALUE,
                        "this attached model states another %s than the robot in <option>, and conflict of <compiler> "
                        "refuses that; conflict=\"warning\" takes that of the robot",
                        what);
}

static bool tell_unused(api_mjcf *m, const xmlNode *model, const char *what)
{
    return api_xml_report(&m->xml, model, "warning", "not-held",
                          "%s in <option> of this attached model is not used: the robot's file decides", what);
}

static bool combine_gravity(api_mjcf *m, const xmlNode *model, const api_mjcf_option *theirs)
{
    api_mjcf_option *ours = &m->option;
    const int        mode = m->compilers[0].conflict;
    if (!theirs->states_gravity || same_gravity(ours, theirs)) return true;
    if (ours->states_gravity && mode != API_CONFLICT_WARNING) return refuse_conflict(m, model, "gravity");
    if (mode != API_CONFLICT_MERGE) return tell_unused(m, model, "gravity");
    memcpy(ours->gravity, theirs->gravity, sizeof ours->gravity);
    ours->states_gravity = true;
    return true;
}

static bool combine_flags(api_mjcf *m, const xmlNode *model, const api_mjcf_option *theirs)
{
    const int mode = m->compilers[0].conflict;
    if (!theirs->states_flags || same_flags(&m->option, theirs)) return true;
    if (mode == API_CONFLICT_ERROR && m->option.states_flags) return refuse_conflict(m, model, "<flag>");
    if (mode != API_CONFLICT_MERGE) return tell_unused(m, model, "<flag>");
    add_flags(&m->option, theirs);
    return true;
}

static bool combine_options(api_mjcf *m, const api_mjcf_submodel *model)
{
    api_mjcf_option theirs;
    return read_model_options(m, model->root, &theirs) && combine_gravity(m, model->declared, &theirs) &&
           combine_flags(m, model->declared, &theirs);
}

/* --- all settings ------------------------------------------------------------------------------------------------- */

static bool read_compilers(api_mjcf *m, const xmlNode *root, api_mjcf_compiler *c)
{
    *c = (api_mjcf_compiler){.auto_limits       = true,
                             .euler             = "xyz",
                             .inertia_from_geom = API_FROM_GEOM_AUTO,
                             .inertia_groups    = {0, 5},
                             .total_mass        = -1};
    for (const xmlNode *e = api_xml_child(root, "compiler"); e; e = api_xml_next(e, "compiler"))
        if (!read_compiler(m, e, c)) return false;
    return true;
}

bool api_mjcf_read_settings(api_mjcf *m)
{
    m->compilers = api_arena_take(m->xml.base.arena, m->files->n_models, sizeof *m->compilers);
    if (!m->compilers) return api_reader_no_memory(&m->xml.base);
    for (size_t k = 0; k < m->files->n_models; k++) {
        if (!read_compilers(m, m->files->model[k].root, &m->compilers[k])) return false;
        if (m->compilers[k].global && m->files->n_models > 1)
            return api_xml_fail(&m->xml, m->files->model[k].root, API_NOT_SUPPORTED,
                                "<attach> needs coordinate=\"local\" in <compiler>");
    }
    if (!read_model_options(m, m->xml.root, &m->option) || !report_options(m)) return false;
    for (size_t k = 1; k < m->files->n_models; k++)
        if (!combine_options(m, &m->files->model[k])) return false;
    apply_flags(&m->option);
    return true;
}
