/* packages.h - find packages of ROS and models of Gazebo in the folders that the user names. */
#pragma once
#include "api/robot_files.h"

/* Finds the folder of a package or model for a file in `folder`, an absolute path without its first "/", in this order:
 * a folder around `folder` that has this name or a package.xml with it, or is beside such a folder; a folder of this
 * name in `folder`; one in a folder of `path`, ROS_PACKAGE_PATH, AMENT_PREFIX_PATH or GZ_SIM_RESOURCE_PATH, or in
 * share/ or src/ there. `path`: folders with ":" between them, or NULL. False: there is none. */
bool cli_package_find(const char *name, const char *folder, const char *path, char found[API_FILE_PATH]);
