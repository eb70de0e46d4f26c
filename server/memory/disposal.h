/* disposal.h - free large blocks on a thread of their own, and keep one of them for the next large answer.
 *
 * malloc maps a block of 32 MiB or more on its own. To return it to the kernel takes 80 us for each MiB: one answer of
 * 70 MiB held all connections of its loop for 5.7 ms. A block that realloc has made smaller stays mapped on its own,
 * whatever its size, and nothing tells whether it is. A mapped block costs a page fault and a page of zeros for every
 * 4 KiB: two thirds of the time of an answer of 34 MB. So the thread keeps one such block for 5 s. There is one
 * disposal for the process, because a library that frees a block tells nothing but the block. */
#pragma once
#include <stddef.h>

enum { SRV_MAPPED_BYTES = 32 << 20 };  /* size from which malloc maps a block on its own; glibc's maximum */
enum { SRV_KEPT_BYTES = 64 << 20 };    /* bytes that malloc keeps in each of its arenas */
enum { SRV_DISPOSED_BYTES = 8 << 20 }; /* size from which a block may take more than 0.5 ms to free */

/* Starts the thread. The block that it keeps has at most `kept` bytes of memory; 0: none is kept. Before the start,
 * after the end, and if there is no thread to be had, srv_dispose frees at once. */
void srv_disposal_start(size_t kept);

/* Frees the blocks that wait to be freed, and ends the thread. */
void srv_disposal_stop(void);

/* Frees a block of malloc, or NULL: a large one later, any other at once. From any thread. */
void srv_dispose(void *block);

/* Like srv_dispose, and returns the pages of the block to the kernel. In a burst, malloc would keep them, and to return
 * them later in one piece holds all threads that share its arena. */
void srv_dispose_pages(void *block);

/* Returns a mapped block of at least `bytes` bytes that was disposed of, which the caller frees; its content is
 * undefined. NULL: there is none, or malloc would not map a block of this size. From any thread. */
void *srv_disposal_take(size_t bytes);
