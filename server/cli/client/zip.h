/* zip.h - read and write zip archives, which .npz files are (PKWARE, APPNOTE.TXT 6.3.9).
 *
 * api/archive/zip.h reads the bytes, for the server too; stored files are written here. Archives of 4 GB (zip64), of
 * several parts, and encrypted ones are refused. */
#pragma once
#include "text.h"

typedef struct cli_zip_entry {
    const char *name; /* name[0..name_length) */
    size_t      name_length;
    const char *bytes; /* valid until `visit` returns */
    size_t      length;
} cli_zip_entry;

/* Calls `visit` for every file of an archive, until it returns false. `name` is for messages. At most `most` bytes are
 * unpacked in total. False after printing an error, or if `visit` returned false. */
bool cli_zip_read(const char *bytes, size_t length, const char *name, size_t most,
                  bool (*visit)(void *arg, const cli_zip_entry *entry), void *arg);

/* Writes an archive: add every file to `zip`, then finish it. Initialise with {0}. */
typedef struct cli_zip {
    cli_text bytes, directory; /* the archive; its central directory */
    size_t   files;
} cli_zip;

/* cli_zip_add adds a file, cli_zip_finish completes `bytes`; the caller frees both texts. Both functions return false
 * after printing an error: memory is short, or the archive would be larger than 4 GB. */
bool cli_zip_add(cli_zip *zip, const char *name, const char *bytes, size_t length);
bool cli_zip_finish(cli_zip *zip);
