/* mjcf_write.c - write a document as an MJCF file, and report what MJCF cannot hold.
 *
 * MuJoCo refuses moving bodies without mass. A massless link that only carries one other link becomes a joint of the
 * body of that link. */
#include "mjcf_write.h"
#include <stdio.h>
#include <string.h>

typedef struct mjcf_file {
    api_xml_writer  w;
    xmlNode        *root, *world, *base; /* base: the body of the base link, or the world */
    api_mjcf_bodies bodies;
    xmlNode       **body;  /* [n_links] NULL: not written yet, or a joint of another body */
    int            *chain; /* [n_links] */
    dyn_pose       *J;     /* [n_links] */
} mjcf_file;

/* --- bodies ------------------------------------------------------------------------------------------------------- */

/* Collects the link and the absorbed links that carry it; returns the parent link of the chain, or DYN_WORLD. */
static int collect_chain(mjcf_file *f, int i, size_t *n)
{
    const api_document *d = f->w.document;
    int                 up;
    *n = 0;
    for (up = i; up != DYN_WORLD && (up == i || api_mjcf_is_absorbed(&f->bodies, up)); up = d->links[up].parent_index)
        f->chain[(*n)++] = up;
    for (size_t a = 0; a < *n / 2; a++) { /* the order from the parent to the link */
        int swapped          = f->chain[a];
        f->chain[a]          = f->chain[*n - 1 - a];
        f->chain[*n - 1 - a] = swapped;
    }
    return up;
}

/* True for a floating joint of the fixed base whose coordinates are those of a free joint. */
static bool is_free(const mjcf_file *f, const api_document_link *link)
{
    return link->dyn.joint == DYN_FLOATING && link->parent_index == DYN_WORLD && !f->w.document->floating &&
           dyn_pose_is_identity(&link->dyn.before) && dyn_pose_is_identity(&link->dyn.after);
}

/* Pose of a free body at its home. */
static dyn_pose home_pose(const api_document_link *link)
{
    const double *h = link->home;
    if (!link->has_home) return dyn_pose_identity();
    dyn_pose X = dyn_pose_wxyz((double[4]){h[6], h[3], h[4], h[5]});
    memcpy(X.p, h, sizeof X.p);
    return X;
}

static bool is_taken(const api_document *d, const char *name)
{
    bool taken = strcmp(d->base, name) == 0;
    for (size_t i = 0; i < d->n_links; i++)
        taken = taken || strcmp(d->links[i].name, name) == 0;
    return taken;
}

/* Writes the name of a link. Only MuJoCo's world may be called "world". */
static void put_name(mjcf_file *f, xmlNode *body, const char *name)
{
    const char *other = name;
    if (strcmp(name, "world") == 0) {
        do
            other = api_xml_join(&f->w, other, "link");
        while (!f->w.failed && is_taken(f->w.document, other));
        api_xml_not_held(&f->w, "/links", "link \"world\" is named \"%s\": in MJCF only the world has that name",
                         other);
    }
    api_xml_put_text(&f->w, body, "name", other);
}

static void put_compensation(mjcf_file *f, xmlNode *body, double share)
{
    if (share != 0) api_xml_put_number(&f->w, body, "gravcomp", share);
}

/* MuJoCo applies negative compensation only if some body has a positive one. Adds an empty body with a positive one if
 * the document has none. */
static void help_negative_compensation(mjcf_file *f)
{
    const api_document *d        = f->w.document;
    bool                negative = d->base_gravity_compensation<0, positive = d->base_gravity_compensation> 0;
    for (size_t i = 0; i < d->n_links; i++) {
        negative = negative || d->links[i].dyn.gravity_compensation < 0;
        positive = positive || d->links[i].dyn.gravity_compensation > 0;
    }
    if (!negative || positive) return;
    xmlNode *body = api_xml_put(&f->w, f->world, "body");
    put_name(f, body, api_xml_join(&f->w, d->base, "compensated"));
    put_compensation(f, body, 1);
}

/* MuJoCo refuses bodies with more than six coordinates. */
static void report_coordinates(mjcf_file *f, const api_mjcf_chain *chain, const char *name)
{
    int n = 0;
    for (size_t k = 0; k < chain->n; k++)
        n += api_mjcf_coordinates(&f->w.document->links[chain->links[k]].dyn);
    if (n > API_MJCF_MOST_COORDINATES)
        api_xml_not_held(
            &f->w, "/links",
            "body \"%.*s\" has %d coordinates with those of the links without mass before it: MuJoCo refuses "
            "more than six; --bound mends it",
            api_text_shown(name), name, n);
}

static void put_body(mjcf_file *f, int i)
{
    const api_document      *d     = f->w.document;
    const api_document_link *link  = &d->links[i];
    api_mjcf_chain           chain = {.w = &f->w, .links = f->chain, .J = f->J, .free = is_free(f, link)};
    int                      up    = collect_chain(f, i, &chain.n);
    xmlNode                 *below = chain.free ? f->world : up == DYN_WORLD ? f->base : f->body[up];
    chain.X_pb                     = dyn_pose_identity();
    for (size_t k = 0; k < chain.n; k++) {
        const dyn_link *dyn    = &d->links[f->chain[k]].dyn;
        dyn_pose        motion = api_mjcf_reference_motion(d, &d->links[f->chain[k]]);
        f->J[k]                = dyn_pose_compose(&chain.X_pb, &dyn->before);
        f->J[k]                = dyn_pose_compose(&f->J[k], &motion);
        chain.X_pb             = dyn_pose_compose(&f->J[k], &dyn->after);
    }
    if (chain.free) chain.X_pb = home_pose(link);
    chain.body = f->body[i] = api_xml_put(&f->w, below, "body");
    put_name(f, chain.body, link->name);
    api_mjcf_put_pose(&f->w, chain.body, &chain.X_pb);
    api_mjcf_put_inertial(&f->w, chain.body, &link->dyn.inertia, api_mjcf_is_shaped(&link->visuals));
    put_compensation(f, chain.body, link->dyn.gravity_compensation);
    api_mjcf_put_joints(&chain);
    api_mjcf_put_visuals(&f->w, chain.body, &link->visuals);
    report_coordinates(f, &chain, link->name);
    bool moves = chain.n > 1 || link->dyn.joint != DYN_FIXED;
    api_mjcf_report_refused(&f->w, link->name, &link->dyn.inertia, moves && !f->bodies.sound.link[i]);
}

/* A fixed base link named `world` needs no body: it is MuJoCo's world. */
static void put_base(mjcf_file *f)
{
    const api_document *d = f->w.document;
    f->base               = f->world;
    if (!d->floating && strcmp(d->base, "world") == 0) {
        api_mjcf_put_visuals(&f->w, f->world, &d->base_visuals);
        return;
    }
    f->base = api_xml_put(&f->w, f->world, "body");
    put_name(f, f->base, d->base);
    api_mjcf_put_inertial(&f->w, f->base, &d->base_inertia, api_mjcf_is_shaped(&d->base_visuals));
    put_compensation(f, f->base, d->base_gravity_compensation);
    api_mjcf_report_refused(&f->w, d->base, &d->base_inertia, d->floating && !f->bodies.sound.base);
    if (d->floating)
        api_mjcf_put_free(&f->w, f->base,
                          &(api_mjcf_free){.name          = api_xml_join(&f->w, d->base, "free"),
                                           .coordinate    = "base",
                                           .damping       = d->base_damping,
                                           .rotor_inertia = d->base_rotor_inertia});
    api_mjcf_put_visuals(&f->w, f->base, &d->base_visuals);
}

/* --- sites, loops ------------------------------------------------------------------------------------------------- */

static void put_sites(mjcf_file *f)
{
    const api_document *d = f->w.document;
    for (size_t i = 0; i < d->n_frames; i++) {
        const api_document_frame *frame = &d->frames[i];
        xmlNode *site = api_xml_put(&f->w, frame->link == DYN_WORLD ? f->base : f->body[frame->link], "site");
        api_xml_put_text(&f->w, site, "name", frame->name);
        api_mjcf_put_pose(&f->w, site, &frame->X_lf);
    }
}

static xmlNode *body_of_frame(const mjcf_file *f, const char *name, dyn_pose *X)
{
    const api_document *d = f->w.document;
    *X                    = dyn_pose_identity();
    for (size_t i = 0; i < d->n_frames; i++)
        if (strcmp(d->frames[i].name, name) == 0) {
            *X = d->frames[i].X_lf;
            return d->frames[i].link == DYN_WORLD ? f->base : f->body[d->frames[i].link];
        }
    for (size_t k = 0; k < d->n_links; k++)
        if (strcmp(d->links[k].name, name) == 0) return f->body[k];
    return f->base;
}

/* Adds a site at `offset` in the frame of a loop. */
static void put_loop_site(mjcf_file *f, xmlNode *element, const api_document_loop *loop, int side,
                          const double offset[3])
{
    const char *attribute = side == 0 ? "site1" : "site2";
    const char *name      = api_xml_join(&f->w, loop->name, attribute);
    dyn_pose    X, shift = dyn_pose_translation(offset[0], offset[1], offset[2]);
    if (offset[0] != 0 || offset[1] != 0 || offset[2] != 0) name = api_xml_join(&f->w, name, "axis");
    xmlNode *body = body_of_frame(f, side == 0 ? loop->frame_a : loop->frame_b, &X);
    xmlNode *site = api_xml_put(&f->w, body, "site");
    X             = dyn_pose_compose(&X, &shift);
    api_xml_put_text(&f->w, site, "name", name);
    api_mjcf_put_pose(&f->w, site, &X);
    api_xml_put_text(&f->w, element, attribute, name);
}

/* Writes a loop between sites of its own. A revolute joint keeps two points of its axis together. */
static void put_loop(mjcf_file *f, xmlNode *equality, size_t i)
{
    static const double      origin[3];
    const api_document_loop *loop    = &f->w.document->loops[i];
    xmlNode                 *element = api_xml_put(&f->w, equality, loop->kind == DYN_LOOP_FIXED ? "weld" : "connect");
    api_xml_put_text(&f->w, element, "name", loop->name);
    for (int side = 0; side < 2; side++)
        put_loop_site(f, element, loop, side, origin);
    if (loop->kind != DYN_LOOP_REVOLUTE) return;
    element = api_xml_put(&f->w, equality, "connect");
    api_xml_put_text(&f->w, element, "name", api_xml_join(&f->w, loop->name, "axis"));
    for (int side = 0; side < 2; side++)
        put_loop_site(f, element, loop, side, loop->axis);
}

static bool is_held(const api_document_loop *loop)
{
    return loop->kind == DYN_LOOP_FIXED || loop->kind == DYN_LOOP_SPHERICAL || loop->kind == DYN_LOOP_REVOLUTE;
}

static void put_equalities(mjcf_file *f)
{
    const api_document *d   = f->w.document;
    bool                any = false;
    for (size_t i = 0; i < d->n_links; i++)
        any = any || d->links[i].dyn.mimic || d->links[i].dyn.joint == DYN_HELICAL;
    for (size_t i = 0; i < d->n_loops; i++)
        any = any || is_held(&d->loops[i]);
    xmlNode *equality = any ? api_xml_put(&f->w, f->root, "equality") : NULL;
    if (any) api_mjcf_put_couplings(&f->w, equality);
    for (size_t i = 0; i < d->n_loops; i++) {
        const api_document_loop *loop = &d->loops[i];
        char                     where[40];
        if (is_held(loop)) {
            put_loop(f, equality, i);
            continue;
        }
        snprintf(where, sizeof where, "/loops/%zu", i);
        api_xml_not_held(&f->w, where, "loop \"%.*s\" is not part of the file: MJCF has no %s equality",
                         api_text_shown(loop->name), loop->name, loop->type);
    }
}

static void put_settings(mjcf_file *f)
{
    xmlNode *compiler = api_xml_put(&f->w, f->root, "compiler");
    api_xml_put_text(&f->w, compiler, "angle", "radian");
    api_xml_put_text(&f->w, compiler, "autolimits", "true");
    api_xml_put_numbers(&f->w, api_xml_put(&f->w, f->root, "option"), "gravity", f->w.document->gravity, 3);
}

/* Reports the links that became joints of the bodies that they carry: MuJoCo has no frame between joints of a body. */
static void report_absorbed(mjcf_file *f)
{
    const api_document *d = f->w.document;
    size_t              n = 0, first          = 0;
    char                where[40], others[40] = "";
    for (size_t k = d->n_links; k-- > 0;)
        if (api_mjcf_is_absorbed(&f->bodies, d->order[k])) {
            first = (size_t)d->order[k];
            n++;
        }
    if (n == 0) return;
    snprintf(where, sizeof where, "/links/%zu", first);
    if (n > 1) snprintf(others, sizeof others, " and %zu other%s", n - 1, n > 2 ? "s" : "");
    const char *name = d->links[first].name;
    if (!api_reader_report(
            f->w.reader, d->from_screws ? "/screws" : where, "info", "merged",
            "link \"%.*s\"%s without mass %s a joint of the body that it carries: its name and frame are "
            "not part of the file",
            api_text_shown(name), name, others, n > 1 ? "are each" : "is"))
        f->w.failed = true;
}

static void put_all(mjcf_file *f, const char *name)
{
    const api_document *d = f->w.document;
    api_xml_put_text(&f->w, f->root, "model", name);
    put_settings(f);
    f->world = api_xml_put(&f->w, f->root, "worldbody");
    put_base(f);
    for (size_t k = 0; k < d->n_links; k++)
        if (!api_mjcf_is_absorbed(&f->bodies, d->order[k]))
            put_body(f, d->order[k]);
        else
            f->w.shapes_left += d->links[d->order[k]].visuals.n;
    help_negative_compensation(f);
    put_sites(f);
    put_equalities(f);
    api_mjcf_put_motors(&f->w, f->root);
    api_mjcf_put_keyframes(&f->w, f->root, f->world);
    report_absorbed(f);
    api_xml_report_forces(&f->w);
    api_xml_report_shapes(&f->w, "MuJoCo takes meshes only with their files, and links without mass that "
                                 "become joints of another body have none");
}

char *api_mjcf_write(const api_document *document, const api_model_heading *heading, api_reader *reader, size_t *length)
{
    mjcf_file f = {0};
    f.root      = api_xml_writer_open(&f.w, reader, document, "mujoco");
    f.body      = api_arena_take(reader->arena, document->n_links, sizeof *f.body);
    f.chain     = api_arena_take(reader->arena, document->n_links, sizeof *f.chain);
    f.J         = api_arena_take(reader->arena, document->n_links, sizeof *f.J);
    if (f.body && f.chain && f.J && api_mjcf_find_bodies(&f.bodies, document, reader))
        put_all(&f, heading->name);
    else
        f.w.failed = true;
    return api_xml_writer_finish(&f.w, length);
}
