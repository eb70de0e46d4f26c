/* sdf_frame.c - collect the frames of a model and of the models in it, and resolve their poses (SDFormat 1.7, "Pose
 * frame semantics").
 *
 * Without `relative_to`, the pose of a link, a nested model or a frame is in the frame of its model, that of a frame
 * with `attached_to` in that frame, that of a joint in its child. */
#include "sdf_reader.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 500 }; /* most frames between a frame and its link or base; bounds the recursion */

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool check_sdf_angles(api_sdf *sdf, const xmlNode *element, const double rpy[3])
{
    for (int i = 0; i < 3; i++)
        if (fabs(rpy[i]) > DYN_MAX_ANGLE)
            return api_xml_fail(&sdf->xml, element, API_ANGLE_TOO_LARGE,
                                "<pose>: an angle of %.9g rad; angles are limited to %g rad", rpy[i], DYN_MAX_ANGLE);
    return true;
}

static bool read_quaternion_pose(api_sdf *sdf, const xmlNode *pose, dyn_pose *X)
{
    double v[7], length;
    if (!api_xml_content_numbers(&sdf->xml, pose, v, 7)) return false;
    length = sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6]);
    if (!(length > 0) || isinf(length))
        return api_xml_fail(&sdf->xml, pose, API_BAD_QUATERNION, "<pose>: its quaternion has the length %.9g", length);
    const double q[4] = {v[6] / length, v[3] / length, v[4] / length, v[5] / length};
    *X                = dyn_pose_wxyz(q);
    memcpy(X->p, v, 3 * sizeof *v);
    return true;
}

bool api_sdf_read_pose(api_sdf *sdf, const xmlNode *owner, dyn_pose *X)
{
    static const char *const formats[] = {"euler_rpy", "quat_xyzw", NULL}, *const flags[] = {"false", "true", "0", "1",
                                                                                             NULL};
    const xmlNode *pose   = api_xml_child(owner, "pose");
    int            format = 0, degrees = 0;
    double         v[6] = {0};
    const char    *text;
    *X = dyn_pose_identity();
    if (!pose) return true;
    if (!api_xml_choice(&sdf->xml, pose, "rotation_format", formats, &format) ||
        !api_xml_choice(&sdf->xml, pose, "degrees", flags, &degrees) || !api_xml_content_text(&sdf->xml, pose, &text))
        return false;
    if (!*text) return true;
    if (format == 1) return read_quaternion_pose(sdf, pose, X);
    if (!api_xml_content_numbers(&sdf->xml, pose, v, 6)) return false;
    for (int i = 3; degrees % 2 == 1 && i < 6; i++)
        v[i] *= M_PI / 180;
    if (!check_sdf_angles(sdf, pose, v + 3) || !api_xml_review_angles(&sdf->xml, pose, "<pose>", v + 3)) return false;
    *X = dyn_pose_rpy(v, v + 3);
    return true;
}

bool api_sdf_number(api_sdf *sdf, const xmlNode *owner, const char *name, double *value)
{
    const xmlNode *element = api_xml_child(owner, name);
    return !element || api_xml_content_numbers(&sdf->xml, element, value, 1);
}

bool api_sdf_flag(api_sdf *sdf, const xmlNode *owner, const char *name, bool *flag)
{
    const xmlNode *element = api_xml_child(owner, name);
    const char    *text;
    if (!element) return true;
    if (!api_xml_content_text(&sdf->xml, element, &text)) return false;
    *flag = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *flag || strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ||
           api_xml_fail(&sdf->xml, element, API_BAD_VALUE, "<%.40s> is \"%.*s\"; expected true, false, 1 or 0", name,
                        api_text_shown(text), text);
}

bool api_sdf_text(api_sdf *sdf, const xmlNode *owner, const char *name, const char **text)
{
    const xmlNode *element = api_xml_child(owner, name);
    if (!element)
        return api_xml_fail(&sdf->xml, owner, API_MISSING_FIELD, "<%.40s> has no <%s>", (const char *)owner->name,
                            name);
    if (!api_xml_content_text(&sdf->xml, element, text)) return false;
    return **text || api_xml_fail(&sdf->xml, element, API_BAD_NAME, "<%s> is empty: a name is expected", name);
}

/* --- links of frames ---------------------------------------------------------------------------------------------- */

/* Sets *next to the frame that names a frame's link: of a joint its child, of a model its canonical link. */
static bool next_attached(api_sdf *sdf, int index, int *next)
{
    const api_sdf_frame *frame = &sdf->frames[index];
    const char          *name  = NULL;
    *next                      = frame->scope;
    if (frame->kind == API_SDF_IS_JOINT) {
        if (!api_sdf_text(sdf, frame->element, "child", &name)) return false;
        if (name && strcmp(name, "world") == 0) {
            *next = API_SDF_WORLD;
            return true;
        }
    } else if (!api_xml_text(&sdf->xml, frame->element,
                             frame->kind == API_SDF_IS_MODEL ? "canonical_link" : "attached_to", API_OPTIONAL, &name)) {
        return false;
    }
    if (name && *name) {
        *next = api_sdf_find_frame(sdf, frame->element, frame, name);
        return *next != API_SDF_NONE;
    }
    if (frame->kind != API_SDF_IS_MODEL) return true;
    for (size_t i = (size_t)index + 1; i < sdf->n_frames;
         i++) { /* the first link of the model or, without links, its first nested model */
        bool inside = sdf->frames[i].scope == index;
        *next       = (int)i;
        if (inside && sdf->frames[i].kind == API_SDF_IS_LINK) return true;
    }
    for (size_t i = (size_t)index + 1; i < sdf->n_frames; i++) {
        *next = (int)i;
        if (sdf->frames[i].scope == index && sdf->frames[i].kind == API_SDF_IS_MODEL) return true;
    }
    return api_xml_fail(&sdf->xml, frame->element, API_BAD_MODEL, "the model has no <link>");
}

/* Follows attached frames up to a link. */
static bool find_link(api_sdf *sdf, int index)
{
    int current = index;
    for (size_t steps = 0; current >= 0 && sdf->frames[current].kind != API_SDF_IS_LINK; steps++) {
        if (steps > sdf->n_frames)
            return api_xml_fail(&sdf->xml, sdf->frames[index].element, API_BAD_MODEL,
                                "frames are attached to each other in a circle");
        if (sdf->frames[current].link != API_SDF_NONE) {
            current = sdf->frames[current].link;
            break;
        }
        if (!next_attached(sdf, current, &current)) return false;
    }
    sdf->frames[index].link = current;
    return true;
}

/* --- poses -------------------------------------------------------------------------------------------------------- */

/* Before version 1.7 the attribute was called `frame`, and "" was the default. libsdformat reads relative_to in files
 * of all versions; `frame` comes first. */
static bool read_relative_to(api_sdf *sdf, const api_sdf_frame *frame, const char **name)
{
    const xmlNode *pose = api_xml_child(frame->element, "pose");
    *name               = NULL;
    if (!pose) return true;
    bool old = api_sdf_minor(sdf, pose) < API_SDF_FRAMES && api_xml_has(pose, "frame");
    return api_xml_text(&sdf->xml, pose, old ? "frame" : "relative_to", API_OPTIONAL, name);
}

/* Finds the frame that a pose names. The name in the pose of a model belongs to the model around it. */
static int find_of_pose(api_sdf *sdf, const api_sdf_frame *frame, const char *name)
{
    return api_sdf_find_frame(sdf, frame->element, frame->kind == API_SDF_IS_MODEL ? &sdf->frames[frame->scope] : frame,
                              name);
}

/* Finds the frame in which the pose of a frame is given; API_SDF_WORLD only for joints of the world. */
static bool find_base(api_sdf *sdf, const api_sdf_frame *frame, int *base)
{
    const char *name;
    if (!read_relative_to(sdf, frame, &name)) return false;
    *base = frame->scope;
    if (name && *name) {
        *base = find_of_pose(sdf, frame, name);
        return *base != API_SDF_NONE;
    }
    bool attached = frame->kind == API_SDF_IS_FRAME || frame->kind == API_SDF_IS_JOINT;
    if (!attached) return true;
    if (frame->kind == API_SDF_IS_JOINT) {
        if (!api_sdf_text(sdf, frame->element, "child", &name)) return false;
        if (name && strcmp(name, "world") == 0) {
            if (frame->of_world) *base = API_SDF_WORLD;
            return true;
        }
    } else if (!api_xml_text(&sdf->xml, frame->element, "attached_to", API_OPTIONAL, &name)) {
        return false;
    }
    if (name && *name) *base = find_of_pose(sdf, frame, name);
    return *base != API_SDF_NONE;
}

static bool resolve(api_sdf *sdf, int index);

/* Resolves a frame and the models that contain it, up to `model`. X receives the pose of the frame in `model`. */
static bool resolve_in(api_sdf *sdf, int index, int model, dyn_pose *X)
{
    for (int at = index; at != model && at > API_SDF_MODEL; at = sdf->frames[at].scope)
        if (!resolve(sdf, at)) return false;
    *X = api_sdf_pose_in(sdf, index, model);
    return true;
}

/* The pose of a nested model may be that of its placement frame. */
static bool place_model(api_sdf *sdf, int index, dyn_pose *X)
{
    const api_sdf_frame *model = &sdf->frames[index];
    const char          *name  = NULL;
    dyn_pose             X_mp;
    if (!api_xml_text(&sdf->xml, model->element, "placement_frame", API_OPTIONAL, &name)) return false;
    if (!name || !*name) return true;
    int frame = api_sdf_find_frame(sdf, model->element, model, name);
    if (frame == API_SDF_NONE || !resolve_in(sdf, frame, index, &X_mp)) return false;
    dyn_pose X_pm = dyn_pose_inverse(&X_mp);
    *X            = dyn_pose_compose(X, &X_pm);
    return true;
}

/* Sets the pose of a frame in its model. */
static bool resolve(api_sdf *sdf, int index)
{
    api_sdf_frame *frame = &sdf->frames[index];
    int            base;
    dyn_pose       X_base = dyn_pose_identity(), X;
    if (frame->resolved) return true;
    if (frame->visiting)
        return api_xml_fail(&sdf->xml, frame->element, API_BAD_MODEL, "poses are relative to each other in a circle");
    if (++sdf->depth > MOST_STEPS)
        return api_xml_fail(&sdf->xml, frame->element, API_TOO_DEEP, "more than %d poses are relative to each other",
                            MOST_STEPS);
    frame->visiting = true;
    if (!find_base(sdf, frame, &base) || !api_sdf_read_pose(sdf, frame->element, &X)) return false;
    if (base == API_SDF_WORLD && frame->of_world)
        X_base = dyn_pose_inverse(&sdf->X_wm);
    else if (base != frame->scope && !resolve_in(sdf, base, frame->scope, &X_base))
        return false;
    if (frame->kind == API_SDF_IS_MODEL && !place_model(sdf, index, &X)) return false;
    frame->X        = dyn_pose_compose(&X_base, &X);
    frame->resolved = true;
    sdf->depth--;
    return true;
}

dyn_pose api_sdf_pose_in(const api_sdf *sdf, int frame, int model)
{
    dyn_pose X = dyn_pose_identity();
    for (int at = frame; at != model && at > API_SDF_MODEL; at = sdf->frames[at].scope)
        X = dyn_pose_compose(&sdf->frames[at].X, &X);
    return X;
}

dyn_pose api_sdf_in_world(const api_sdf *sdf, int frame)
{
    dyn_pose X = api_sdf_pose_in(sdf, frame, API_SDF_MODEL);
    return dyn_pose_compose(&sdf->X_wm, &X);
}

/* Reads all frames. The pose of the model in the world is found before the joints of the world are, whose poses may be
 * relative to it. */
bool api_sdf_read_frames(api_sdf *sdf)
{
    size_t n;
    if (!api_sdf_collect(sdf, &n)) return false;
    for (int i = 0; i < (int)sdf->n_frames; i++) {
        if (i == (int)n && !place_model(sdf, API_SDF_MODEL, &sdf->X_wm)) return false;
        if (!find_link(sdf, i) || (i > 0 && !resolve(sdf, i))) return false;
    }
    return n < sdf->n_frames || place_model(sdf, API_SDF_MODEL, &sdf->X_wm);
}

static bool is_equal(const dyn_pose *X, const dyn_pose *Y)
{
    for (int i = 0; i < 3; i++) {
        if (X->p[i] != Y->p[i]) return false;
        for (int j = 0; j < 3; j++)
            if (X->R[i][j] != Y->R[i][j]) return false;
    }
    return true;
}

dyn_pose api_sdf_between(const dyn_pose *X_wa, const dyn_pose *X_wb)
{
    if (is_equal(X_wa, X_wb)) return dyn_pose_identity();
    dyn_pose X_aw = dyn_pose_inverse(X_wa), X = dyn_pose_compose(&X_aw, X_wb);
    return X;
}
