/* main_file.h - choose the file among several from which a robot is read. */
#pragma once
#include "api/base/memory/budget.h"
#include "api/problem.h"
#include "files.h"

/* Returns the only file of a robot that no other of the files includes: an XML file whose outermost element is <robot>,
 * <mujoco> or <sdf>. NULL with `bad-archive`, which lists the candidates; memory for parsing is claimed from `share`,
 * unless that is NULL. */
const api_file_entry *api_main_file(const api_files *files, api_share *share, api_problem *problem);
