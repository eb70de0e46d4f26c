/* format_options.c - lists the options of files and formats; see format_options.h. */
#include "format_options.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const cli_option cli_format_options[] = {
    {"base", "fixed|floating", CLI_WORDS, NULL,
     "URDF: whether the root link is fixed (default) or moves freely; SDF: instead of what the file says"},
    {"mimic", "independent|coupled|refuse", CLI_WORDS, NULL,
     "URDF, SDF: whether joints that mimic others move on their own (default of URDF), with them (default of SDF), or "
     "are "
     "refused"},
    {"inertia", "stated|collision|accept", CLI_WORDS, NULL,
     "URDF: whether links without an inertial have no mass (default) or the inertia of their collisions, or indefinite "
     "inertias load with a warning"},
    {"density", "KG/M3", CLI_NOTHING, NULL, "URDF: density of collisions that weigh (default 1000)"},
    {"zero-limits", "kept|none", CLI_WORDS, NULL,
     "URDF, SDF: whether limits of 0 keep joints from moving (default), or count as none, as for MuJoCo"},
    {"equality", "coupled|independent|refuse", CLI_WORDS, NULL,
     "MJCF: whether equalities become mimics and loops (default), are left out, or are refused"},
    {"loops", "closed|open", CLI_WORDS, NULL, "SDF: whether joints that close loops are loops (default) or left out"},
    {"model", "NAME", CLI_NOTHING, NULL, "SDF: the model to read, where several of the file are not static"},
    {.name = NULL},
};

const cli_option cli_file_options[] = {
    {"main", "PATH", CLI_NOTHING, NULL,
     "of a folder or archive: the file of the robot, relative to it; default: the only one that no other includes"},
    {"path", "FOLDER[:FOLDER]...", CLI_FILE, NULL,
     "folders of packages and models, for package:// and model://, before those of ROS_PACKAGE_PATH, AMENT_PREFIX_PATH "
     "and GZ_SIM_RESOURCE_PATH"},
    {"locked", "JOINT:POSITION,...", CLI_NOTHING, NULL,
     "hold joints for good: elbow:1.57, of a ball its quaternion, ball:0:0:0:1"},
    {.name = NULL},
};

/* Appends NAME=VALUE, the value percent-encoded. False if there is no room. */
static bool append_option(char query[CLI_QUERY], const char *name, const char *value)
{
    const size_t begin  = strlen(query);
    size_t       length = begin;
    if (begin + strlen(name) + 3 * strlen(value) + 3 > CLI_QUERY) return false;
    length += (size_t)snprintf(query + length, CLI_QUERY - length, "%s%s=", begin > 0 ? "&" : "", name);
    for (char *c = query + begin; *c; c++) /* zero-limits becomes zero_limits */
        if (*c == '-') *c = '_';
    for (const char *c = value; *c; c++) {
        const unsigned char byte  = (unsigned char)*c;
        const bool          plain = byte < 0x80 && (isalnum(byte) || strchr("-._~", byte));
        length += (size_t)snprintf(query + length, CLI_QUERY - length, plain ? "%c" : "%%%02X", byte);
    }
    return true;
}

bool cli_format_query(const cli_arguments *arguments, char query[CLI_QUERY])
{
    *query = '\0';
    for (const cli_option *o = cli_format_options; o->name; o++) {
        const char *value = cli_value(arguments, o->name);
        if (value && !append_option(query, o->name, value))
            return cli_error("--%s is too long: the options of a format fit in %d bytes", o->name, CLI_QUERY / 3);
    }
    const char *locked = cli_value(arguments, "locked");
    return !locked || append_option(query, "locked", locked) ||
           cli_error("--locked is too long: PUT a document with \"locked\"");
}
