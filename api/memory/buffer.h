/* buffer.h - a growable run of bytes that must be given a maximum. Owner: whoever declared it; api_buffer_free
 * gives the memory back, api_buffer_take hands it over. After the first failure (no memory, over the
 * maximum) `failed` stays set and further writes do nothing, so that writers check once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct api_buffer {
    char  *data;
    size_t length, capacity, maximum;
    bool   failed;
} api_buffer;

void  api_buffer_init(api_buffer *buffer, size_t maximum);
char *api_buffer_room(api_buffer *buffer, size_t bytes); /* space for that many more, or NULL; length unchanged */
void  api_buffer_put(api_buffer *buffer, const void *bytes, size_t length);
void  api_buffer_text(api_buffer *buffer, const char *text);
void  api_buffer_format(api_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *api_buffer_take(api_buffer *buffer); /* NUL-terminated, caller frees; NULL when it failed */
void  api_buffer_free(api_buffer *buffer);
