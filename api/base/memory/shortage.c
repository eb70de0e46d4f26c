/* shortage.c - see shortage.h. */
#include "shortage.h"
#include "jansson_memory.h"
#include <jansson.h>
#include <lapacke.h>
#include <libxml/xmlmemory.h>
#include <stdlib.h>
#include <string.h>

/* LAPACKE calls this function when a call fails. The library's own function prints to standard output; this one only
 * notes a lack of memory. A wrong argument is a defect of the calling function, which the return value shows. */
void LAPACKE_xerbla(const char *name, lapack_int info);
void LAPACKE_xerbla(const char *name, lapack_int info)
{
    (void)name;
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) api_shortage_note();
}

static _Thread_local bool is_short;

void api_shortage_forget(void)
{
    is_short = false;
}

void api_shortage_note(void)
{
    is_short = true;
}

bool api_shortage_check(api_problem *problem)
{
    if (!is_short) return false;
    api_problem_clear(problem);
    api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the request");
    return true;
}

static void *noted(void *memory)
{
    if (!memory) is_short = true;
    return memory;
}

static void *note_malloc(size_t bytes)
{
    return noted(malloc(bytes > 0 ? bytes : 1));
}

static void *note_realloc(void *memory, size_t bytes)
{
    return noted(realloc(memory, bytes > 0 ? bytes : 1));
}

static char *note_strdup(const char *text)
{
    return noted(strdup(text));
}

void api_shortage_watch_libraries(void)
{
    json_set_alloc_funcs(api_jansson_malloc, api_jansson_free);
    xmlMemSetup(free, note_malloc, note_realloc, note_strdup);
}
