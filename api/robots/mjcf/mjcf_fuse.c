/* mjcf_fuse.c - apply <compiler fusestatic>, which merges bodies without joints into their parents: the world then
 * takes their masses out of the total, and a fused body takes over the gravcomp of its parent. Bodies that an element
 * of the file names stay as they are. */
#include "mjcf_reader.h"
#include <string.h>

/* Attributes that name bodies, or objects of any kind. */
static const char *const references[] = {"body",     "body1",   "body2",   "subtree1",
                                         "subtree2", "objname", "refname", "target"};

static bool add_name(api_mjcf *m, json_t *names, const char *name)
{
    return api_xml_set_field(&m->xml, names, name, json_true());
}

/* Adds the body of the site at which a force or torque sensor measures. */
static bool add_measured(api_mjcf *m, json_t *names, const xmlNode *sensor)
{
    const char   *site  = NULL;
    const json_t *found = NULL;
    if (!api_xml_is(sensor, "force") && !api_xml_is(sensor, "torque")) return true;
    if (!api_xml_text(&m->xml, sensor, "site", API_OPTIONAL, &site)) return false;
    if (site) found = json_object_get(m->site_index, site);
    int body = found ? m->sites[json_integer_value(found)].body : -1;
    return body < 0 || !m->bodies[body].given_name || add_name(m, names, m->bodies[body].given_name);
}

/* Collects all names that elements refer to; the nesting limit of the parser bounds the recursion. */
static bool collect(api_mjcf *m, json_t *names, const xmlNode *in)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        if (e->type != XML_ELEMENT_NODE) continue;
        for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
            const char *name = NULL;
            if (!api_xml_text(&m->xml, e, references[i], API_OPTIONAL, &name)) return false;
            if (name && !add_name(m, names, name)) return false;
        }
        if (!add_measured(m, names, e) || !collect(m, names, e)) return false;
    }
    return true;
}

static void fuse(api_mjcf *m, const json_t *names)
{
    for (size_t i = 0; i < m->n_bodies; i++) { /* parents before children */
        api_mjcf_body *body  = &m->bodies[i];
        bool           named = body->given_name && json_object_get(names, body->given_name);
        if (body->n_joints > 0 || body->mocap || named) continue;
        const api_mjcf_body *parent = body->parent < 0 ? NULL : &m->bodies[body->parent];
        body->fused_to_world        = !parent || parent->fused_to_world;
        if (parent) body->gravcomp = parent->gravcomp;
    }
}

bool api_mjcf_fuse(api_mjcf *m)
{
    if (!m->compilers[0].fuse_static) return true;
    json_t *names = json_object();
    if (!names) return api_reader_no_memory(&m->xml.base);
    bool ok = collect(m, names, m->xml.root);
    if (ok) fuse(m, names);
    json_decref(names);
    return ok;
}
