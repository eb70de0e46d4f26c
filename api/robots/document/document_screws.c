/* document_screws.c - read a serial robot given by screw axes: home frames M, spatial inertias G, axes S.
 *
 * Lynch & Park 2017, ch. 8.3, in the book's order [w; v]. M_i is the home pose of link frame i in link frame i-1.
 * S_i is the screw axis in the base frame at home. It is not normalised: q turns the joint by |w| q, or with w = 0
 * shifts it by |v| q, so that tau is conjugate to q.
 *
 *     T_(i-1,i)(q) = exp([A] q) M_i,   A = Ad(T_(0,i-1)^-1) S_i
 *
 * A is the axis in link frame i-1. A revolute axis passes through the point c = w x v / |w|^2:
 *
 *     exp([A] q) = Trans(c) Rot(w/|w|, |w| q) Trans(-c).
 *
 * If v has a component along w, the joint also slides by (w.v / |w|^2) |w| q: it is helical. */
#include "document.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* b = R^T a */
static void turn_back(const double R[3][3], const double a[3], double b[3])
{
    for (int i = 0; i < 3; i++)
        b[i] = R[0][i] * a[0] + R[1][i] * a[1] + R[2][i] * a[2];
}

/* Transforms the screw S = [w; v] to the frame with pose T = (R, p): w' = R^T w, v' = R^T (v - p x w). */
static void move_screw(const dyn_pose *T, const double S[6], double w[3], double v[3])
{
    double p_w[3], shifted[3];
    dyn_cross(T->p, S, p_w);
    for (int i = 0; i < 3; i++)
        shifted[i] = S[3 + i] - p_w[i];
    turn_back(T->R, S, w);
    turn_back(T->R, shifted, v);
}

/* Converts screw S to the joint between link frame i-1 (home pose T in the base frame) and link frame i (home pose M
 * in frame i-1). */
static bool read_screw(const api_entry *place, const double S[6], const dyn_pose *T, const dyn_pose *M, dyn_link *link)
{
    double w[3], v[3], c[3] = {0};
    double size = dyn_norm(S), speed = dyn_norm(S + 3);
    bool   revolute = size > 0;
    if (!revolute && speed == 0) return api_entry_fail(place, NULL, API_BAD_VALUE, "the screw axis is zero");
    bool helical = revolute && fabs(dyn_dot(S, S + 3)) > 1e-9 * size * speed;
    move_screw(T, S, w, v);
    *link = (dyn_link){.joint = helical    ? DYN_HELICAL
                                : revolute ? DYN_REVOLUTE
                                           : DYN_PRISMATIC,
                       .pitch = helical ? dyn_dot(S, S + 3) / (size * size) : 0,
                       .ratio = revolute ? size : speed};
    if (revolute) dyn_cross(w, v, c);
    for (int i = 0; i < 3; i++) {
        c[i]          = revolute ? c[i] / (size * size) : 0;
        link->axis[i] = (revolute ? w[i] : v[i]) / link->ratio;
    }
    dyn_pose back = dyn_pose_translation(-c[0], -c[1], -c[2]);
    link->before  = dyn_pose_translation(c[0], c[1], c[2]);
    link->after   = dyn_pose_compose(&back, M);
    return true;
}

/* Converts the spatial inertia G = [I_o, m[c]; m[c]^T, m 1] about the origin of the link frame. The tensor about the
 * centre of mass c is I_o - m (c.c 1 - c c^T). Entries of G that must be equal may differ by `margin`. */
static bool read_spatial_inertia(const api_entry *place, const double G[36], dyn_inertia *inertia)
{
    double m = G[21], margin = 0, h[3] = {G[16], G[5], G[6 + 3]}; /* first moment m c, from m[c] */
    for (int i = 0; i < 36; i++)
        margin = fmax(margin, 1e-9 * fabs(G[i]));
    const double rest[6][6] = {{G[0], G[1], G[2], 0, -h[2], h[1]},  {G[1], G[7], G[8], h[2], 0, -h[0]},
                               {G[2], G[8], G[14], -h[1], h[0], 0}, {0, h[2], -h[1], m, 0, 0},
                               {-h[2], 0, h[0], 0, m, 0},           {h[1], -h[0], 0, 0, 0, m}};
    for (int i = 0; i < 36; i++)
        if (fabs(G[i] - rest[i / 6][i % 6]) > margin)
            return api_entry_fail(
                place, NULL, API_BAD_INERTIA,
                "entry [%d][%d] is %.6g, expected %.6g: a spatial inertia is [I, m[c]; m[c]^T, m 1] with "
                "I symmetric",
                i / 6, i % 6, G[i], rest[i / 6][i % 6]);
    *inertia = (dyn_inertia){.mass = m};
    if (m == 0 && dyn_norm(h) > 0)
        return api_entry_fail(place, NULL, API_BAD_INERTIA, "a first moment m c that is not 0 needs a mass");
    for (int i = 0; i < 3 && m != 0; i++)
        inertia->com[i] = h[i] / m;
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        int    i = row[k], j = column[k];
        double square         = i == j ? dyn_dot(h, inertia->com) : 0;
        inertia->about_com[k] = G[6 * i + j] - (square - h[i] * inertia->com[j]);
    }
    return true;
}

/* The arrays of "screws", for n links. */
typedef struct screw_arrays {
    double *M; /* [n or n + 1][4][4] home poses; the last of n + 1 is that of the tip */
    double *G; /* [n][6][6] spatial inertias */
    double *S; /* [n][6] screw axes */
} screw_arrays;

/* Reads link i (from 0), a child of link i-1. On entry `T` is the home pose of link frame i-1 in the base frame, on
 * return that of link frame i. */
static bool read_link(const api_entry *screws, api_document *document, size_t i, const screw_arrays *all, dyn_pose *T)
{
    api_reader        *reader     = screws->reader;
    api_document_link *link       = &document->links[i];
    api_entry          location_M = api_entry_location(screws, "M", i), location_G = api_entry_location(screws, "G", i);
    api_entry          location_S = api_entry_location(screws, "S", i);
    dyn_pose           X;
    char               name[40];
    if (!api_document_check_transform(&location_M, all->M + 16 * i, &X) ||
        !read_screw(&location_S, all->S + 6 * i, T, &X, &link->dyn) ||
        !read_spatial_inertia(&location_G, all->G + 36 * i, &link->dyn.inertia))
        return false;
    *T = dyn_pose_compose(T, &X);

    snprintf(name, sizeof name, "link%zu", i + 1);
    link->name = api_arena_text(reader->arena, name);
    snprintf(name, sizeof name, "joint%zu", i + 1);
    link->joint    = api_arena_text(reader->arena, name);
    link->parent   = i ? document->links[i - 1].name : document->base;
    link->type     = dyn_joint_types[link->dyn.joint].name;
    link->actuated = true;
    if (!link->name || !link->joint) return api_reader_no_memory(reader);
    return api_document_check_inertia(&location_G, link->name, &link->dyn.inertia);
}

static bool read_tip(const api_entry *screws, api_document *document, const double *T)
{
    size_t    n          = document->n_links;
    api_entry location_M = api_entry_location(screws, "M", n);
    document->has_tip    = true;
    document->tip        = (api_document_frame){.name = "tip", .link_name = document->links[n - 1].name};
    return api_document_check_transform(&location_M, T, &document->tip.X_lf);
}

static bool read_arrays(const api_entry *screws, size_t n_M, size_t n, screw_arrays *all)
{
    api_arena   *arena      = screws->reader->arena;
    const size_t shape_M[3] = {n_M, 4, 4}, shape_G[3] = {n, 6, 6}, shape_S[2] = {n, 6};
    all->M = api_arena_take(arena, n_M, 16 * sizeof *all->M);
    all->G = api_arena_take(arena, n, 36 * sizeof *all->G);
    all->S = api_arena_take(arena, n, 6 * sizeof *all->S);
    if (!all->M || !all->G || !all->S) return api_reader_no_memory(screws->reader);
    return api_entry_numbers(screws, "M", API_REQUIRED, all->M, 3, shape_M) &&
           api_entry_numbers(screws, "G", API_REQUIRED, all->G, 3, shape_G) &&
           api_entry_numbers(screws, "S", API_REQUIRED, all->S, 2, shape_S);
}

bool api_document_read_screws(const api_entry *root, api_document *document, size_t max_links)
{
    static const char *const fields[] = {"M", "G", "S", NULL};
    api_entry                screws;
    screw_arrays             all;
    if (!api_entry_open(&screws, root, "screws", fields)) return false;
    size_t n   = json_array_size(json_object_get(screws.input, "S")),
           n_M = json_array_size(json_object_get(screws.input, "M"));
    if (n > max_links)
        return api_entry_fail(&screws, "S", API_MODEL_TOO_LARGE, "the model has %zu links, the limit is %zu", n,
                              max_links);
    if (n_M != n + 1) n_M = n; /* M may have one pose more, that of the tip; read_arrays refuses any other number */
    if (!read_arrays(&screws, n_M, n, &all)) return false;

    document->from_screws = true;
    document->n_links     = n;
    document->links       = api_arena_take(root->reader->arena, n, sizeof *document->links);
    if (!document->links) return api_reader_no_memory(root->reader);
    dyn_pose T = dyn_pose_identity();
    for (size_t i = 0; i < n; i++)
        if (!read_link(&screws, document, i, &all, &T)) return false;
    if (n > 0 && n_M > n && !read_tip(&screws, document, all.M + 16 * n)) return false;
    api_entry_close(&screws, true);
    return true;
}
