/* container.c - recognises files that are no text; see container.h. */
#define _GNU_SOURCE /* memmem */
#include "container.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool begins_with(const char *bytes, size_t length, const char *word)
{
    size_t n = strlen(word);
    return length >= n && strncasecmp(bytes, word, n) == 0;
}

/* True without any byte but white space, after the byte order mark of UTF-8 if there is one. */
static bool has_only_white_space(const char *bytes, size_t length)
{
    size_t i = begins_with(bytes, length, "\xEF\xBB\xBF") ? 3 : 0;
    while (i < length && memchr(" \t\r\n", bytes[i], 4))
        i++;
    return i == length || (length < 3 && memcmp(bytes, "\xEF\xBB", length) == 0);
}

/* True for the byte order mark of UTF-16 or UTF-32, or a first character of markup next to NULs. */
static bool is_wide(const char *bytes, size_t length)
{
    if (length < 4) return false;
    if (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0) return true;
    bool little = (bytes[0] == '<' || bytes[0] == '{') && bytes[1] == '\0' && bytes[3] == '\0';
    bool big    = bytes[0] == '\0' && (bytes[1] == '<' || bytes[1] == '{') && bytes[2] == '\0';
    return little || big || memcmp(bytes, "\0\0\xFE\xFF", 4) == 0;
}

const char *api_container_fault(const char *bytes, size_t length, size_t *offset)
{
    *offset = 0;
    if (length == 0) return "is empty"; /* `bytes` may be NULL then */
    const char *nul  = memchr(bytes, '\0', length);
    size_t      last = length;
    if (has_only_white_space(bytes, length)) return "is empty";
    if (begins_with(bytes, length, "version https://git-lfs"))
        return "is a pointer of Git LFS, not the file itself: run git lfs pull where it was cloned";
    if (begins_with(bytes, length, "<!DOCTYPE html") || begins_with(bytes, length, "<html"))
        return "is an HTML page: download the file itself, on GitHub by Raw";
    if (begins_with(bytes, length, "#usda ") || begins_with(bytes, length, "PXR-USDC"))
        return "is OpenUSD, which is not read: export it as URDF or MJCF, as api/OPENUSD.md says";
    if (is_wide(bytes, length)) return "is UTF-16 or UTF-32: convert it by iconv -f UTF-16 -t UTF-8";
    if (!nul) return NULL;
    *offset = (size_t)(nul - bytes);
    while (last > 0 && bytes[last - 1] == '\0')
        last--;
    return last <= *offset ? "ends with NUL characters: remove them by tr -d '\\000'"
                           : "has NUL characters: it is no text, or remove them by tr -d '\\000'";
}
