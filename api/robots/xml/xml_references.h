/* xml_references.h - list the other files that an XML file of a robot names. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef enum api_reference_kind {
    API_REFERENCE_MJCF,   /* <include file> and <model file> of MJCF */
    API_REFERENCE_SDF,    /* <include><uri> of SDF: a folder with model.config, or a file */
    API_REFERENCE_MESH,   /* a mesh of any format */
    API_REFERENCE_FOLDER, /* meshdir or assetdir of MJCF, in which meshes of all its files are */
    API_REFERENCE_XACRO   /* an element of xacro, by its name: the file is a template */
} api_reference_kind;

/* Calls `visit` for each name that the file gives, until it returns false. A text that is no XML names nothing. False:
 * `visit` returned false. */
bool api_xml_references(const char *text, size_t                                                   length,
                          bool (*visit)(void *arg, api_reference_kind kind, const char *name), void *arg);
