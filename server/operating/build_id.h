/* build_id.h - tell the build identifier of this program.
 *
 * The linker computes it from the program's content: the same sources and libraries give the same identifier in any
 * folder. */
#pragma once

/* Returns 40 hexadecimal digits of static memory, or "" for a program that was linked without an identifier. The first
 * call must end before other threads call. */
const char *srv_build_id(void);
