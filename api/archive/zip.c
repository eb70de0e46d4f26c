/* zip.c - reads zip archives; see zip.h. Section numbers are those of APPNOTE.TXT. */
#include "zip.h"
#include "api/base/memory/shortage.h"
#include <string.h>
#include <zlib.h>

enum {
    END_SIZE     = 22, /* 4.3.16, without the comment */
    CENTRAL_SIZE = 46, /* 4.3.12, without name, extra field and comment */
    LOCAL_SIZE   = 30, /* 4.3.7 */
    COMMENT_MAX  = 65535,
    STORED       = 0,
    DEFLATED     = 8,
    ENCRYPTED    = 1, /* bit of the general purpose flag, 4.4.4 */
    BY_UNIX      = 3, /* 4.4.2 */
};
static const uint32_t END_MARK = 0x06054b50, CENTRAL_MARK = 0x02014b50, LOCAL_MARK = 0x04034b50;

static uint32_t get_little(const char *bytes, size_t width)
{
    uint32_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static bool fail_zip(api_problem *problem, const char *text)
{
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "the zip archive %s", text);
}

static bool fail_packed(api_problem *problem, const api_zip_entry *entry, const char *text)
{
    int shown = entry->name_length < 80 ? (int)entry->name_length : 80;
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "\"%.*s\" %s", shown, entry->name, text);
}

bool api_zip_begins(const char *bytes, size_t length)
{
    return length >= END_SIZE && (get_little(bytes, 4) == LOCAL_MARK || get_little(bytes, 4) == END_MARK);
}

/* Finds the record at the end, which a comment may follow; NULL if there is none. */
static const char *find_end(const char *bytes, size_t length)
{
    for (size_t back = END_SIZE; back <= length && back <= END_SIZE + COMMENT_MAX; back++)
        if (get_little(bytes + length - back, 4) == END_MARK) return bytes + length - back;
    return NULL;
}

bool api_zip_open(api_zip *zip, const char *bytes, size_t length, api_problem *problem)
{
    const char *end = length >= END_SIZE ? find_end(bytes, length) : NULL;
    if (!end)
        return api_fail(problem, API_BAD_ARCHIVE, NULL,
                        "this is no zip archive, or it is cut off: it has no directory");
    *zip = (api_zip){.bytes     = bytes,
                     .length    = length,
                     .directory = get_little(end + 16, 4),
                     .end       = (size_t)(end - bytes),
                     .files     = get_little(end + 10, 2)};
    if (get_little(end + 4, 2) != 0 || get_little(end + 8, 2) != zip->files)
        return fail_zip(problem, "has several parts: write it as one file");
    if (zip->files == UINT16_MAX || zip->directory == UINT32_MAX)
        return fail_zip(problem, "is in the form zip64, for more than 65534 files or 4 GB: write fewer files");
    return true;
}

/* Finds the data of an entry after its local header at an offset. */
static bool find_data(const api_zip *zip, size_t offset, api_zip_entry *entry, api_problem *problem)
{
    const char *local = zip->bytes + offset;
    if (offset > zip->length || zip->length - offset < LOCAL_SIZE || get_little(local, 4) != LOCAL_MARK)
        return fail_packed(problem, entry, "is not where the directory of the archive says");
    size_t behind = zip->length - offset - LOCAL_SIZE, name = get_little(local + 26, 2),
           skipped = name + get_little(local + 28, 2);
    if (skipped > behind || entry->packed_length > behind - skipped)
        return fail_packed(problem, entry, "is cut off in the archive");
    if (name != entry->name_length || memcmp(local + LOCAL_SIZE, entry->name, name) != 0)
        return fail_packed(problem, entry, "has two names in the archive");
    entry->packed = local + LOCAL_SIZE + skipped;
    return true;
}

static bool read_central(const api_zip *zip, const char *central, api_zip_entry *entry, api_problem *problem)
{
    uint32_t method = get_little(central + 10, 2), offset = get_little(central + 42, 4);
    *entry =
        (api_zip_entry){.name          = central + CENTRAL_SIZE,
                        .name_length   = get_little(central + 28, 2),
                        .packed_length = get_little(central + 20, 4),
                        .length        = get_little(central + 24, 4),
                        .checksum      = get_little(central + 16, 4),
                        .deflated      = method == DEFLATED,
                        .mode = get_little(central + 4, 2) >> 8 == BY_UNIX ? get_little(central + 38, 4) >> 16 : 0};
    if (get_little(central + 8, 2) & ENCRYPTED)
        return fail_packed(problem, entry, "is encrypted: archive it without a password");
    if (entry->packed_length == UINT32_MAX || entry->length == UINT32_MAX || offset == UINT32_MAX)
        return fail_packed(problem, entry, "is in the form zip64, for 4 GB or more: write a smaller archive");
    if (method != STORED && method != DEFLATED)
        return fail_packed(problem, entry, "has a compression other than deflate");
    if (method == STORED && entry->packed_length != entry->length)
        return fail_packed(problem, entry, "is stored with two sizes");
    return find_data(zip, offset, entry, problem);
}

bool api_zip_next(api_zip *zip, api_zip_entry *entry, api_problem *problem)
{
    const char *central = zip->bytes + zip->directory;
    if (zip->next == zip->files || zip->directory > zip->end || zip->end - zip->directory < CENTRAL_SIZE ||
        get_little(central, 4) != CENTRAL_MARK)
        return fail_zip(problem, "is damaged: its directory ends early");
    size_t size =
        CENTRAL_SIZE + get_little(central + 28, 2) + get_little(central + 30, 2) + get_little(central + 32, 2);
    if (size > zip->end - zip->directory) return fail_zip(problem, "is damaged: its directory ends early");
    zip->directory += size;
    zip->next++;
    return read_central(zip, central, entry, problem);
}

/* Unpacks a deflated entry into entry->length bytes exactly. */
static bool inflate_whole(const api_zip_entry *entry, char *to, api_problem *problem)
{
    char     nothing = 0; /* zlib takes no NULL */
    z_stream z       = {0};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) { /* negative: without a header of zlib */
        api_shortage_note();
        return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to unpack");
    }
    z.next_in   = (Bytef *)(uintptr_t)entry->packed;
    z.avail_in  = (uInt)entry->packed_length;
    z.next_out  = (Bytef *)(entry->length > 0 ? to : &nothing);
    z.avail_out = (uInt)entry->length;
    int  status = inflate(&z, Z_FINISH);
    bool whole  = status == Z_STREAM_END && z.total_out == entry->length;
    inflateEnd(&z);
    if (status != Z_MEM_ERROR) return whole || fail_packed(problem, entry, "is damaged: it does not unpack");
    api_shortage_note();
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to unpack");
}

bool api_zip_unpack(const api_zip_entry *entry, char *to, api_problem *problem)
{
    if (entry->deflated && !inflate_whole(entry, to, problem)) return false;
    if (!entry->deflated && entry->length > 0) memcpy(to, entry->packed, entry->length);
    return crc32_z(0, (const Bytef *)to, entry->length) == entry->checksum ||
           fail_packed(problem, entry, "is damaged: its checksum is wrong");
}
