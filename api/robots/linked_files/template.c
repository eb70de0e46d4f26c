/* template.c - recognises templates of xacro; see template.h. */
#include "template.h"
#include <string.h>

#define EXPAND "expand xacro macros first: xacro FILE > robot.urdf; torqued put FILE does so where xacro is installed"

static bool fail_element(api_xml_reader *reader, const xmlNode *element, const char *name)
{
    return api_xml_fail(reader, element, API_BAD_MODEL, "<%.60s>: this is a template; " EXPAND, name);
}

static bool is_definition(const char *name)
{
    static const char *const names[] = {"xacro:property", "xacro:arg", "xacro:macro"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* True for an element with names of files, or with the settings of other programs. */
static bool is_aside(const xmlNode *element)
{
    static const char *const names[] = {"mesh",   "texture",      "hfield", "gazebo",
                                        "plugin", "ros2_control", "script", "uri"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (api_xml_is(element, names[i])) return true;
    return false;
}

/* True for ${...} and for $(find ...) and its kin. */
static bool has_expression(const char *text)
{
    static const char *const words[] = {"find ", "arg ", "eval ", "env ", "optenv ", "dirname", "anon ", "cwd"};
    for (const char *dollar = strchr(text, '$'); dollar; dollar = strchr(dollar + 1, '$')) {
        if (dollar[1] == '{' && strchr(dollar, '}')) return true;
        for (size_t i = 0; dollar[1] == '(' && i < sizeof words / sizeof *words; i++)
            if (strncmp(dollar + 2, words[i], strlen(words[i])) == 0) return true;
    }
    return false;
}

/* Finds an expression in the attributes or the text of an element. With `aside` (is_aside) sets *left to the first such
 * element, else returns false with a problem. */
static bool check_text(api_xml_reader *reader, const xmlNode *element, const xmlNode *text, bool aside,
                       const xmlNode **left)
{
    for (; text; text = text->next) {
        if (text->type != XML_TEXT_NODE || !text->content || !has_expression((const char *)text->content)) continue;
        if (!aside)
            return api_xml_fail(reader, element, API_BAD_MODEL, "\"%.*s\" is an expression of a template; " EXPAND,
                                api_text_shown((const char *)text->content), (const char *)text->content);
        if (!*left) *left = element;
    }
    return true;
}

/* Checks an element and its descendants; the nesting limit of the parser bounds the recursion. */
static bool refuse_expressions(api_xml_reader *reader, const xmlNode *element, bool aside, const xmlNode **left)
{
    char        text[API_XML_QUALIFIED];
    const char *name = api_xml_qualified_name(element, text);
    if (strncmp(name, "xacro:", 6) == 0) return is_definition(name) || fail_element(reader, element, name);
    aside = aside || is_aside(element);
    for (const xmlAttr *a = element->properties; a; a = a->next)
        if (!check_text(reader, element, a->children, aside, left)) return false;
    if (!check_text(reader, element, element->children, aside, left)) return false;
    for (const xmlNode *child = element->children; child; child = child->next)
        if (child->type == XML_ELEMENT_NODE && !refuse_expressions(reader, child, aside, left)) return false;
    return true;
}

bool api_xml_refuse_template(api_xml_reader *reader)
{
    const xmlNode *left = NULL, *macro = api_xml_qualified_child(reader->root, "xacro:macro");
    if (macro && !api_xml_child(reader->root, "link") && !api_xml_child(reader->root, "model"))
        return fail_element(reader, macro, "xacro:macro");
    if (!refuse_expressions(reader, reader->root, false, &left)) return false;
    return !left || api_xml_report(reader, left, "warning", "not-held",
                                   "an expression of xacro is left in the file: its template was not expanded");
}
