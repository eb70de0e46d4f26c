/* document.c - read the top level of a model document: name, base, gravity, links or screws, frames. */
#include "document.h"
#include <string.h>

static bool read_name(const api_entry *root, const char *name)
{
    const char *stated = name;
    if (!api_entry_text(root, "name", API_OPTIONAL, &stated)) return false;
    if (strcmp(stated, name) != 0 &&
        !api_entry_report(root, "name", "info", "replaced", "the model's name is \"%s\" after its path, not \"%.*s\"",
                          name, api_text_shown(stated), stated))
        return false;
    return api_entry_set_canonical(root, "name", json_string(name));
}

static bool read_texts(const api_entry *root, api_document *document)
{
    const char *source, *schema; /* `schema` tells an editor how to check the document */
    return api_entry_text(root, "description", API_OPTIONAL, &document->description) &&
           api_entry_text(root, "source", API_OPTIONAL, &source) &&
           api_entry_text(root, "$schema", API_OPTIONAL, &schema);
}

static bool read_gravity(const api_entry *root, double gravity[3])
{
    gravity[2] = -9.81;
    if (!api_entry_has(root, "gravity")) {
        json_t *twin = json_pack("[fff]", gravity[0], gravity[1], gravity[2]);
        return api_entry_set_canonical(root, "gravity", twin) &&
               api_entry_report(root, "gravity", "info", "assumed", "no gravity given: [0,0,-9.81] m/s^2");
    }
    return api_entry_vector(root, "gravity", API_REQUIRED, gravity, 3) &&
           (!(dyn_norm(gravity) > API_SUSPICIOUS_GRAVITY) ||
            api_entry_report(root, "gravity", "warning", "suspicious",
                             "gravity of more than %g m/s^2: lengths are in metres", API_SUSPICIOUS_GRAVITY));
}

static bool read_acceptance(const api_entry *root, api_document *document)
{
    if (!api_entry_flag(root, "accept_indefinite", &document->accepts_indefinite)) return false;
    return !document->accepts_indefinite || !api_entry_has(root, "screws") ||
           api_entry_fail(root, "accept_indefinite", API_BAD_VALUE,
                          "a model that is given by \"screws\" has definite inertias");
}

enum { WARNINGS = 1000, WARNING_TEXT = 510 /* bytes of a text in a report */ };

/* Reads a text of a warning: printable, and not long. */
static bool read_warning_text(const api_entry *entry, const char *key, const char **text)
{
    if (!api_entry_text(entry, key, API_REQUIRED, text)) return false;
    size_t length = strlen(*text), printable = 0;
    while ((unsigned char)(*text)[printable] >= ' ' && (*text)[printable] != 0x7f)
        printable++;
    return (length > 0 && length <= WARNING_TEXT && printable == length) ||
           api_entry_fail(entry, key, API_BAD_VALUE, "expected 1 to %d bytes without control characters", WARNING_TEXT);
}

/* Reads "warnings", which `torqued convert` writes: those about the file that the document was made from. They join
 * the report, and are not part of the canonical document: a model with and without them is the same. */
static bool read_warnings(const api_entry *root)
{
    static const char *const fields[] = {"code", "where", "text", NULL};
    size_t                   n;
    if (!api_entry_list(root, "warnings", API_OPTIONAL, &n)) return false;
    if (n > WARNINGS) return api_entry_fail(root, "warnings", API_BAD_VALUE, "expected at most %d warnings", WARNINGS);
    for (size_t i = 0; i < n; i++) {
        api_entry   entry;
        const char *code, *where, *text;
        if (!api_entry_item(&entry, root, "warnings", i, fields) || !read_warning_text(&entry, "code", &code) ||
            !read_warning_text(&entry, "where", &where) || !read_warning_text(&entry, "text", &text))
            return false;
        if (*where == '/')
            return api_entry_fail(&entry, "where", API_BAD_VALUE,
                                  "expected a place in the file that the document was made from, as \"line 3\"");
        if (!api_reader_report(root->reader, where, "warning", code, "%s", text)) return false;
    }
    json_object_del(root->canonical, "warnings");
    return true;
}

/* Reads rotor inertia, damper and compensation of gravity of a floating base. A fixed one drops and reports them. */
static bool read_base_forces(const api_entry *base, api_document *document)
{
    static const char *const moving[] = {"rotor_inertia", "spring", "gravity_compensation"};
    dyn_spring               damper   = {0};
    if (!api_entry_not_negative(base, "rotor_inertia", API_OPTIONAL, &document->base_rotor_inertia) ||
        !api_document_read_spring(base, DYN_FLOATING, &damper) ||
        !api_entry_number(base, "gravity_compensation", API_OPTIONAL, &document->base_gravity_compensation))
        return false;
    document->base_damping = damper.damping;
    for (size_t i = 0; !document->floating && i < sizeof moving / sizeof *moving; i++)
        if (api_entry_has(base, moving[i]) &&
            !api_entry_report(base, moving[i], "info", "dropped", "a fixed base does not move: \"%s\" has no effect",
                              moving[i]))
            return false;
    return true;
}

/* The canonical document always states type and link of the base. */
static bool read_base(const api_entry *root, api_document *document)
{
    static const char *const fields[] = {
        "type", "link", "inertial", "visual", "rotor_inertia", "spring", "gravity_compensation", NULL};
    const char *type = "fixed";
    api_entry   base;
    document->base = "base";
    if (!api_entry_has(root, "base"))
        return api_entry_set_canonical(root, "base", json_pack("{ssss}", "type", type, "link", document->base));
    if (!api_entry_open(&base, root, "base", fields) || !api_entry_text(&base, "type", API_OPTIONAL, &type))
        return false;
    document->floating = strcmp(type, "floating") == 0;
    if (!document->floating && strcmp(type, "fixed") != 0)
        return api_entry_fail(&base, "type", API_BAD_VALUE, "a base is \"fixed\" or \"floating\", given \"%.*s\"",
                              api_text_shown(type), type);
    if (!api_entry_set_canonical(&base, "type", json_string(type)) ||
        !api_entry_name(&base, "link", API_OPTIONAL, &document->base) ||
        !api_entry_set_canonical(&base, "link", json_string(document->base)))
        return false;
    return read_base_forces(&base, document) &&
           api_document_read_inertial(&base, document->base, &document->base_inertia, !document->accepts_indefinite) &&
           api_document_read_visuals(&base, &document->base_visuals);
}

static bool read_link(const api_entry *root, size_t index, api_document_link *link)
{
    static const char *const fields[] = {"name", "parent", "joint", "inertial", "gravity_compensation", "visual", NULL};
    api_entry                entry;
    return api_entry_item(&entry, root, "links", index, fields) &&
           api_entry_name(&entry, "name", API_REQUIRED, &link->name) &&
           api_entry_name(&entry, "parent", API_REQUIRED, &link->parent) && api_document_read_joint(&entry, link) &&
           api_document_read_inertial(&entry, link->name, &link->dyn.inertia, false) &&
           api_entry_number(&entry, "gravity_compensation", API_OPTIONAL, &link->dyn.gravity_compensation) &&
           api_document_read_visuals(&entry, &link->visuals);
}

static bool read_links(const api_entry *root, api_document *document, size_t max_links)
{
    size_t n;
    if (!api_entry_list(root, "links", API_REQUIRED, &n)) return false;
    if (n > max_links)
        return api_entry_fail(root, "links", API_MODEL_TOO_LARGE, "the model has %zu links, the limit is %zu", n,
                              max_links);
    document->links = api_arena_take(root->reader->arena, n, sizeof *document->links);
    if (!document->links) return api_reader_no_memory(root->reader);
    for (document->n_links = 0; document->n_links < n; document->n_links++)
        if (!read_link(root, document->n_links, &document->links[document->n_links])) return false;
    return true;
}

static bool read_frame(const api_entry *root, size_t index, api_document_frame *frame)
{
    static const char *const fields[] = {"name", "link", "xyz", "rpy", NULL};
    double                   xyz[3] = {0}, rpy[3] = {0};
    api_entry                entry;
    if (!api_entry_item(&entry, root, "frames", index, fields) ||
        !api_entry_name(&entry, "name", API_REQUIRED, &frame->name) ||
        !api_entry_name(&entry, "link", API_REQUIRED, &frame->link_name) ||
        !api_entry_vector(&entry, "xyz", API_OPTIONAL, xyz, 3) || !api_entry_rpy(&entry, rpy))
        return false;
    frame->X_lf = dyn_pose_rpy(xyz, rpy);
    return true;
}

static bool read_frames(const api_entry *root, api_document *document, size_t max_links)
{
    size_t n;
    if (!api_entry_list(root, "frames", API_OPTIONAL, &n)) return false;
    if (n > max_links)
        return api_entry_fail(root, "frames", API_MODEL_TOO_LARGE, "the model has %zu frames, the limit is %zu", n,
                              max_links);
    document->frames = api_arena_take(root->reader->arena, n + 1, sizeof *document->frames);
    if (!document->frames) return api_reader_no_memory(root->reader);
    for (size_t i = 0; i < n; i++)
        if (!read_frame(root, i, &document->frames[i])) return false;
    if (document->has_tip) document->frames[n] = document->tip;
    document->n_frames = document->n_listed = n + document->has_tip;
    return true;
}

bool api_document_read(api_document *document, api_reader *reader, const json_t *in, const char *name, size_t max_links)
{
    static const char *const fields[] = {
        "name",           "description", "source",        "gravity", "base",  "links",
        "screws",         "motors",      "transmissions", "frames",  "loops", "accept_indefinite",
        "configurations", "locked",      "warnings",      "$schema", NULL};
    api_entry root;
    *document = (api_document){.canonical = json_object()};
    if (!document->canonical) return api_reader_no_memory(reader);
    if (!api_entry_root(&root, reader, in, document->canonical, fields)) return false;
    if (api_entry_has(&root, "links") && api_entry_has(&root, "screws"))
        return api_entry_fail(&root, "screws", API_BAD_VALUE,
                              "a model is given by \"links\" or by \"screws\", not both");

    bool screws = api_entry_has(&root, "screws");
    return read_name(&root, name) && read_texts(&root, document) && read_warnings(&root) &&
           read_gravity(&root, document->gravity) && read_acceptance(&root, document) && read_base(&root, document) &&
           (screws ? api_document_read_screws(&root, document, max_links) : read_links(&root, document, max_links)) &&
           api_document_read_motors(&root, document, max_links) && api_document_read_transmissions(&root, document) &&
           read_frames(&root, document, max_links) && api_document_read_loops(&root, document) &&
           api_document_read_configurations(&root, document) && api_document_read_locked(&root, document) &&
           api_document_build_tree(document, reader) && api_document_review(document, reader);
}
