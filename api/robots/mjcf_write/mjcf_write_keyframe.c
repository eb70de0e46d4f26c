/* mjcf_write_keyframe.c - write configurations as keyframes: the positions of all joints of the file, in its order. */
#include "api/codec/number.h"
#include "mjcf_write.h"
#include <stdio.h>
#include <string.h>

/* The text of qpos. */
typedef struct qpos_text {
    const api_document_configuration *configuration;
    char                             *text; /* NULL: the numbers are only counted */
    size_t                            used, n;
} qpos_text;

static void append_number(qpos_text *to, double value)
{
    if (to->text && to->n > 0) to->text[to->used++] = ' ';
    if (to->text) to->used += api_number_write(value + 0.0, to->text + to->used); /* -0 becomes 0 */
    to->n++;
}

/* Value of a coordinate in the configuration. If it is not listed: 1 for the part w of a quaternion, else 0. */
static double value_of(const api_document_configuration *configuration, const char *prefix, const char *suffix)
{
    char name[API_COORDINATE_NAME];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    const json_t *value = json_object_get(configuration->positions, name);
    return value ? json_number_value(value) : strcmp(suffix, ".qw") == 0;
}

/* The quaternion of a ball is written in axes of the body: its vector part in joint axes is rotated by C. */
static void add_quaternion(qpos_text *to, const api_mjcf_position *joint)
{
    static const char *const suffix[3] = {".qx", ".qy", ".qz"};
    double                   v[3];
    for (int i = 0; i < 3; i++)
        v[i] = value_of(to->configuration, joint->name, suffix[i]);
    append_number(to, value_of(to->configuration, joint->name, ".qw"));
    for (int i = 0; i < 3; i++)
        append_number(to, dyn_dot(joint->C.R[i], v));
}

static void add_positions(qpos_text *to, const api_mjcf_position *joint)
{
    static const char *const suffix[3] = {".x", ".y", ".z"};
    switch (joint->type) {
    case API_MJCF_FREE:
        for (int i = 0; i < 3; i++)
            append_number(to, value_of(to->configuration, joint->name, suffix[i]));
        add_quaternion(to, joint);
        return;
    case API_MJCF_BALL: add_quaternion(to, joint); return;
    case API_MJCF_SLIDE:
    case API_MJCF_HINGE:
        append_number(to, joint->scale * value_of(to->configuration, joint->name, "") + joint->offset);
        return;
    case API_MJCF_JOINT_TYPES: return;
    }
}

/* Steps from an element to the next one of the tree under `top`. */
static const xmlNode *element_after(const xmlNode *element, const xmlNode *top)
{
    if (element->children) return element->children;
    while (element != top && !element->next)
        element = element->parent;
    return element == top ? NULL : element->next;
}

static void add_all(qpos_text *to, const xmlNode *world)
{
    for (const xmlNode *e = world; e; e = element_after(e, world))
        if (e->_private) add_positions(to, e->_private);
}

void api_mjcf_put_keyframes(api_xml_writer *w, xmlNode *root, const xmlNode *world)
{
    const api_document *d        = w->document;
    xmlNode            *keyframe = d->n_configurations > 0 ? api_xml_put(w, root, "keyframe") : NULL;
    for (size_t i = 0; !w->failed && i < d->n_configurations; i++) {
        qpos_text to = {.configuration = &d->configurations[i]};
        add_all(&to, world);
        const size_t n = to.n;
        to             = (qpos_text){.configuration = to.configuration,
                                     .text          = api_arena_take(w->reader->arena, n * (API_NUMBER_ROOM + 1) + 1, 1)};
        if (!to.text) {
            w->failed = !api_reader_no_memory(w->reader);
            return;
        }
        add_all(&to, world);
        to.text[to.used] = '\0';
        xmlNode *key     = api_xml_put(w, keyframe, "key");
        api_xml_put_text(w, key, "name", to.configuration->name);
        if (n > 0) api_xml_put_text(w, key, "qpos", to.text);
    }
}
