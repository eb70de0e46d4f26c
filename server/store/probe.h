/* probe.h - find out whether a file of some size can be written to a folder now. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { SRV_PROBE_LEAST = 4096, SRV_PROBE_MOST = 16 << 20 }; /* bytes */

/* Writes a file of `bytes` bytes (SRV_PROBE_LEAST to SRV_PROBE_MOST) and deletes it. `sync`: also waits for the disk to
 * confirm it. False with errno. */
bool srv_probe_folder(int folder, size_t bytes, bool sync);
