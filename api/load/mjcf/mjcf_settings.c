/* mjcf_settings.c - read <compiler> and <option>. Sections may be repeated, and later attributes replace earlier ones.
 */
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

/* Reads an attribute of two values as true for the second. */
static bool read_second(api_mjcf *m, const xmlNode *element, const char *attribute, const char *first,
                        const char *second, bool *is_second)
{
    const char *const values[] = {first, second, NULL};
    int               index    = *is_second;
    if (!api_xml_choice(&m->xml, element, attribute, values, &index)) return false;
    *is_second = index == 1;
    return true;
}

static bool read_sequence(api_mjcf *m, const xmlNode *compiler)
{
    const char *text = NULL;
    if (!api_xml_text(&m->xml, compiler, "eulerseq", API_OPTIONAL, &text)) return false;
    if (!text) return true;
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
        return api_xml_fail(&m->xml, compiler, API_BAD_VALUE,
                            "eulerseq of <compiler> is \"%.*s\"; expected three of the letters x, y, z, X, Y, Z",
                            api_text_shown(text), text);
    memcpy(m->settings.euler, text, 4);
    return true;
}

static bool read_compiler(api_mjcf *m, const xmlNode *compiler)
{
    static const char *const from_geom[] = {"false", "true", "auto", NULL};
    api_mjcf_settings       *s           = &m->settings;
    return read_second(m, compiler, "angle", "degree", "radian", &s->radians) &&
           read_second(m, compiler, "coordinate", "local", "global", &s->global) &&
           read_flag(m, compiler, "autolimits", &s->auto_limits) &&
           read_flag(m, compiler, "balanceinertia", &s->balance_inertia) && read_sequence(m, compiler) &&
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
                                          "%s %.9g of the medium: its forces on the bodies are not part of the model",
                                          attributes[i], value))
            return false;
    }
    return true;
}

/* Reads the flags that disable a part of the dynamics; `passive` disables springs and dampers. */
static bool read_disabled(api_mjcf *m, const xmlNode *flag)
{
    api_mjcf_settings *s          = &m->settings;
    bool               no_gravity = false, no_passive = false;
    if (!read_second(m, flag, "gravity", "enable", "disable", &no_gravity) ||
        !read_second(m, flag, "passive", "enable", "disable", &no_passive) ||
        !read_second(m, flag, "spring", "enable", "disable", &s->no_springs) ||
        !read_second(m, flag, "damper", "enable", "disable", &s->no_dampers) ||
        !read_second(m, flag, "frictionloss", "enable", "disable", &s->no_friction) ||
        !read_second(m, flag, "limit", "enable", "disable", &s->no_limits) ||
        !read_second(m, flag, "equality", "enable", "disable", &s->no_equalities))
        return false;
    s->no_springs |= no_passive;
    s->no_dampers |= no_passive;
    if (no_gravity) memset(s->gravity, 0, sizeof s->gravity);
    return true;
}

static bool read_option(api_mjcf *m, const xmlNode *option)
{
    if (!api_xml_numbers(&m->xml, option, "gravity", API_OPTIONAL, m->settings.gravity, 3) || !read_medium(m, option))
        return false;
    for (const xmlNode *flag = api_xml_child(option, "flag"); flag; flag = api_xml_next(flag, "flag"))
        if (!read_disabled(m, flag)) return false;
    return true;
}

bool api_mjcf_read_settings(api_mjcf *m)
{
    m->settings = (api_mjcf_settings){.auto_limits       = true,
                                      .euler             = "xyz",
                                      .inertia_from_geom = API_FROM_GEOM_AUTO,
                                      .inertia_groups    = {0, 5},
                                      .total_mass        = -1,
                                      .gravity           = {0, 0, -9.81}};
    for (const xmlNode *e = api_xml_child(m->xml.root, "compiler"); e; e = api_xml_next(e, "compiler"))
        if (!read_compiler(m, e)) return false;
    for (const xmlNode *e = api_xml_child(m->xml.root, "option"); e; e = api_xml_next(e, "option"))
        if (!read_option(m, e)) return false;
    return true;
}
