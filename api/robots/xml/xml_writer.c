/* xml_writer.c - write an XML file element by element by libxml2; see xml_writer.h. */
#include "xml_writer.h"
#include "api/codec/number.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 10 };

static void fail(api_xml_writer *w)
{
    w->failed = true;
    api_reader_no_memory(w->reader);
}

/* Puts the description before the root, as a comment, which must not contain "--" or end with "-". */
static void put_description(api_xml_writer *w, xmlNode *root)
{
    if (!w->document->description) return;
    size_t   size    = strlen(w->document->description) + 3;
    char    *text    = api_arena_take(w->reader->arena, size, 1);
    xmlNode *comment = NULL;
    if (text) {
        snprintf(text, size, " %s ", w->document->description);
        for (char *dashes = strstr(text, "--"); dashes; dashes = strstr(dashes, "--"))
            dashes[1] = ' ';
        comment = xmlNewDocComment(w->file, (const xmlChar *)text);
    }
    if (comment)
        xmlAddPrevSibling(root, comment);
    else
        fail(w);
}

void api_xml_report_configurations(api_xml_writer *w)
{
    const size_t n        = w->document->n_configurations;
    char         more[40] = "";
    if (n == 0) return;
    const char *name = w->document->configurations[0].name;
    if (n > 1) snprintf(more, sizeof more, " and %zu more", n - 1);
    api_xml_not_held(w, "/configurations", "configurations are not part of the file: \"%.*s\"%s", api_text_shown(name),
                     name, more);
}

xmlNode *api_xml_writer_open(api_xml_writer *w, api_reader *reader, const api_document *document, const char *root)
{
    *w               = (api_xml_writer){.reader = reader, .document = document, .file = xmlNewDoc(BAD_CAST "1.0")};
    xmlNode *element = w->file ? xmlNewDocNode(w->file, NULL, (const xmlChar *)root, NULL) : NULL;
    if (!element) {
        fail(w);
        return NULL;
    }
    xmlDocSetRootElement(w->file, element);
    put_description(w, element);
    return element;
}

void api_xml_report_shapes(api_xml_writer *w, const char *why)
{
    if (w->shapes_left > 0 && !w->failed)
        w->failed = !api_reader_report(w->reader, "/links", "info", "not-held",
                                       "%zu shapes of links are not part of the file: %s", w->shapes_left, why);
}

char *api_xml_writer_finish(api_xml_writer *w, size_t *length)
{
    xmlChar *text = NULL;
    int      size = 0;
    if (!w->failed) xmlDocDumpFormatMemoryEnc(w->file, &text, &size, "UTF-8", 1);
    char *copy = text ? malloc((size_t)size + 1) : NULL;
    if (copy) {
        memcpy(copy, text, (size_t)size + 1);
        *length = (size_t)size;
    } else {
        fail(w);
    }
    xmlFree(text);
    xmlFreeDoc(w->file);
    xmlResetLastError(); /* frees the texts that libxml2 keeps of an error */
    return copy;
}

xmlNode *api_xml_put(api_xml_writer *w, xmlNode *parent, const char *name)
{
    xmlNode *element = parent && !w->failed ? xmlNewChild(parent, NULL, (const xmlChar *)name, NULL) : NULL;
    if (!element) fail(w);
    return element;
}

void api_xml_put_text(api_xml_writer *w, xmlNode *element, const char *attribute, const char *text)
{
    if (!element || w->failed) return;
    if (!xmlNewProp(element, (const xmlChar *)attribute, (const xmlChar *)text)) fail(w);
}

typedef char number_text[MOST_NUMBERS * (API_NUMBER_ROOM + 1)];

static void list_numbers(const double *v, size_t n, number_text text)
{
    size_t used = 0;
    for (size_t i = 0; i < n && i < MOST_NUMBERS; i++) {
        if (i > 0) text[used++] = ' ';
        used += api_number_write(v[i] + 0.0, text + used); /* -0 becomes 0 */
    }
    text[used] = '\0';
}

void api_xml_put_numbers(api_xml_writer *w, xmlNode *element, const char *attribute, const double *v, size_t n)
{
    number_text text;
    list_numbers(v, n, text);
    api_xml_put_text(w, element, attribute, text);
}

void api_xml_put_number(api_xml_writer *w, xmlNode *element, const char *attribute, double value)
{
    const double values[] = {value};
    api_xml_put_numbers(w, element, attribute, values, 1);
}

void api_xml_put_content(api_xml_writer *w, xmlNode *element, const char *text)
{
    if (!element || w->failed) return;
    xmlNode *content = xmlNewText((const xmlChar *)text);
    if (content && xmlAddChild(element, content)) return;
    xmlFreeNode(content);
    fail(w);
}

void api_xml_put_content_numbers(api_xml_writer *w, xmlNode *element, const double *v, size_t n)
{
    number_text text;
    list_numbers(v, n, text);
    api_xml_put_content(w, element, text);
}

void api_xml_put_content_number(api_xml_writer *w, xmlNode *element, double value)
{
    const double values[] = {value};
    api_xml_put_content_numbers(w, element, values, 1);
}

const char *api_xml_join(api_xml_writer *w, const char *name, const char *suffix)
{
    size_t size = strlen(name) + strlen(suffix) + 2;
    char  *text = api_arena_take(w->reader->arena, size, 1);
    if (!text) {
        fail(w);
        return "";
    }
    snprintf(text, size, "%s.%s", name, suffix);
    return text;
}

/* --- what is not held --------------------------------------------------------------------------------------------- */

void api_xml_not_held(api_xml_writer *w, const char *where, const char *format, ...)
{
    char    text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!api_reader_report(w->reader, where, "warning", "not-held", "%s", text)) w->failed = true;
}

void api_xml_joint_not_held(api_xml_writer *w, size_t link, const char *field)
{
    const char *name = w->document->links[link].joint;
    char        where[80];
    if (w->document->from_screws)
        snprintf(where, sizeof where, "/screws");
    else
        snprintf(where, sizeof where, "/links/%zu/joint/%s", link, field);
    api_xml_not_held(w, where, "\"%s\" of joint \"%.*s\" is not part of the file", field, api_text_shown(name), name);
}

static bool is_more_than_one_number(const dyn_friction *friction)
{
    return friction->positive != friction->negative || friction->coulomb_velocity != 0 ||
           friction->stribeck_velocity != 0;
}

void api_xml_report_motion_limits(api_xml_writer *w, size_t i)
{
    const api_drive_limits *limits = &w->document->links[i].limits;
    if (limits->has_acceleration) api_xml_joint_not_held(w, i, "limits/acceleration");
    if (limits->has_jerk) api_xml_joint_not_held(w, i, "limits/jerk");
}

/* Reports the damping of a spring. The formats have one damping of a joint for spring and friction, and readers take it
 * for viscous friction, which "friction": false of a request leaves out. */
static void report_damping(api_xml_writer *w, size_t i)
{
    const api_document_link *link = &w->document->links[i];
    char                     where[80];
    if (link->dyn.spring.damping == 0 || dyn_joint_has_quaternion(link->dyn.joint) || w->failed) return;
    snprintf(where, sizeof where, "/links/%zu/joint/spring/damping", i);
    w->failed = !api_reader_report(w->reader, where, "info", "replaced",
                                   "the damping of the spring of joint \"%.*s\" is viscous friction in the file",
                                   api_text_shown(link->joint), link->joint);
}

void api_xml_report_forces(api_xml_writer *w)
{
    for (size_t i = 0; i < w->document->n_links; i++) {
        const api_document_link *link = &w->document->links[i];
        report_damping(w, i);
        if (link->dyn.elastic) api_xml_joint_not_held(w, i, "elastic");
        if (link->dyn.friction.load != 0) api_xml_joint_not_held(w, i, "friction/load");
        if (is_more_than_one_number(&link->dyn.friction)) api_xml_joint_not_held(w, i, "friction/coulomb");
        if (link->limits.has_effort_rate) api_xml_joint_not_held(w, i, "limits/effort_rate");
        if (link->limits.has_effort_speed) api_xml_joint_not_held(w, i, "limits/effort_speed");
        if (!link->dyn.mimic && (link->dyn.ratio != 1 || link->dyn.offset != 0)) api_xml_joint_not_held(w, i, "screws");
    }
    for (size_t i = 0; i < w->document->n_motors; i++) {
        const char *name = w->document->motors[i].joint;
        char        where[40];
        snprintf(where, sizeof where, "/motors/%zu", i);
        api_xml_not_held(w, where, "the rotor of the motor of joint \"%.*s\" is not part of the file",
                         api_text_shown(name), name);
    }
    for (size_t i = 0; i < w->document->n_transmissions; i++) {
        const char *name = w->document->transmissions[i].joint[0];
        char        where[40];
        snprintf(where, sizeof where, "/transmissions/%zu", i);
        api_xml_not_held(w, where,
                         "the coupled transmission of joint \"%.*s\" is not part of the file: its motors have neither "
                         "inertia nor friction there",
                         api_text_shown(name), name);
    }
}

void api_xml_report_free_forces(api_xml_writer *w, bool damping_is_held)
{
    const api_document *d = w->document;
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *dyn = &d->links[i].dyn;
        if (!dyn_joint_has_quaternion(dyn->joint)) continue;
        if (dyn->rotor_inertia != 0) api_xml_joint_not_held(w, i, "rotor_inertia");
        if (dyn->spring.stiffness != 0 || (dyn->spring.damping != 0 && !damping_is_held))
            api_xml_joint_not_held(w, i, "spring");
    }
    if (d->floating && d->base_rotor_inertia != 0)
        api_xml_not_held(w, "/base/rotor_inertia", "\"rotor_inertia\" of the base is not part of the file");
    if (d->floating && d->base_damping != 0)
        api_xml_not_held(w, "/base/spring", "\"spring\" of the base is not part of the file");
}

void api_xml_report_polynomials(api_xml_writer *w)
{
    for (size_t i = 0; i < w->document->n_links; i++) {
        const dyn_spring *s = &w->document->links[i].dyn.spring;
        if (s->stiffness2 != 0 || s->stiffness3 != 0) api_xml_joint_not_held(w, i, "spring/stiffness_polynomial");
        if (s->damping2 != 0 || s->damping3 != 0) api_xml_joint_not_held(w, i, "spring/damping_polynomial");
    }
}

void api_xml_report_compensation(api_xml_writer *w, double written)
{
    const api_document *d = w->document;
    for (size_t i = 0; i < d->n_links; i++) {
        const double share = d->links[i].dyn.gravity_compensation;
        char         where[64];
        snprintf(where, sizeof where, "/links/%zu/gravity_compensation", i);
        if (share != 0 && share != written)
            api_xml_not_held(w, where, "\"gravity_compensation\" %.9g of link \"%.*s\" is not part of the file", share,
                             api_text_shown(d->links[i].name), d->links[i].name);
    }
    if (d->floating && d->base_gravity_compensation != 0 && d->base_gravity_compensation != written)
        api_xml_not_held(w, "/base/gravity_compensation",
                         "\"gravity_compensation\" of the base is not part of the file");
}

/* --- names -------------------------------------------------------------------------------------------------------- */

const char *api_xml_link_of(const api_document *document, int link)
{
    return link == DYN_WORLD ? document->base : document->links[link].name;
}

const char *api_xml_parent_of(const api_document *document, const api_document_link *link)
{
    return api_xml_link_of(document, link->parent_index);
}

const char *api_xml_leader_of(const api_document *document, const api_document_link *link)
{
    return document->links[link->leader].joint;
}
