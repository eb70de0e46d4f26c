/* sundials_memory.h - allocates memory for SUNDIALS, and jumps out of SUNDIALS when memory is short.
 *
 * SUNDIALS 6.4.1 uses the results of many allocations without a check. The build therefore replaces malloc and its kin
 * in a copy of the static library by the functions of sundials_memory.c. The functions list all blocks of an
 * integrator. If an allocation fails, the functions jump out of SUNDIALS to dyn_sundials_run; then all blocks are freed
 * at once, and no destructor of SUNDIALS runs. */
#pragma once
#include <setjmp.h>
#include <stdbool.h>

typedef struct dyn_sundials_memory {
    struct dyn_sundials_block *blocks; /* all blocks that SUNDIALS holds; NULL: none */
    jmp_buf                    escape; /* valid during dyn_sundials_run */
} dyn_sundials_memory;

/* Calls work(arg), which may call SUNDIALS; every call of SUNDIALS must be made in this way. Returns its result in
 * `*result`. False: memory was short, `work` was left where it called SUNDIALS, and the objects of SUNDIALS must not be
 * used any more. */
bool dyn_sundials_run(dyn_sundials_memory *memory, bool (*work)(void *arg), void *arg, bool *result);

void dyn_sundials_free_all(dyn_sundials_memory *memory);
