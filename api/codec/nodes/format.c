/* format.c - list the formats of bodies. */
#include "format.h"

#define DECLARATION(NAME, name, suffix, ...) extern const api_format api_##name##_format;
API_FORMATS(DECLARATION)

const api_format *api_format_of(api_media media)
{
    static const api_format *const formats[API_FORMAT_COUNT] = {
#define ENTRY(NAME, name, suffix, ...) [API_MEDIA_##NAME] = &api_##name##_format,
        API_FORMATS(ENTRY)
#undef ENTRY
    };
    return formats[api_media_format(media)];
}
