/* xml_findings.c - count and report what a reader does not use (xml_findings.h). */
#include "xml_findings.h"
#include <stdio.h>
#include <string.h>

static bool is_same_kind(const api_xml_finding *a, const api_xml_finding *b)
{
    return a->words == b->words && a->attribute == b->attribute && a->prefix == b->prefix &&
           strcmp(a->name, b->name) == 0 && strcmp((const char *)a->in->name, (const char *)b->in->name) == 0;
}

void api_xml_count_finding(api_xml_findings *findings, const api_xml_finding *found)
{
    size_t i = 0;
    while (i < findings->n && !is_same_kind(&findings->kind[i], found))
        i++;
    if (i == API_XML_FINDINGS) {
        findings->not_listed++;
        return;
    }
    if (i == findings->n) findings->kind[findings->n++] = *found;
    findings->kind[i].times++;
}

static bool report(api_xml_reader *reader, const api_xml_finding *k)
{
    xmlChar    *in       = xmlGetNoNsProp(k->in, (const xmlChar *)"name");
    const char *name     = in ? (const char *)in : "";
    char        more[60] = "";
    if (k->times > 1) snprintf(more, sizeof more, "; %zu of this kind", k->times);
    bool ok = api_xml_report(
        reader, k->in, k->words->severity, k->words->code, "%s%.20s%s%.*s%s in <%.40s>%s%.*s%s %s%s%s%s",
        k->attribute ? "" : "<", k->prefix ? k->prefix : "", k->prefix ? ":" : "", api_text_shown(k->name), k->name,
        k->attribute ? "" : ">", (const char *)k->in->name, in ? " \"" : "", api_text_shown(name), name, in ? "\"" : "",
        k->words->text, k->effect ? ": " : "", k->effect ? k->effect : "", more);
    xmlFree(in);
    return ok;
}

bool api_xml_report_findings(api_xml_reader *reader, const api_xml_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        if (!report(reader, &findings->kind[i])) return false;
    return findings->not_listed == 0 ||
           api_xml_report(reader, reader->root, "warning", "unknown",
                          "%zu elements and attributes of further kinds are not used", findings->not_listed);
}
