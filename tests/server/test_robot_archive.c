/* test_robot_archive.c - reads archives by api_archive_open: claims of memory, cut and changed bytes, and limits.
 * Archives of all kinds from other programs: tests/e2e/robots/test_archives.py. */
#include "api/archive/archive.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BLOCK = 512 };

static const char form[] =
    "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"r/a.xml\"\r\n\r\n<mujoco/>\r\n"
    "--b\r\ncontent-disposition: form-data; filename=\"b.stl\"; name=\"r/m/b.stl\"\r\n\r\n\r\n--b--\r\n";

/* An archive that Python's zipfile wrote: 24 times "a", deflated to five bytes. */
static const unsigned char zip[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x84, 0x7a, 0x02, 0xe6,
    0x05, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x61, 0x4b, 0x4c, 0xc4, 0x0e, 0x00,
    0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x84, 0x7a,
    0x02, 0xe6, 0x05, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x61, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00,
    0x00, 0x01, 0x00, 0x01, 0x00, 0x2f, 0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00, 0x00};

/* Writes the sum of a tar header. */
static void put_sum(char *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum & 0777777);
}

/* Writes a tar header of ustar with its sum, and the content behind it; returns the bytes. */
static size_t add_tar(char *to, const char *name, char type, const char *content)
{
    size_t n = strlen(content), padded = (n + BLOCK - 1) / BLOCK * BLOCK;
    memset(to, 0, BLOCK + padded);
    snprintf(to, 100, "%s", name);
    snprintf(to + 124, 12, "%08o", (unsigned)n);
    to[156] = type;
    memcpy(to + 257, "ustar\00000", 8);
    put_sum(to);
    memcpy(to + BLOCK, content, n);
    return BLOCK + padded;
}

/* Opens from an allocation of exactly that length, where a sanitizer notices a read beyond the end; all claims must be
 * given back. Returns true if the archive is read. */
static bool opens(const char *bytes, size_t length, size_t budget_limit, api_problem *problem, size_t *files)
{
    api_budget  budget  = {.limit = budget_limit};
    api_share   share   = {.budget = &budget};
    api_archive archive = {.share = &share, .most = 1 << 20};
    char       *copy    = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    api_problem_clear(problem);
    bool read = api_archive_open(&archive, api_archive_kind_of(copy, length), copy, length, problem);
    assert_int_equal(read, problem->code == API_NO_PROBLEM);
    *files = archive.files.n;
    for (size_t i = 1; read && i < archive.files.n; i++)
        assert_true(strcmp(archive.files.entry[i - 1].path, archive.files.entry[i].path) < 0);
    api_archive_close(&archive);
    assert_int_equal(budget.used, 0);
    free(copy);
    return read;
}

/* Opens an archive of one file, which must have this path and content. */
static void expect_file(const char *bytes, size_t length, const char *path, const char *content)
{
    api_archive archive = {.most = 1 << 20};
    api_problem problem;
    api_problem_clear(&problem);
    if (!api_archive_open(&archive, api_archive_kind_of(bytes, length), bytes, length, &problem))
        fail_msg("%s: %s", path, problem.detail);
    assert_int_equal(archive.files.n, 1);
    assert_string_equal(archive.files.entry[0].path, path);
    assert_int_equal(archive.files.entry[0].length, strlen(content));
    assert_memory_equal(archive.files.entry[0].bytes, content, strlen(content));
    api_archive_close(&archive);
}

static void forms(void **state)
{
    char        tar[10 * BLOCK] = "";
    api_problem problem;
    size_t      files, length = add_tar(tar, "./r/", '5', "");
    (void)state;
    length += add_tar(tar + length, "r/a.xml", '0', "<mujoco/>");
    length += add_tar(tar + length, "r/b.stl", '\0', "");
    assert_true(opens(tar, length + BLOCK, 1 << 20, &problem, &files));
    assert_int_equal(files, 2);
    assert_true(opens((const char *)zip, sizeof zip, 1 << 20, &problem, &files));
    assert_int_equal(files, 1);
    assert_true(opens(form, sizeof form - 1, 1 << 20, &problem, &files));
    assert_int_equal(files, 2);
}

/* Every cut is refused; every changed byte is read or refused, without a read beyond the end. */
static void damage(void **state)
{
    api_problem problem;
    size_t      files;
    struct {
        const char *bytes;
        size_t      length;
    } whole[] = {{(const char *)zip, sizeof zip}, {form, sizeof form - 5}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char *changed = malloc(whole[k].length);
        assert_non_null(changed);
        for (size_t i = 0; i < whole[k].length; i++) {
            assert_false(opens(whole[k].bytes, i, 1 << 20, &problem, &files));
            for (unsigned bit = 0; bit < 8; bit++) {
                memcpy(changed, whole[k].bytes, whole[k].length);
                changed[i] = (char)(changed[i] ^ 1 << bit);
                opens(changed, whole[k].length, 1 << 20, &problem, &files);
            }
        }
        free(changed);
    }
}

/* If the budget is exhausted, the archive is refused before memory is allocated. */
static void budget(void **state)
{
    api_problem problem;
    size_t      files;
    (void)state;
    assert_false(opens((const char *)zip, sizeof zip, 10, &problem, &files));
    assert_int_equal(problem.code, API_TOO_MUCH_MEMORY);
}

/* A pax header gives the file after it another name; malformed records and unsafe names are refused. */
static void pax_headers(void **state)
{
    char                     tar[20 * BLOCK] = "";
    api_problem              problem;
    size_t                   files, length;
    static const char *const bad[] = {"9 path=a",
                                      "0 path=a\n",
                                      "99 path=a\n",
                                      "x path=a\n",
                                      "10 path=a\n9",
                                      "9 pathxa\n",
                                      "12 size=-123\n",
                                      "11 size=9x\n",
                                      "12 path=../a\n",
                                      "22 GNU.sparse.major=1\n",
                                      "30 size=99999999999999999999\n"};
    (void)state;
    length = add_tar(tar, "PaxHeader", 'x', "22 path=long/name.xml\n");
    length += add_tar(tar + length, "short.xml", '0', "<mujoco/>");
    assert_true(opens(tar, length + BLOCK, 1 << 20, &problem, &files));
    assert_int_equal(files, 1);
    expect_file(tar, length + BLOCK, "long/name.xml", "<mujoco/>");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(tar, 0, sizeof tar);
        length = add_tar(tar, "PaxHeader", 'x', bad[i]);
        length += add_tar(tar + length, "short.xml", '0', "<mujoco/>");
        if (opens(tar, length + BLOCK, 1 << 20, &problem, &files)) fail_msg("%s is read", bad[i]);
        assert_int_equal(problem.code, API_BAD_ARCHIVE);
    }
}

/* A file of 8 GiB or more has its size in a pax header alone; so may any other, whose own header then says 0. */
static void sizes_of_pax_headers(void **state)
{
    char   tar[20 * BLOCK] = "", long_file[3 * BLOCK / 2] = "";
    size_t length;
    (void)state;
    memset(long_file, 'a', sizeof long_file - 1);
    length       = add_tar(tar, "PaxHeader", 'x', "12 size=767\n");
    char *header = tar + length;
    length += add_tar(header, "long.xml", '0', long_file);
    snprintf(header + 124, 12, "%08o", 0U);
    put_sum(header);
    length += add_tar(tar + length, "seen.png", '0', "behind it");
    expect_file(tar, length + BLOCK, "long.xml", long_file);
}

/* GNU tar has times where ustar has the beginning of the name. */
static void prefixes_of_names(void **state)
{
    char   tar[20 * BLOCK] = "";
    size_t length          = add_tar(tar, "b/c.xml", '0', "<mujoco/>");
    (void)state;
    memcpy(tar + 345, "14735523061", 11);
    put_sum(tar);
    expect_file(tar, length + BLOCK, "14735523061/b/c.xml", "<mujoco/>");
    memcpy(tar + 257, "ustar  ", 8);
    put_sum(tar);
    expect_file(tar, length + BLOCK, "b/c.xml", "<mujoco/>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(damage),
        cmocka_unit_test(budget),
        cmocka_unit_test(pax_headers),
        cmocka_unit_test(sizes_of_pax_headers),
        cmocka_unit_test(prefixes_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
