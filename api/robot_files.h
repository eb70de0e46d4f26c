/* robot_files.h - the interface to robots of several files, for servers and commands: recognise archives, choose the
 * file of the robot, and list the files that a file names. */
#pragma once
#include "api/base/memory/client_memory_budget.h"
#include "api/problem.h"
#include "api/robots/files.h"

typedef enum api_archive_kind {
    API_NO_ARCHIVE,
    API_ARCHIVE_ZIP,
    API_ARCHIVE_TAR,
    API_ARCHIVE_GZIP, /* a compressed tar archive */
    API_ARCHIVE_FORM  /* multipart/form-data */
} api_archive_kind;

/* Returns the kind of archive that the first bytes show. */
api_archive_kind api_archive_kind_of(const char *bytes, size_t length);

/* Returns the only file of a robot that no other of the files includes: an XML file whose outermost element is <robot>,
 * <mujoco> or <sdf>. NULL with `bad-archive`, which lists the candidates; memory for parsing is claimed from `share`,
 * unless that is NULL. */
const api_file_entry *api_main_file(const api_files *files, api_share *share, api_problem *problem);

typedef enum api_reference_kind {
    API_REFERENCE_MJCF,   /* <include file> and <model file> of MJCF */
    API_REFERENCE_SDF,    /* <include><uri> of SDF: a folder with model.config, or a file */
    API_REFERENCE_MESH,   /* a mesh of any format */
    API_REFERENCE_FOLDER, /* meshdir or assetdir of MJCF, in which meshes of all its files are */
    API_REFERENCE_XACRO   /* an element of xacro, by its name: the file is a template */
} api_reference_kind;

typedef bool api_reference_visit(void *arg, api_reference_kind kind, const char *name);

/* Calls `visit` for each name that a file gives to others, until `visit` returns false. A text that is no XML names
 * nothing. False: `visit` returned false. */
bool api_xml_references(const char *text, size_t length, api_reference_visit *visit, void *arg);

/* True for the name of a file with an ending of an XML format (api/robots/formats.h), ".xml" among them; case does not
 * matter. */
bool api_has_robot_ending(const char *name);
