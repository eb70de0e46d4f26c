/* sdf_merge.c - put the elements of an included model into the model around it, for <include merge="true"> (SDFormat
 * 1.9, "Composition"). A frame `_merged__NAME__model__` takes the place of the frame of the included model: poses,
 * frames and axes that refer to that by default or by `__model__` refer to this frame. */
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

static const char whole_model[] = "__model__";

static bool set_attribute(api_sdf *sdf, xmlNode *element, const char *name, const char *value)
{
    return xmlSetProp(element, (const xmlChar *)name, (const xmlChar *)value) || api_reader_no_memory(&sdf->xml.base);
}

/* Sets the attribute to `frame` where it names the model; without a value it does so if `by_default`. */
static bool point_attribute(api_sdf *sdf, xmlNode *element, const char *name, const char *frame, bool by_default)
{
    const char *value = "";
    if (!api_xml_text(&sdf->xml, element, name, API_OPTIONAL, &value)) return false;
    bool refers = *value ? strcmp(value, whole_model) == 0 : by_default;
    return !refers || set_attribute(sdf, element, name, frame);
}

static xmlNode *child_of(const xmlNode *element, const char *name)
{
    return (xmlNode *)(uintptr_t)api_xml_child(element, name);
}

/* Adds an element at the end of another, with the place of `origin` in the files. */
static xmlNode *add_child(api_sdf *sdf, xmlNode *to, const char *name, const xmlNode *origin)
{
    xmlNode *child = xmlNewChild(to, NULL, (const xmlChar *)name, NULL);
    if (child)
        child->_private = origin->_private;
    else
        api_reader_no_memory(&sdf->xml.base);
    return child;
}

/* Sets the frame of a pose; the element gets a pose if it has none and `by_default` is true. Before version 1.7, the
 * attribute `frame` counts before `relative_to`. */
static bool point_pose(api_sdf *sdf, xmlNode *element, const char *frame, bool by_default)
{
    xmlNode *pose = child_of(element, "pose");
    if (!pose && !by_default) return true;
    if (!pose) pose = add_child(sdf, element, "pose", element);
    if (!pose) return false;
    bool old = api_sdf_minor(sdf, pose) < API_SDF_FRAMES && api_xml_has(pose, "frame");
    return point_attribute(sdf, pose, old ? "frame" : "relative_to", frame, by_default);
}

/* Sets the content of an element to `frame` where it is the name of the model. */
static bool point_content(api_sdf *sdf, xmlNode *element, const char *frame)
{
    const char *text = "";
    if (!element) return true;
    if (!api_xml_content_text(&sdf->xml, element, &text)) return false;
    if (strcmp(text, whole_model) == 0) xmlNodeSetContent(element, (const xmlChar *)frame);
    return true;
}

/* Sets the frame of an axis. Before version 1.7, <use_parent_model_frame> may put it into the frame of the model, and
 * up to 1.4 it does so by default: the axis then refers to `frame`, and the element no longer says so. */
static bool point_axis(api_sdf *sdf, xmlNode *axis, const char *frame)
{
    static const char flag[]   = "use_parent_model_frame";
    int               minor    = api_sdf_minor(sdf, axis);
    bool              in_model = minor < API_SDF_AXES_OF_JOINT;
    xmlNode          *xyz      = child_of(axis, "xyz");
    if (!xyz) return true;
    if (minor >= API_SDF_FRAMES) return point_attribute(sdf, xyz, "expressed_in", frame, false);
    if (!api_sdf_flag(sdf, axis, flag, &in_model)) return false;
    if (!in_model) return point_attribute(sdf, xyz, "expressed_in", frame, false);
    xmlNode *choice = child_of(axis, flag);
    if (!choice) choice = add_child(sdf, axis, flag, axis);
    if (!choice) return false;
    xmlNodeSetContent(choice, (const xmlChar *)"false");
    return set_attribute(sdf, xyz, "expressed_in", frame);
}

static bool point_joint(api_sdf *sdf, const xmlNode *joint, const char *frame)
{
    static const char *const axes[] = {"axis", "axis2"};
    for (int i = 0; i < 2; i++) {
        xmlNode *axis = child_of(joint, axes[i]);
        if (axis && !point_axis(sdf, axis, frame)) return false;
    }
    return point_content(sdf, child_of(joint, "parent"), frame) && point_content(sdf, child_of(joint, "child"), frame);
}

static bool point_element(api_sdf *sdf, xmlNode *element, const char *frame)
{
    bool placed = api_xml_is(element, "link") || api_xml_is(element, "model");
    if (placed) return point_pose(sdf, element, frame, true);
    if (api_xml_is(element, "joint")) return point_pose(sdf, element, frame, false) && point_joint(sdf, element, frame);
    return !api_xml_is(element, "frame") ||
           (point_attribute(sdf, element, "attached_to", frame, true) && point_pose(sdf, element, frame, false));
}

/* Adds the frame `name`, which replaces the frame of a merged model, with the model's pose, at the model's canonical
 * link. */
static bool add_model_frame(api_sdf *sdf, xmlNode *model, const char *name)
{
    const xmlNode *first = api_xml_child(model, "link") ? api_xml_child(model, "link") : api_xml_child(model, "model");
    const char    *canonical = "";
    xmlNode       *pose      = child_of(model, "pose"), *frame;
    if (!api_xml_text(&sdf->xml, model, "canonical_link", API_OPTIONAL, &canonical)) return false;
    if (!first) return api_xml_fail(&sdf->xml, model, API_BAD_MODEL, "the model has no <link>");
    if (!*canonical && !api_xml_name(&sdf->xml, first, "name", &canonical)) return false;
    frame = add_child(sdf, model->parent, "frame", model);
    if (!frame || !set_attribute(sdf, frame, "name", name) || !set_attribute(sdf, frame, "attached_to", canonical))
        return false;
    if (pose) {
        xmlUnlinkNode(pose);
        xmlAddChild(frame, pose);
    }
    return point_pose(sdf, frame, whole_model, true);
}

static bool check_merge(api_sdf *sdf, const xmlNode *model)
{
    bool still = false;
    if (!api_xml_is(model->parent, "model"))
        return api_xml_fail(&sdf->xml, model, API_NOT_SUPPORTED,
                            "<include merge=\"true\"> is part of a model; a world includes models without it");
    if (api_xml_has(model, "placement_frame"))
        return api_xml_fail(&sdf->xml, model, API_NOT_SUPPORTED,
                            "<include merge=\"true\"> with a placement_frame: state the pose of the model instead");
    return api_sdf_flag(sdf, model, "static", &still) &&
           (!still || api_xml_fail(&sdf->xml, model, API_NOT_SUPPORTED,
                                   "<include merge=\"true\"> of a static model: include it without merge"));
}

bool api_sdf_merge(api_sdf *sdf, xmlNode *model)
{
    static const char form[] = "_merged__%s__model__";
    const char       *name;
    if (!check_merge(sdf, model) || !api_xml_name(&sdf->xml, model, "name", &name)) return false;
    size_t size  = strlen(name) + sizeof form;
    char  *frame = api_arena_take(sdf->xml.base.arena, size, 1);
    if (!frame) return api_reader_no_memory(&sdf->xml.base);
    snprintf(frame, size, form, name);
    if (!add_model_frame(sdf, model, frame)) return false;
    for (xmlNode *child = model->children, *next; child; child = next) {
        next = child->next;
        if (child->type != XML_ELEMENT_NODE || api_xml_is(child, "static")) continue;
        if (!point_element(sdf, child, frame)) return false;
        xmlUnlinkNode(child);
        xmlAddPrevSibling(model, child);
    }
    xmlUnlinkNode(model);
    xmlFreeNode(model);
    return true;
}
