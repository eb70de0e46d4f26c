/* test_zip.c - checks the reader and the writer of zip archives: a written archive reads back, a deflated file, and
 * every archive with a changed byte. */
#include "server/cli/client/zip.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct found {
    char   name[20], content[40]; /* name and content of the last file, shortened */
    size_t files, bytes;
} found;

static bool keep_file(void *arg, const cli_zip_entry *entry)
{
    found *f = arg;
    f->files++;
    f->bytes += entry->length;
    snprintf(f->name, sizeof f->name, "%.*s", (int)entry->name_length, entry->name);
    snprintf(f->content, sizeof f->content, "%.*s", (int)entry->length, entry->bytes);
    return true;
}

/* Reads from an allocation of exactly that length, where a sanitizer notices a read beyond the end. */
static bool unzip(const char *bytes, size_t length, size_t most, found *f)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    *f        = (found){0};
    bool good = cli_zip_read(copy, length, "test", most, keep_file, f);
    free(copy);
    return good;
}

static cli_zip two_files(void)
{
    cli_zip zip = {0};
    assert_true(cli_zip_add(&zip, "b.npy", "", 0));
    assert_true(cli_zip_add(&zip, "a.npy", "hello", 5));
    assert_true(cli_zip_finish(&zip));
    cli_text_free(&zip.directory);
    return zip;
}

static void test_stored_files_read_back(void **state)
{
    found   f;
    cli_zip zip = two_files();
    assert_true(unzip(zip.bytes.bytes, zip.bytes.length, 100, &f));
    assert_int_equal(f.files, 2);
    assert_string_equal(f.name, "a.npy");
    assert_string_equal(f.content, "hello");
    assert_false(unzip(zip.bytes.bytes, zip.bytes.length, 4, &f)); /* more bytes than may be unpacked */
    for (size_t length = 0; length < zip.bytes.length; length++)
        assert_false(unzip(zip.bytes.bytes, length, 100, &f));
    cli_text_add(&zip.bytes, "a comment", 9);
    assert_true(unzip(zip.bytes.bytes, zip.bytes.length, 100, &f));
    cli_text_free(&zip.bytes);
}

/* An archive that Python's zipfile wrote: 24 times "a", deflated to five bytes. */
static const unsigned char deflated[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x84, 0x7a, 0x02, 0xe6,
    0x05, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x61, 0x4b, 0x4c, 0xc4, 0x0e, 0x00,
    0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x84, 0x7a,
    0x02, 0xe6, 0x05, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x61, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x01, 0x00, 0x2f, 0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00, 0x00};
enum { SIZE_AT = 36 + 24, METHOD_AT = 36 + 10, FLAGS_AT = 36 + 8 }; /* fields of the central header */

static void test_deflated(void **state)
{
    found f;
    char  bytes[sizeof deflated];
    memcpy(bytes, deflated, sizeof bytes);
    assert_true(unzip(bytes, sizeof bytes, 100, &f));
    assert_string_equal(f.content, "aaaaaaaaaaaaaaaaaaaaaaaa");
    bytes[SIZE_AT] = 23; /* the content is one byte longer than the directory says */
    assert_false(unzip(bytes, sizeof bytes, 100, &f));
    bytes[SIZE_AT] = 25;
    assert_false(unzip(bytes, sizeof bytes, 100, &f));
    bytes[SIZE_AT]   = 24;
    bytes[METHOD_AT] = 12; /* bzip2 */
    assert_false(unzip(bytes, sizeof bytes, 100, &f));
    bytes[METHOD_AT] = 8;
    bytes[FLAGS_AT]  = 1; /* encrypted */
    assert_false(unzip(bytes, sizeof bytes, 100, &f));
}

/* Changes every byte: the archive must be refused, or its files must stay within their bounds and pass their
 * checksums. */
static void check_all_changes(const char *bytes, size_t length)
{
    found  f;
    size_t accepted = 0, tried = 0;
    char  *changed = malloc(length);
    assert_non_null(changed);
    for (size_t i = 0; i < length; i++)
        for (unsigned value = 0; value < 256; value += 3) {
            memcpy(changed, bytes, length);
            changed[i] = (char)value;
            tried++;
            accepted += unzip(changed, length, 100, &f);
            assert_true(f.bytes <= 100);
        }
    free(changed);
    assert_true(accepted < tried / 2 + tried / 4);
}

static void test_every_changed_byte(void **state)
{
    cli_zip zip    = two_files();
    int     errors = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO); /* hides thousands of messages */
    check_all_changes(zip.bytes.bytes, zip.bytes.length);
    check_all_changes((const char *)deflated, sizeof deflated);
    dup2(errors, STDERR_FILENO);
    close(errors);
    close(null);
    cli_text_free(&zip.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_files_read_back),
        cmocka_unit_test(test_deflated),
        cmocka_unit_test(test_every_changed_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
