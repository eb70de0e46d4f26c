/* xml.c - see xml.h. Callbacks stop the parser before it does anything forbidden: at a document type declaration with a
 * subset, where entities would be declared, and at an element that is nested too deeply. */
#include "xml.h"
#include "api/archive/container.h"
#include "api/codec/misread_bodies/other_format.h"
#include "api/codec/utf8.h"
#include "xml_prepare.h"
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_SHIFT     = 40, /* _private of an element: the line in its low bits, the file above them */
    MAX_ATTRIBUTES = 100,
    MAX_NAME_BYTES = 1 << 16 /* bytes of distinct names; libxml2's table of names does not shrink */
};

/* State of a parse, which the parser's context points to as _private. */
typedef struct parse_state {
    api_problem          *problem;
    const api_xml_source *source;
} parse_state;

static void fail_at_cursor(xmlParserCtxt *parser, api_code code, const char *detail)
{
    api_problem *problem = ((parse_state *)parser->_private)->problem;
    if (problem->code != API_NO_PROBLEM) return;
    api_fail(problem, code, NULL, "line %d: %s", parser->input ? parser->input->line : 0, detail);
    if (api_problem_kind_of(code)->status == 400) problem->offset = xmlByteConsumed(parser);
}

/* libxml2 calls this after the name and the external identifier of a document type declaration, before it reads an
 * internal subset. A declaration with neither of the two is accepted, because it declares nothing. No subset is created
 * in any case. */
static void refuse_doctype(void *context, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
    const xmlParserCtxt *parser = context;
    (void)name;
    if (!public_id && !system_id && *parser->input->cur == '>') return;
    fail_at_cursor(context, API_NOT_SUPPORTED,
                   "entities and document type declarations that name or contain a subset are not supported");
    xmlStopParser(context);
}

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                          int n_namespaces, const xmlChar **namespaces, int n_attributes, int n_defaulted,
                          const xmlChar **attributes)
{
    xmlParserCtxt        *parser = context;
    const api_xml_source *source = ((parse_state *)parser->_private)->source;
    char                  detail[80];
    if (parser->nodeNr < (int)source->nesting) {
        xmlSAX2StartElementNs(context, name, prefix, uri, n_namespaces, namespaces, n_attributes, n_defaulted,
                              attributes);
        uintptr_t line = (uintptr_t)parser->input->line;
        if (parser->node) parser->node->_private = (void *)(line | (uintptr_t)source->file << FILE_SHIFT);
        return;
    }
    snprintf(detail, sizeof detail, "elements are nested deeper than %u", source->nesting);
    fail_at_cursor(parser, API_TOO_DEEP, detail);
    xmlStopParser(parser);
}

/* Returns the problem code of a libxml2 error. libxml2 also reports "out of memory" when the names reach their
 * limit. */
static api_code code_of(const xmlParserCtxt *parser, const xmlError *error)
{
    if (error->code != XML_ERR_NO_MEMORY) return API_BAD_XML;
    return xmlDictGetUsage(parser->dict) > MAX_NAME_BYTES ? API_MODEL_TOO_LARGE : API_MEMORY_FULL;
}

/* Keeps the first fatal error; later ones follow from it. Lesser errors, such as an undeclared prefix, are ignored. */
static void note_error(void *context, xmlError *error)
{
    char text[200];
    if (error->level != XML_ERR_FATAL) return;
    api_code    code    = code_of(context, error);
    const char *message = code == API_MODEL_TOO_LARGE ? "there are too many different names"
                          : error->code == XML_ERR_DOCUMENT_END
                              ? "something follows the end of the outermost element: remove it, or an end tag too many"
                          : error->message ? error->message
                                           : "";
    size_t      length  = strcspn(message, "\n");
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), message);
    fail_at_cursor(context, code, text);
}

/* Returns the offset at which an element has too many attributes, or `length`: libxml2 compares each attribute with
 * all others. An element contains no other "<". Text with as many quotes after equals signs would be refused too,
 * but no format of robots has such text. */
static size_t find_too_many_attributes(const char *text, size_t length)
{
    size_t count = 0;
    bool   equal = false; /* the last character other than white space was "=" */
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '<') count = 0;
        if (equal && (c == '"' || c == '\'') && ++count > MAX_ATTRIBUTES) return i;
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') equal = c == '=';
    }
    return length;
}

/* True if the first character after white space begins no element, declaration or comment. */
static bool begins_otherwise(const char *text)
{
    size_t n = strspn(text, " \t\r\n");
    return text[n] != '\0' && text[n] != '<';
}

static bool check_bytes(const char *text, size_t length, api_problem *problem)
{
    if (length > INT_MAX)
        return api_fail(problem, API_BODY_TOO_LARGE, NULL, "an XML text has at most %d bytes", INT_MAX);
    size_t      offset;
    const char *fault = api_container_fault(text, length, &offset);
    if (!fault && begins_otherwise(text) && !api_check_format(API_BODY_XML, text, length, problem)) return false;
    if (fault) {
        api_fail(problem, API_BAD_XML, NULL, "the body %s", fault);
        problem->offset = (long long)offset;
        return false;
    }
    size_t good = api_utf8_prefix(text, length), excess = find_too_many_attributes(text, good);
    if (good == length && excess == length) return true;
    if (excess < good)
        api_fail(problem, API_BAD_XML, NULL, "an element has more than %d attributes", MAX_ATTRIBUTES);
    else
        api_fail(problem, API_BAD_XML, NULL,
                 "byte 0x%02x at offset %zu: the text is not UTF-8 (iconv -f ISO-8859-1 -t UTF-8 converts Latin-1)",
                 (unsigned char)text[good], good);
    problem->offset = (long long)excess;
    return false;
}

/* Creates a parser whose names are in `names`, if given, else in a dictionary of its own. */
static xmlParserCtxt *open_parser(xmlDict *names)
{
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (parser && names) {
        xmlDictFree(parser->dict);
        xmlDictReference(names);
        parser->dict = names;
        /* Names that libxml2 compares by their address. */
        parser->str_xml    = xmlDictLookup(names, BAD_CAST "xml", 3);
        parser->str_xmlns  = xmlDictLookup(names, BAD_CAST "xmlns", 5);
        parser->str_xml_ns = xmlDictLookup(names, XML_XML_NAMESPACE, 36);
    }
    if (parser) xmlDictSetLimit(parser->dict, MAX_NAME_BYTES);
    return parser;
}

/* Parses the text as UTF-8; the encoding that the text declares is ignored. */
static xmlDoc *parse(xmlParserCtxt *parser, const char *text, size_t length)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOBLANKS | XML_PARSE_COMPACT | XML_PARSE_BIG_LINES |
                        XML_PARSE_NOCDATA | XML_PARSE_IGNORE_ENC;
    parser->sax->internalSubset        = refuse_doctype;
    parser->sax->startElementNs        = start_element;
    parser->sax->comment               = NULL;
    parser->sax->processingInstruction = NULL;
    parser->sax->serror                = note_error;
    return xmlCtxtReadMemory(parser, text, (int)length, NULL, NULL, options);
}

/* Replaces the function of libxml2 that prints to standard error. A shortage of memory is noted where it occurs. */
static void keep_silent(void *arg, const char *message, ...)
{
    (void)arg, (void)message;
}

/* Parses a text that api_xml_prepare has made of the source. */
static xmlDoc *parse_prepared(const api_xml_source *source, const char *text, size_t length, api_problem *problem)
{
    if (!check_bytes(text, length, problem)) return NULL;
    xmlSetGenericErrorFunc(NULL, keep_silent); /* the function is set for this thread only */
    xmlParserCtxt *parser = open_parser(source->names);
    if (!parser) {
        xmlResetLastError();
        api_fail(problem, API_MEMORY_FULL, NULL, "no memory to read the XML");
        return NULL;
    }
    parse_state watch = {.problem = problem, .source = source};
    parser->_private  = &watch;
    xmlDoc *document  = parse(parser, text, length);
    bool    good      = document && problem->code == API_NO_PROBLEM && xmlDocGetRootElement(document);
    xmlFreeParserCtxt(parser);
    xmlResetLastError();
    if (good) return document;
    api_fail(problem, API_BAD_XML, NULL, "the text is not an XML document");
    xmlFreeDoc(document);
    return NULL;
}

xmlDoc *api_xml_parse(const api_xml_source *source, api_problem *problem)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t                length;
    pthread_once(&once, xmlInitParser);
    char *text = api_xml_prepare(source->text, source->length, &length);
    if (!text) {
        api_fail(problem, API_MEMORY_FULL, NULL, "no memory to read the XML");
        return NULL;
    }
    xmlDoc *document = parse_prepared(source, text, length, problem);
    free(text);
    return document;
}

unsigned long api_xml_line(const xmlNode *element)
{
    return (unsigned long)((uintptr_t)element->_private & (((uintptr_t)1 << FILE_SHIFT) - 1));
}

unsigned api_xml_file(const xmlNode *element)
{
    return (unsigned)((uintptr_t)element->_private >> FILE_SHIFT);
}
