/* buffer.c - see buffer.h. */
#include "buffer.h"
#include "shortage.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void api_buffer_init(api_buffer *buffer, size_t maximum)
{
    *buffer = (api_buffer){.maximum = maximum};
}

static char *fail(api_buffer *buffer)
{
    buffer->failed = true;
    return NULL;
}

/* Doubles the capacity, up to the maximum, so that writing n bytes copies O(n) bytes. Allocates one byte more than
 * the capacity: api_buffer_take writes a NUL after the text. */
char *api_buffer_room(api_buffer *buffer, size_t bytes)
{
    if (buffer->failed || bytes > buffer->maximum - buffer->length) return fail(buffer);
    size_t needed = buffer->length + bytes;
    if (needed <= buffer->capacity && buffer->data) return buffer->data + buffer->length;
    if (needed == SIZE_MAX) return fail(buffer);

    size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity <= SIZE_MAX / 2 ? 2 * capacity : needed;
    if (capacity > buffer->maximum) capacity = buffer->maximum;
    char *data = realloc(buffer->data, capacity + 1);
    if (!data) {
        api_shortage_note();
        return fail(buffer);
    }
    buffer->data     = data;
    buffer->capacity = capacity;
    return data + buffer->length;
}

void api_buffer_put(api_buffer *buffer, const void *bytes, size_t length)
{
    if (length == 0) return;
    char *room = api_buffer_room(buffer, length);
    if (!room) return;
    memcpy(room, bytes, length);
    buffer->length += length;
}

void api_buffer_text(api_buffer *buffer, const char *text)
{
    api_buffer_put(buffer, text, strlen(text));
}

void api_buffer_format(api_buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        buffer->failed = true;
    } else if (api_buffer_room(buffer, (size_t)length)) { /* api_buffer_room allocated one byte for the NUL */
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

char *api_buffer_take(api_buffer *buffer)
{
    char *data = NULL;
    if (!buffer->failed && api_buffer_room(buffer, 0)) {
        data                 = buffer->data;
        data[buffer->length] = '\0';
        buffer->data         = NULL;
    }
    api_buffer_free(buffer);
    return data;
}

void api_buffer_free(api_buffer *buffer)
{
    free(buffer->data);
    *buffer = (api_buffer){.maximum = buffer->maximum, .failed = buffer->failed};
}
