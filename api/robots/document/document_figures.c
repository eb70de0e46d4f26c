/* document_figures.c - report figures that a robot may have but hardly has: units that are not SI, placeholders of
 * inertias. The figures are used unchanged. Moments of an ellipsoid: Symon, Mechanics, ch. 10. */
#include "document.h"
#include "api/codec/number.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAR_AWAY     100.0 /* m: beyond the reach of any robot; typical of lengths in millimetres */
#define MANY_TURNS   30.0  /* rad: more turns than joints have; typical of degrees */
#define NO_LIMIT     1e4   /* rad or m: a larger limit means that the joint has no limit */
#define HEAVY        1e4   /* kg: heavier than a robot's link; typical of grams, or of densities in kg/mm^3 */
#define LIGHT        100.0 /* kg: a lighter link is not compared with the size of the robot */
#define DENSEST      2e4   /* kg/m^3: denser than tungsten */
#define THINNEST     15.0  /* kg/m^3: lighter than foam; published links with measured inertias have above 30 */
#define SPARSE       100.0 /* kg/m^3: a body of lower density far larger than the robot has placeholder values */
#define COMPACT      300.0 /* kg/m^3: a link below this density whose tensor is the identity has placeholder values */
#define SMALLEST     0.02  /* m: links of a robot that is smaller than this are not compared with its size */
#define LARGE_RADIUS 0.9   /* m: a larger radius of gyration is suspicious; a placeholder of 1 kg, 1 kg m^2 has 1 */

enum { TEXT = 400, LISTED = 3 /* bytes of a text; further links that an entry names */ };

/* Implausible relations of mass and inertia; each link has one at most. */
typedef enum oddity { PLAUSIBLE, TOO_HEAVY, TOO_LARGE, IDENTITY, TOO_LIGHT, TOO_DENSE, POINT_MASS, TRIFLE } oddity;

/* The robot, and sizes to compare with. Index n_links stands for the base. */
typedef struct scene {
    const api_document *document;
    dyn_inertia        *body;  /* written by api_document_sum_bodies */
    api_document_point *point; /* written by api_document_find_points */
    double             *reach; /* [i]: distance from the base to link i along the chain of links, m */
    double *extent; /* [i]: m, greatest distance from the joint of link i to the next joints and fixed links */
    oddity *odd;
    double  joints, size; /* m: greatest reach of a joint; greatest reach of a joint or centre of mass */
} scene;

static const char *named_link(const scene *s, size_t i)
{
    return i < s->document->n_links ? s->document->links[i].name : s->document->base;
}

static const dyn_inertia *inertia_of(const scene *s, size_t i)
{
    return i < s->document->n_links ? &s->document->links[i].dyn.inertia : &s->document->base_inertia;
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* Distance from a link to its parent, with the stroke of the joint. A free link has none. */
static double distance_of(const api_document_link *link)
{
    double stroke = fmax(fabs(link->lower), fabs(link->upper));
    bool   slides = link->dyn.joint == DYN_PRISMATIC && link->has_position_limits && stroke < FAR_AWAY;
    if (dyn_joint_nv(link->dyn.joint) == 6) return 0;
    return dyn_norm(link->dyn.before.p) + dyn_norm(link->dyn.after.p) + (slides ? stroke : 0);
}

static void find_sizes(scene *s)
{
    const api_document *d = s->document;
    for (size_t k = 0; k < d->n_links; k++) {
        int                      i = d->order[k], up = d->links[i].parent_index;
        const api_document_link *link = &d->links[i];
        bool                     free = dyn_joint_nv(link->dyn.joint) == 6;
        s->reach[i]                   = (up == DYN_WORLD || free ? 0 : s->reach[up]) + distance_of(link);
        s->joints                     = fmax(s->joints, s->reach[i]);
        s->size                       = fmax(s->size, s->reach[i] + dyn_norm(link->dyn.inertia.com));
    }
    for (size_t k = d->n_links; k-- > 0;) {
        int                      i = d->order[k], up = d->links[i].parent_index;
        const api_document_link *link     = &d->links[i];
        double                   distance = distance_of(link);
        double                   far      = distance + (link->dyn.joint == DYN_FIXED ? s->extent[i] : 0);
        s->extent[i]                      = fmax(s->extent[i], distance);
        if (up != DYN_WORLD) s->extent[up] = fmax(s->extent[up], far);
    }
}

/* --- masses and inertias ------------------------------------------------------------------------------------------ */

/* Greatest radius of gyration; 0 without mass. */
static double radius_of(const dyn_inertia *inertia)
{
    double moments[3], axes[3][3];
    if (!(inertia->mass > 0)) return 0;
    api_tensor_principal(inertia->about_com, moments, axes);
    return sqrt(fmax(moments[0], fmax(moments[1], moments[2])) / inertia->mass);
}

static double ball_volume(double radius)
{
    return 4.0 / 3.0 * M_PI * radius * radius * radius;
}

/* Density of the homogeneous ellipsoid with this mass and inertia; infinite for a flat one. */
static double density_of(const dyn_inertia *inertia)
{
    double moments[3], axes[3][3], volume = 4.0 / 3.0 * M_PI;
    api_tensor_principal(inertia->about_com, moments, axes);
    double trace = moments[0] + moments[1] + moments[2];
    for (int i = 0; i < 3; i++)
        volume *= sqrt(fmax(0, 2.5 * (trace - 2 * moments[i]) / inertia->mass));
    return inertia->mass / volume;
}

static bool is_identity(const double T[6])
{
    return T[0] == 1 && T[3] == 1 && T[5] == 1 && T[1] == 0 && T[2] == 0 && T[4] == 0;
}

/* True if the density would exceed DENSEST: a ball has the least moment of all bodies of one mass and density. */
static bool is_too_dense(const dyn_inertia *inertia)
{
    double ball = cbrt(inertia->mass / ball_volume(1) / DENSEST), radius = radius_of(inertia);
    return radius * radius < 0.4 * ball * ball;
}

/* True if link i has a joint that moves; index n_links, the base, counts as moving. */
static bool is_mover(const scene *s, size_t i)
{
    return i == s->document->n_links || s->document->links[i].dyn.joint != DYN_FIXED;
}

/* Inertia of the body that contains link i: the links that are fixed to each other, or to the base. */
static const dyn_inertia *whole_body(const scene *s, size_t i)
{
    int mover = i == s->document->n_links ? DYN_WORLD : (int)i;
    while (mover != DYN_WORLD && s->document->links[mover].dyn.joint == DYN_FIXED)
        mover = s->document->links[mover].parent_index;
    return &s->body[mover + 1];
}

/* True if the link's tensor is a hundredth of that of its body, or more. */
static bool is_part(const dyn_inertia *I, const dyn_inertia *body)
{
    double radius = radius_of(I), whole = radius_of(body);
    return radius * radius * I->mass > 0.01 * whole * whole * body->mass;
}

/* Compares the tensor of a link with mass. */
static oddity find_odd_tensor(const scene *s, const dyn_inertia *I)
{
    double density = density_of(I), radius = radius_of(I), size = s->size;
    if (is_identity(I->about_com) && density < COMPACT) return IDENTITY;
    if (size > 0 && radius > LARGE_RADIUS && radius > 5 * size) return TOO_LARGE;
    if (size > SMALLEST && radius > 3 * size && density < SPARSE) return TOO_LARGE;
    return density < THINNEST ? TOO_LIGHT : PLAUSIBLE;
}

static oddity find_oddity(const scene *s, size_t i)
{
    const dyn_inertia *I = inertia_of(s, i), *body = whole_body(s, i);
    double             most = DENSEST * ball_volume(s->size + 2 * radius_of(I));
    if (I->mass > HEAVY || (s->size > 0 && I->mass > LIGHT && I->mass > most)) return TOO_HEAVY;
    if (!(body->mass > 0)) return PLAUSIBLE;
    oddity odd = I->mass > 0 ? find_odd_tensor(s, I) : PLAUSIBLE;
    if (odd != PLAUSIBLE) return is_mover(s, i) || is_part(I, body) ? odd : TRIFLE;
    if (!is_mover(s, i)) return PLAUSIBLE;
    if (s->point[i == s->document->n_links ? 0 : i + 1].is_point) return POINT_MASS;
    return radius_of(body) > 0 && is_too_dense(body) ? TOO_DENSE : PLAUSIBLE;
}

static void describe_heavy(const scene *s, size_t i, char text[TEXT])
{
    double mass = inertia_of(s, i)->mass;
    if (s->size > 0)
        snprintf(text, TEXT, "has a mass of %.6g kg in a robot of %.3g m: masses are in kilograms", mass, s->size);
    else
        snprintf(text, TEXT, "has a mass of %.6g kg: masses are in kilograms", mass);
}

static void describe_large(const scene *s, size_t i, char text[TEXT])
{
    snprintf(text, TEXT,
             "has a radius of gyration of %.3g m in a robot of %.3g m: its inertia may be a placeholder, or not in "
             "kg m^2",
             radius_of(inertia_of(s, i)), s->size);
}

static void describe_identity(const scene *s, size_t i, char text[TEXT])
{
    double mass = inertia_of(s, i)->mass;
    snprintf(
        text, TEXT,
        "of %.6g kg has the identity as its inertia, that of a ball with a diameter of %.3g m: the tensor may be a "
        "placeholder",
        mass, 2 * sqrt(2.5 / mass));
}

static void describe_light(const scene *s, size_t i, char text[TEXT])
{
    snprintf(text, TEXT,
             "has the mass and inertia of a body of %.2g kg/m^3, lighter than foam: its inertia may be a placeholder",
             density_of(inertia_of(s, i)));
}

static void describe_dense(const scene *s, size_t i, char text[TEXT])
{
    const dyn_inertia *body = whole_body(s, i);
    snprintf(text, TEXT,
             "with a mass of %.6g kg has a radius of gyration of %.3g m, less than a ball of tungsten: its inertia may "
             "be a placeholder, or its mass not in kilograms",
             body->mass, radius_of(body));
}

static void describe_point(const scene *s, size_t i, char text[TEXT])
{
    const api_document_point *point      = &s->point[i == s->document->n_links ? 0 : i + 1];
    char                      about[160] = "an axis of the floating base";
    if (point->joint != DYN_WORLD) {
        const char *joint = s->document->links[point->joint].joint;
        snprintf(about, sizeof about, "%s axis of joint \"%.*s\"", point->all ? "an" : "the", api_text_shown(joint),
                 joint);
    }
    snprintf(text, TEXT,
             "has a mass of %.6g kg and no inertia about %s: a point mass%s. If it is meant, all is well; programs "
             "that write "
             "files with a few decimals round small moments to 0",
             whole_body(s, i)->mass, about, point->on_axis ? " on this axis" : "");
}

static void describe_trifle(const scene *s, size_t i, char text[TEXT])
{
    const dyn_inertia *I = inertia_of(s, i);
    snprintf(text, TEXT,
             "of %.3g kg has a radius of gyration of %.3g m: its inertia may be a placeholder; in its body it hardly "
             "counts",
             I->mass, radius_of(I));
}

/* --- lengths and angles ------------------------------------------------------------------------------------------- */

static bool is_far(const double p[3])
{
    return dyn_norm(p) > FAR_AWAY;
}

static bool has_far_joint(const scene *s, size_t i)
{
    const api_document_link *links = s->document->links;
    return i < s->document->n_links && (is_far(links[i].dyn.before.p) || is_far(links[i].dyn.after.p));
}

static void describe_far_joint(const scene *s, size_t i, char text[TEXT])
{
    (void)s, (void)i;
    snprintf(text, TEXT, "is more than %g m from the link it hangs on: lengths are in metres", FAR_AWAY);
}

/* Distance of a link's centre of mass from its joint. */
static double arm_of(const scene *s, size_t i)
{
    if (i == s->document->n_links) return dyn_norm(s->document->base_inertia.com);
    const dyn_link *link = &s->document->links[i].dyn;
    double          p[3];
    for (int k = 0; k < 3; k++)
        p[k] = link->after.p[k] + dyn_dot(link->after.R[k], link->inertia.com);
    return dyn_norm(p);
}

/* True if the centre of mass is implausible: far beyond the neighbours of the link, and so far from the joint that a
 * body with this inertia does not reach back to the joint. */
static bool has_far_com(const scene *s, size_t i)
{
    const dyn_inertia *I   = inertia_of(s, i);
    double             arm = arm_of(s, i), radius = radius_of(I);
    if (is_far(I->com)) return true;
    if (i == s->document->n_links || !(radius > 0)) return false;
    return (s->extent[i] > 0 && arm > 5 * s->extent[i] && arm > 10 * radius) ||
           (s->joints > 0 && arm > 2 * s->joints && arm > 5 * radius);
}

static void describe_far_com(const scene *s, size_t i, char text[TEXT])
{
    snprintf(text, TEXT,
             "has its centre of mass %.3g m from its joint, outside a body with a radius of gyration of %.3g m: "
             "lengths are in metres",
             arm_of(s, i), radius_of(inertia_of(s, i)));
}

static double farthest_limit(const api_document_link *link)
{
    return fmax(fabs(link->lower), fabs(link->upper));
}

/* True if the joint is of this kind and has a limit beyond `most`, but below NO_LIMIT. */
static bool has_limit_beyond(const scene *s, size_t i, dyn_joint_kind kind, double most)
{
    const api_document_link *link = i < s->document->n_links ? &s->document->links[i] : NULL;
    return link && link->has_position_limits && link->dyn.joint == kind && farthest_limit(link) > most &&
           farthest_limit(link) < NO_LIMIT;
}

static bool has_many_turns(const scene *s, size_t i)
{
    return has_limit_beyond(s, i, DYN_REVOLUTE, MANY_TURNS);
}

static bool has_long_stroke(const scene *s, size_t i)
{
    return has_limit_beyond(s, i, DYN_PRISMATIC, FAR_AWAY);
}

static void describe_limit(const scene *s, size_t i, char text[TEXT])
{
    const api_document_link *link = &s->document->links[i];
    snprintf(text, TEXT, "has a limit of %s %s", API_NUMBER_TEXT(farthest_limit(link)),
             link->dyn.joint == DYN_REVOLUTE ? "rad, many turns: angles are in radians" : "m: lengths are in metres");
}

/* --- the report --------------------------------------------------------------------------------------------------- */

/* A kind of suspicious value; one entry of the report names all links or joints that have it. */
typedef struct suspicion {
    const char *severity;
    const char *member;                      /* member of a link in the document */
    const char *screws;                      /* member of "screws" that has the value */
    bool (*holds)(const scene *s, size_t i); /* which links the entry names; NULL: those with the oddity `odd` */
    oddity odd;
    void (*describe)(const scene *s, size_t i, char text[TEXT]); /* writes the predicate of the sentence */
} suspicion;

static const suspicion suspicions[] = {
    {"warning", "joint", "M", has_far_joint, PLAUSIBLE, describe_far_joint},
    {"warning", "joint/limits/position", "M", has_many_turns, PLAUSIBLE, describe_limit},
    {"warning", "joint/limits/position", "M", has_long_stroke, PLAUSIBLE, describe_limit},
    {"warning", "inertial", "G", has_far_com, PLAUSIBLE, describe_far_com},
    {"warning", "inertial", "G", NULL, TOO_HEAVY, describe_heavy},
    {"warning", "inertial", "G", NULL, TOO_LARGE, describe_large},
    {"warning", "inertial", "G", NULL, IDENTITY, describe_identity},
    {"warning", "inertial", "G", NULL, TOO_LIGHT, describe_light},
    {"warning", "inertial", "G", NULL, TOO_DENSE, describe_dense},
    {"warning", "inertial", "G", NULL, POINT_MASS, describe_point},
    {"info", "inertial", "G", NULL, TRIFLE, describe_trifle},
};

static const char *subject_of(const scene *s, const suspicion *kind, size_t i)
{
    return kind->member[0] == 'j' ? s->document->links[i].joint : named_link(s, i);
}

static void write_place(const scene *s, const suspicion *kind, size_t i, char where[64])
{
    if (i == s->document->n_links)
        snprintf(where, 64, "/base/inertial");
    else if (s->document->from_screws)
        snprintf(where, 64, "/screws/%s/%zu", kind->screws, i);
    else
        snprintf(where, 64, "/links/%zu/%s", i, kind->member);
}

/* Appends the name of a further link, or counts it. */
static void list_link(char *list, size_t size, const char *name, size_t n)
{
    size_t length = strlen(list);
    if (n <= LISTED)
        snprintf(list + length, size - length, "%s\"%.*s\"", n == 1 ? "; so " : ", ", api_text_shown(name), name);
}

static bool report_kind(const scene *s, const suspicion *kind, api_reader *reader)
{
    size_t n = s->document->n_links + s->document->floating, first = n, others = 0;
    char   where[64], text[TEXT], list[4 * TEXT] = "", more[40] = "";
    for (size_t i = 0; i < n; i++) {
        if (!(kind->holds ? kind->holds(s, i) : s->odd[i] == kind->odd)) continue;
        if (first == n)
            first = i;
        else
            list_link(list, sizeof list, subject_of(s, kind, i), ++others);
    }
    if (first == n) return true;
    if (others > LISTED) snprintf(more, sizeof more, " and %zu more", others - LISTED);
    const char *subject = subject_of(s, kind, first);
    write_place(s, kind, first, where);
    kind->describe(s, first, text);
    return api_reader_report(reader, where, kind->severity, "suspicious", "%s \"%.*s\" %s%s%s",
                             kind->member[0] == 'j' ? "joint" : "link", api_text_shown(subject), subject, text, list,
                             more);
}

bool api_document_check_figures(const api_document *document, api_reader *reader)
{
    size_t n = document->n_links + 1;
    scene  s = {.document = document,
                .body     = api_arena_take(reader->arena, n, sizeof *s.body),
                .point    = api_arena_take(reader->arena, n, sizeof *s.point),
                .reach    = api_arena_take(reader->arena, n, sizeof *s.reach),
                .extent   = api_arena_take(reader->arena, n, sizeof *s.extent),
                .odd      = api_arena_take(reader->arena, n, sizeof *s.odd)};
    if (!s.body || !s.point || !s.reach || !s.extent || !s.odd) return api_reader_no_memory(reader);
    api_document_sum_bodies(document, s.body);
    if (!api_document_find_points(document, reader, s.body, s.point)) return false;
    find_sizes(&s);
    for (size_t i = 0; i < n; i++)
        s.odd[i] = find_oddity(&s, i);
    for (size_t k = 0; k < sizeof suspicions / sizeof *suspicions; k++)
        if (!report_kind(&s, &suspicions[k], reader)) return false;
    return true;
}
