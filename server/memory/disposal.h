/* disposal.h - free large blocks on a thread of their own.
 *
 * malloc maps a block of 32 MiB or more on its own. To return it to the kernel takes 80 us for each MiB: one answer of
 * 70 MiB held all connections of its loop for 5.7 ms. A block that realloc has made smaller stays mapped on its own,
 * whatever its size, and nothing tells whether it is. There is one disposal for the process, because a library that
 * frees a block tells nothing but the block. */
#pragma once

enum { SRV_MAPPED_BYTES = 32 << 20 };  /* size from which malloc maps a block on its own; glibc's maximum */
enum { SRV_DISPOSED_BYTES = 8 << 20 }; /* size from which a block may take more than 0.5 ms to free */

/* Starts the thread. Before it, after its end, and if there is none to be had, srv_dispose frees at once. */
void srv_disposal_start(void);

/* Frees what waits and ends the thread. */
void srv_disposal_stop(void);

/* Frees a block of malloc, or NULL: a large one later, any other at once. From any thread. */
void srv_dispose(void *block);
