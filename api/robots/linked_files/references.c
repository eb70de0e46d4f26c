/* references.c - lists the other files that an XML file of a robot names; see robot_files.h. */
#include "api/robot_files.h"
#include "api/robots/xml/xml_reader.h"
#include "api/robots/xml/xml_text.h"
#include <string.h>

typedef struct visitor {
    api_reference_visit *visit;
    void                *arg;
} visitor;

/* Calls the visitor with the value of an attribute, if the element has it. */
static bool pass_attribute(const visitor *v, const xmlNode *element, const char *attribute, api_reference_kind kind)
{
    xmlChar *name = xmlGetNoNsProp(element, (const xmlChar *)attribute);
    bool     more = !name || *name == '\0' || v->visit(v->arg, kind, (const char *)name);
    xmlFree(name);
    return more;
}

/* Calls the visitor with the content of the child <uri>, without white space around it. */
static bool pass_uri(const visitor *v, const xmlNode *element, api_reference_kind kind)
{
    const xmlNode *uri  = api_xml_child(element, "uri");
    xmlChar       *text = uri ? xmlNodeGetContent(uri) : NULL;
    char          *name = (char *)text;
    if (!name) return true;
    name += strspn(name, " \t\r\n");
    for (size_t n = strlen(name); n > 0 && strchr(" \t\r\n", name[n - 1]);)
        name[--n] = '\0';
    bool more = *name == '\0' || v->visit(v->arg, kind, name);
    xmlFree(text);
    return more;
}

static bool visit_element(const visitor *v, const xmlNode *element)
{
    char        text[API_XML_QUALIFIED];
    const char *qualified = api_xml_qualified_name(element, text);
    if (strncmp(qualified, "xacro:", 6) == 0) return v->visit(v->arg, API_REFERENCE_XACRO, qualified);
    if (api_xml_is(element, "include"))
        return pass_attribute(v, element, "file", API_REFERENCE_MJCF) && pass_uri(v, element, API_REFERENCE_SDF);
    if (api_xml_is(element, "model")) return pass_attribute(v, element, "file", API_REFERENCE_MJCF);
    if (api_xml_is(element, "compiler"))
        return pass_attribute(v, element, "assetdir", API_REFERENCE_FOLDER) &&
               pass_attribute(v, element, "meshdir", API_REFERENCE_FOLDER);
    if (api_xml_is(element, "mesh"))
        return pass_attribute(v, element, "file", API_REFERENCE_MESH) &&
               pass_attribute(v, element, "filename", API_REFERENCE_MESH) && pass_uri(v, element, API_REFERENCE_MESH);
    return true;
}

/* Visits the element and its descendants; the nesting limit of the parser bounds the recursion. */
static bool visit_tree(const visitor *v, const xmlNode *element)
{
    if (!visit_element(v, element)) return false;
    for (const xmlNode *child = element->children; child; child = child->next)
        if (child->type == XML_ELEMENT_NODE && !visit_tree(v, child)) return false;
    return true;
}

bool api_xml_references(const char *text, size_t length, api_reference_visit *visit, void *arg)
{
    api_problem    problem;
    api_xml_source source = {.text = text, .length = length, .nesting = API_XML_NESTING};
    visitor        v      = {visit, arg};
    if (!api_xml_begins(text, length)) return true;
    api_problem_clear(&problem);
    xmlDoc *file = api_xml_parse(&source, &problem);
    bool    more = !file || visit_tree(&v, xmlDocGetRootElement(file));
    xmlFreeDoc(file);
    return more;
}
