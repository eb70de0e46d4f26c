/* export.c - handler that writes a model as the text of a URDF, MJCF or SDF file, with a report of what the format does
 * not hold. */
#include "api/service/http/call.h"
#include "api/robots/write_model.h"
#include <stdlib.h>

enum { EXPORT_MAX = 64 * 1024 * 1024 }; /* largest body that this handler produces, bytes */

static void emit_entry(void *arg, const char *severity, const char *code, const char *where, const char *text)
{
    api_emit   *e          = arg;
    const char *members[4] = {severity, code, where, text};
    const char *names[4]   = {"severity", "code", "where", "text"};
    api_emit_object(e);
    for (size_t i = 0; i < 4; i++) {
        api_emit_key(e, names[i]);
        api_emit_string(e, members[i]);
    }
    api_emit_end(e);
}

/* Emits {"format", "report", "text"}; the report is written first, while the text is made. */
static bool emit_export(api_call *call, api_emit *e, const api_model_form *form, api_problem *problem)
{
    size_t            length = 0;
    api_report_target report = {.entry = emit_entry, .arg = e};
    api_emit_object(e);
    api_emit_key(e, "format");
    api_emit_string(e, form->format);
    api_emit_key(e, "report");
    api_emit_array(e);
    char *text = api_write_model_file(call->api, call->model, form, &report, &length, problem);
    api_emit_end(e);
    if (!text) return false;
    api_emit_key(e, "text");
    api_emit_string(e, text);
    api_emit_end(e);
    free(text);
    return true;
}

bool api_get_export(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const api_model_format *format = api_model_format_named(call->route.capture[1]);
    api_model_form          form   = {.format = call->route.capture[1]};
    api_buffer              b;
    api_emit                e;
    char                    tag[API_TAG_MAX];
    if (!format || !format->write)
        return api_fail(problem, API_NO_SUCH_PATH, NULL, "models are exported as urdf, mjcf or sdf, not as \"%.40s\"",
                        form.format);
    size_t bytes = api_write_model_estimate(call->model);
    if (!api_claim(&call->share, bytes, problem)) return false;
    api_emit_init(&e, call->media, &b);
    api_buffer_init(&b, EXPORT_MAX);
    bool done = emit_export(call, &e, &form, problem);
    api_unclaim(&call->share, bytes);
    if (!done) {
        api_buffer_free(&b);
        return false;
    }
    api_tag_write(call->model->revision, call->media, tag);
    api_reply_header(call, "ETag", tag);
    api_reply_header(call, "Model-Revision", call->model->revision);
    return api_reply_emitted(call, 200, &e, problem);
}
