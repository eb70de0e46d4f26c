/* xml_model.c - see xml_model.h. */
#include "xml_model.h"
#include "api/robots/report_order.h"

bool api_xml_reader_open(api_xml_reader *reader, const xmlDoc *file, const api_model_source *source, api_arena *arena,
                         api_problem *problem)
{
    *reader = (api_xml_reader){.base      = {.arena = arena, .problem = problem, .report = json_array()},
                               .max_links = source->max_links,
                               .root      = xmlDocGetRootElement(file)};
    return reader->base.report || api_reader_no_memory(&reader->base);
}

void api_xml_reader_close(api_xml_reader *reader)
{
    json_decref(reader->base.report);
}

/* Joins the report about the file and the report about the document that was made from it. */
static bool join_reports(api_xml_reader *reader, api_model *model)
{
    if (json_array_extend(reader->base.report, model->report) || !api_report_order(reader->base.report))
        return api_reader_no_memory(&reader->base);
    json_decref(model->report);
    model->report = json_incref(reader->base.report);
    return true;
}

api_model *api_xml_make_model(api_xml_reader *reader, const json_t *document, const char *name,
                              api_xml_element_at *element_at, const void *arg)
{
    api_problem found;
    api_problem_clear(&found);
    api_model *model = api_model_from_document(document, name, reader->max_links, &found);
    if (model && join_reports(reader, model)) return model;
    api_model_release(model);
    if (model) return NULL;
    const xmlNode *element = found.has_pointer ? element_at(arg, found.pointer) : NULL;
    if (element)
        api_xml_fail(reader, element, found.code, "%s", found.detail);
    else
        api_fail(reader->base.problem, found.code, NULL, "%s", found.detail);
    return NULL;
}
