/* mjcf_name.c - name the links, joints and frames of the document. In MJCF bodies and sites have names of their own, in
 * a document links and frames share one list: a site gives way to a body, and a made name gives way to a given one. */
#include "mjcf_reader.h"
#include <stdio.h>

static bool name_given(api_mjcf *m, json_t *map, const xmlNode *element, const char *given, const char **name)
{
    return !given || api_xml_reserve_given(&m->document, map, element, given, name);
}

/* Names an unnamed body or joint after a body. */
static bool name_after(api_mjcf *m, json_t *map, const char *body, const char *suffix, const char **name)
{
    char wanted[300];
    if (*name) return true;
    snprintf(wanted, sizeof wanted, "%.250s.%s", body, suffix);
    *name = api_xml_reserve_name(&m->document, map, wanted);
    return *name || api_reader_no_memory(&m->xml.base);
}

static const char *link_name(const api_mjcf *m, int body)
{
    return body < 0 ? "world" : m->bodies[body].name;
}

static bool name_unnamed(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!name_after(m, m->document.names, link_name(m, m->bodies[i].parent), "body", &m->bodies[i].name))
            return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (!name_after(m, m->document.joints, m->bodies[m->joints[i].body].name, "joint", &m->joints[i].name))
            return false;
    return m->n_unnamed == 0 ||
           api_xml_report(&m->xml, m->unnamed, "info", "assumed",
                          "%zu bodies and joints have no name: they are named after the bodies that hold them",
                          m->n_unnamed);
}

bool api_mjcf_name_all(api_mjcf *m)
{
    if (!api_xml_reserve_name(&m->document, m->document.names, "world")) return api_reader_no_memory(&m->xml.base);
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!name_given(m, m->document.names, m->bodies[i].element, m->bodies[i].given_name, &m->bodies[i].name))
            return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (!name_given(m, m->document.joints, m->joints[i].element, m->joints[i].given_name, &m->joints[i].name))
            return false;
    if (!name_unnamed(m)) return false;
    for (size_t i = 0; i < m->n_sites; i++)
        if (!name_given(m, m->document.names, m->sites[i].element, m->sites[i].given_name, &m->sites[i].name))
            return false;
    return true;
}
