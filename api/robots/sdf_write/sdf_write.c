/* sdf_write.c - write a document as an SDF file, and report what SDF cannot hold.
 *
 * The file has version 1.9, or 1.11 if a joint mimics another, and names the frame of each pose. A file of one model
 * holds a robot with the gravity that readers assume, a world with one model any other. A link whose frame is not that
 * of its joint needs no further link. */
#include "sdf_write.h"
#include "api/robots/document/inertia.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- names -------------------------------------------------------------------------------------------------------- */

static bool is_reserved_name(const char *name)
{
    size_t n = strlen(name);
    return strcmp(name, "world") == 0 || (n >= 4 && memcmp(name, "__", 2) == 0 && memcmp(name + n - 2, "__", 2) == 0);
}

/* Replaces by '_' each "::", the separator of scoped names, and each blank that XML readers drop: at both ends, and
 * after another blank. */
static void replace_reserved(char *name)
{
    size_t n = strlen(name);
    for (char *colons = strstr(name, "::"); colons; colons = strstr(colons, "::"))
        memcpy(colons, "__", 2);
    for (size_t i = 0; i < n; i++)
        if (name[i] == ' ' && (i == 0 || i == n - 1 || name[i - 1] == ' ')) name[i] = '_';
}

static const char *without_reserved(api_sdf_writer *s, const char *name)
{
    char *copy = api_arena_take(s->w.reader->arena, strlen(name) + 1, 1);
    if (!copy) {
        s->w.failed = true;
        api_reader_no_memory(s->w.reader);
        return name;
    }
    strcpy(copy, name);
    replace_reserved(copy);
    return copy;
}

const char *api_sdf_take_name(api_sdf_writer *s, const char *name, const char *suffix)
{
    const char *chosen = without_reserved(s, name);
    while (!s->w.failed && (is_reserved_name(chosen) || json_object_get(s->taken, chosen)))
        chosen = api_xml_join(&s->w, chosen, suffix);
    if (s->w.failed || json_object_set_new(s->taken, chosen, json_true()) == 0) return chosen;
    s->w.failed = true;
    api_reader_no_memory(s->w.reader);
    return chosen;
}

const char *api_sdf_take_reported_name(api_sdf_writer *s, const char *kind, const char *where, const char *name)
{
    const char *chosen = api_sdf_take_name(s, name, kind);
    if (strcmp(chosen, name) != 0)
        api_xml_not_held(&s->w, where,
                         "%s \"%.*s\" is named \"%.*s\": in SDF \"world\", \"__...__\" and \"::\" are reserved, blanks "
                         "are single and within a name, and links, joints and frames share one set of names",
                         kind, api_text_shown(name), name, api_text_shown(chosen), chosen);
    return chosen;
}

/* True if a frame is fixed to the base link. */
static bool has_frame_of_base(const api_document *d)
{
    for (size_t i = 0; i < d->n_frames; i++)
        if (d->frames[i].link == DYN_WORLD) return true;
    return false;
}

/* A fixed base called "world" is the world of SDF, unless a frame needs it as a link. */
static void take_base_name(api_sdf_writer *s)
{
    const api_document *d = s->w.document;
    if (d->floating || strcmp(d->base, "world") != 0)
        s->base = api_sdf_take_reported_name(s, "link", "/base", d->base);
    else
        s->base = has_frame_of_base(d) ? api_sdf_take_name(s, "world", "link") : "world";
}

static void take_names(api_sdf_writer *s)
{
    const api_document *d = s->w.document;
    take_base_name(s);
    for (size_t i = 0; i < d->n_links; i++)
        s->link[i] = api_sdf_take_reported_name(s, "link", "/links", d->links[i].name);
    for (size_t i = 0; i < d->n_links; i++)
        if (!api_sdf_is_free(d, &d->links[i]))
            s->joint[i] = api_sdf_take_reported_name(s, "joint", "/links", api_sdf_last_part_name(s, &d->links[i]));
    for (size_t i = 0; i < d->n_listed; i++)
        s->frame[i] = api_sdf_take_reported_name(s, "frame", "/frames", d->frames[i].name);
}

const char *api_sdf_link_name(const api_sdf_writer *s, int link)
{
    return link == DYN_WORLD ? s->base : s->link[link];
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

void api_sdf_put(api_sdf_writer *s, xmlNode *parent, const char *name, const char *text)
{
    api_xml_put_content(&s->w, api_xml_put(&s->w, parent, name), text);
}

void api_sdf_put_number(api_sdf_writer *s, xmlNode *parent, const char *name, double value)
{
    api_xml_put_content_number(&s->w, api_xml_put(&s->w, parent, name), value);
}

/* Appends the numbers of a pose to <pose>. */
static void put_pose_figures(api_sdf_writer *s, xmlNode *pose, const dyn_pose *X)
{
    double v[6];
    memcpy(v, X->p, sizeof X->p);
    dyn_rpy_of((const double(*)[3])X->R, v + 3);
    api_xml_put_content_numbers(&s->w, pose, v, 6);
}

void api_sdf_put_pose(api_sdf_writer *s, xmlNode *parent, const char *relative_to, const dyn_pose *X)
{
    xmlNode *pose = api_xml_put(&s->w, parent, "pose");
    api_xml_put_text(&s->w, pose, "relative_to", strcmp(relative_to, "world") == 0 ? "__model__" : relative_to);
    put_pose_figures(s, pose, X);
}

void api_sdf_put_own_pose(api_sdf_writer *s, xmlNode *parent, const dyn_pose *X)
{
    put_pose_figures(s, api_xml_put(&s->w, parent, "pose"), X);
}

static void put_tensor_entries(api_sdf_writer *s, xmlNode *inertial, const double T[6])
{
    static const char *const entries[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    xmlNode                 *inertia    = api_xml_put(&s->w, inertial, "inertia");
    for (int i = 0; i < 6; i++)
        api_sdf_put_number(s, inertia, entries[i], T[i]);
}

/* Writes a plate by its principal moments. libsdformat would compute them from the tensor, and compares them almost
 * without a tolerance. */
static void put_stated_inertia(api_sdf_writer *s, xmlNode *link, const dyn_inertia *inertia)
{
    xmlNode *inertial = api_xml_put(&s->w, link, "inertial");
    dyn_pose X        = dyn_pose_translation(inertia->com[0], inertia->com[1], inertia->com[2]);
    double   T[6]     = {0}, I[3];
    memcpy(T, inertia->about_com, sizeof T);
    if (api_inertia_is_plate(inertia)) {
        api_tensor_principal(inertia->about_com, I, X.R);
        api_inertia_round_moments(I);
        memcpy(T, (double[6]){I[0], 0, 0, I[1], 0, I[2]}, sizeof T);
    }
    put_pose_figures(s, api_xml_put(&s->w, inertial, "pose"), &X);
    api_sdf_put_number(s, inertial, "mass", inertia->mass);
    put_tensor_entries(s, inertial, T);
}

xmlNode *api_sdf_put_link(api_sdf_writer *s, const char *name, const char *relative_to, const dyn_pose *X,
                          const dyn_inertia *inertia)
{
    static const dyn_inertia none;
    xmlNode                 *link = api_xml_put(&s->w, s->model, "link");
    api_xml_put_text(&s->w, link, "name", name);
    api_sdf_put_pose(s, link, relative_to, X);
    put_stated_inertia(s, link, inertia ? inertia : &none);
    if (inertia && api_inertia_is_impossible(inertia))
        api_xml_not_held(&s->w, "/links",
                         "the inertia tensor of link \"%.*s\" is of a kind that libsdformat refuses: principal moments "
                         "are not negative, and none exceeds the sum of the others; --bound mends it",
                         api_text_shown(name), name);
    return link;
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* Writes the flags and shapes of a link; gravity does not act on a link whose weight is compensated. */
static void put_whole_link(api_sdf_writer *s, xmlNode *link, double share, const api_document_visuals *visuals)
{
    if (share == 1) api_sdf_put(s, link, "gravity", "false");
    api_sdf_put_visuals(s, link, visuals);
}

/* Appends the base link; a fixed one gets a joint to the world. */
static void put_base_link(api_sdf_writer *s)
{
    const api_document *d    = s->w.document;
    dyn_pose            here = dyn_pose_identity();
    if (strcmp(s->base, "world") == 0) {
        s->w.shapes_left += d->base_visuals.n;
        return;
    }
    put_whole_link(s, api_sdf_put_link(s, s->base, "world", &here, &d->base_inertia), d->base_gravity_compensation,
                   &d->base_visuals);
    if (d->floating) return;
    api_sdf_part hold = {
        .name = api_sdf_take_name(s, api_xml_join(&s->w, s->base, "fixed"), "joint"), .parent = "world", .X = here};
    hold.child = s->base;
    api_sdf_put_part(s, &hold, "fixed");
}

/* Pose of a link in its joint, or of a link that moves freely in the world. */
static dyn_pose link_pose(const api_document *document, const api_document_link *link)
{
    const double *h = link->home;
    if (!api_sdf_is_free(document, link)) return link->dyn.after;
    if (!link->has_home) return dyn_pose_identity();
    dyn_pose X = dyn_pose_wxyz((double[4]){h[6], h[3], h[4], h[5]});
    memcpy(X.p, h, sizeof X.p);
    return X;
}

/* Reports the name of the joint of a free link if it is lost: readers name this joint after the link. */
static void report_free_joint(api_sdf_writer *s, size_t i)
{
    const api_document_link *link = &s->w.document->links[i];
    if (strcmp(link->joint, api_xml_join(&s->w, link->name, "free")) != 0) api_xml_joint_not_held(&s->w, i, "name");
}

static void put_link_with_joint(api_sdf_writer *s, size_t i)
{
    const api_document      *d    = s->w.document;
    const api_document_link *link = &d->links[i];
    bool                     free = api_sdf_is_free(d, link);
    dyn_pose                 X    = link_pose(d, link);
    put_whole_link(s, api_sdf_put_link(s, s->link[i], free ? "world" : s->joint[i], &X, &link->dyn.inertia),
                   link->dyn.gravity_compensation, &link->visuals);
    if (free)
        report_free_joint(s, i);
    else
        api_sdf_put_joint(s, i);
}

static void put_named_frames(api_sdf_writer *s)
{
    const api_document *d = s->w.document;
    for (size_t i = 0; i < d->n_listed; i++) {
        const char *link  = api_sdf_link_name(s, d->frames[i].link);
        xmlNode    *frame = api_xml_put(&s->w, s->model, "frame");
        api_xml_put_text(&s->w, frame, "name", s->frame[i]);
        api_xml_put_text(&s->w, frame, "attached_to", link);
        api_sdf_put_pose(s, frame, link, &d->frames[i].X_lf);
    }
}

/* Appends <model>, within a world if readers would not assume the robot's gravity. */
static void put_world_and_model(api_sdf_writer *s, xmlNode *sdf, const char *name)
{
    const api_document *d  = s->w.document;
    xmlNode            *in = sdf;
    if (d->gravity[0] != 0 || d->gravity[1] != 0 || d->gravity[2] != -9.81) {
        in = api_xml_put(&s->w, sdf, "world");
        api_xml_put_text(&s->w, in, "name", "default");
        api_xml_put_content_numbers(&s->w, api_xml_put(&s->w, in, "gravity"), d->gravity, 3);
    }
    s->model = api_xml_put(&s->w, in, "model");
    api_xml_put_text(&s->w, s->model, "name", strcmp(name, "world") == 0 ? "world.model" : name);
    const char *canonical = strcmp(s->base, "world") != 0 ? s->base : d->n_links > 0 ? s->link[d->order[0]] : NULL;
    if (canonical) api_xml_put_text(&s->w, s->model, "canonical_link", canonical);
}

static bool has_mimics(const api_document *d)
{
    for (size_t i = 0; i < d->n_links; i++)
        if (d->links[i].dyn.mimic) return true;
    return false;
}

static bool has_rotors(const api_document *d)
{
    for (size_t i = 0; i < d->n_links; i++)
        if (d->links[i].dyn.rotor_inertia != 0) return true;
    return false;
}

static void put_file(api_sdf_writer *s, xmlNode *sdf, const char *name)
{
    const api_document *d = s->w.document;
    s->newer              = has_mimics(d);
    api_xml_put_text(&s->w, sdf, "version", s->newer ? "1.11" : "1.9");
    if (has_rotors(d)) api_xml_put_text(&s->w, sdf, "xmlns:drake", "http://drake.mit.edu");
    take_names(s);
    put_world_and_model(s, sdf, name);
    put_base_link(s);
    for (size_t k = 0; k < d->n_links; k++)
        put_link_with_joint(s, (size_t)d->order[k]);
    api_sdf_put_loops(s);
    put_named_frames(s);
    api_xml_report_forces(&s->w);
    api_xml_report_free_forces(&s->w, false);
    api_xml_report_polynomials(&s->w);
    api_xml_report_compensation(&s->w, 1);
    api_xml_report_configurations(&s->w);
}

char *api_sdf_write(const api_document *document, const api_model_heading *heading, api_reader *reader, size_t *length)
{
    api_sdf_writer s   = {0};
    xmlNode       *sdf = api_xml_writer_open(&s.w, reader, document, "sdf");
    s.link             = api_arena_take(reader->arena, document->n_links, sizeof *s.link);
    s.joint            = api_arena_take(reader->arena, document->n_links, sizeof *s.joint);
    s.frame            = api_arena_take(reader->arena, document->n_frames, sizeof *s.frame);
    s.taken            = json_object();
    if (s.link && s.joint && s.frame && s.taken)
        put_file(&s, sdf, heading->name);
    else
        s.w.failed = true;
    api_xml_report_shapes(&s.w, "the base is the world, which has no shapes");
    json_decref(s.taken);
    return api_xml_writer_finish(&s.w, length);
}
