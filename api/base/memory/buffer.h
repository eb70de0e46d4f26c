/* buffer.h - collect bytes in a growable buffer with a maximum size.
 *
 * The declarer of an api_buffer owns the memory: api_buffer_free frees it, api_buffer_take transfers it to the
 * caller. After the first failure (no memory, or the maximum exceeded) `failed` stays true and further writes do
 * nothing. Writers therefore check `failed` once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct api_buffer {
    char  *data;
    size_t length, capacity, maximum;
    bool   failed;
} api_buffer;

void  api_buffer_init(api_buffer *buffer, size_t maximum);
char *api_buffer_room(api_buffer *buffer, size_t bytes); /* space for `bytes` more, or NULL; does not change `length` */
void  api_buffer_put(api_buffer *buffer, const void *bytes, size_t length);
void  api_buffer_text(api_buffer *buffer, const char *text);
void  api_buffer_format(api_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *api_buffer_take(api_buffer *buffer); /* NUL-terminated, freed by the caller; NULL if `failed` */
void  api_buffer_free(api_buffer *buffer);
