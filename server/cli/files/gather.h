/* gather.h - gather the file of a robot with all files that it names, along the user's own paths.
 *
 * Paths of the gathered files are absolute ones without the first "/", so that names may lead anywhere by "..". */
#pragma once
#include "api/robot_files.h"

/* The operand FILE, FOLDER, ARCHIVE or "-" (standard input) of a command, and options. */
typedef struct cli_robot_source {
    const char *operand;
    const char *main;   /* --main; NULL: none */
    const char *path;   /* --path; NULL: none */
    bool        meshes; /* also gather meshes of URDF, whose inertias a robot does not need */
} cli_robot_source;

typedef struct cli_robot {
    api_files       files; /* the robot's file and what it names; n is 0 for an archive, a document or standard input */
    api_file_entry *entry; /* [capacity] of files */
    size_t          capacity, bytes;
    char           *text; /* [length] of the file or archive */
    size_t          length;
    const char     *path;    /* path of the text among the files; NULL: it is alone */
    size_t          common;  /* length of the folder that all paths have in common, which an archive may leave out */
    size_t          missing; /* names that lead to no file */
    char            error[600];
} cli_robot;

/* Reads and gathers. False with robot->error; it is "" if a message was printed already, as by xacro. The caller calls
 * cli_robot_free in any case. */
bool cli_robot_gather(cli_robot *robot, const cli_robot_source *source);
void cli_robot_free(cli_robot *robot);
