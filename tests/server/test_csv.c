/* test_csv.c - checks the readers of states in CSV and in JSON lines: headers in every form, rows in parts, and the
 * message for every type of mistake. */
#include "server/cli/client/csv.h"
#include "server/cli/client/json_lines.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static cli_coordinates two, free_base;

static int read_models(void **state)
{
    return cli_coordinates_read("{\"position_names\":[\"a\",\"b,\\\"c\"],\"velocity_names\":[\"a\",\"b,\\\"c\"]}",
                                &two) &&
                   cli_coordinates_read("{\"position_names\":[\"x\",\"y\"],\"velocity_names\":[\"v\"]}", &free_base)
               ? 0
               : -1;
}

static int free_models(void **state)
{
    cli_coordinates_free(&two);
    cli_coordinates_free(&free_base);
    return 0;
}

/* --- captured standard error -------------------------------------------------------------------------------------- */

static FILE *caught;
static int   kept;

static void catch_errors(void)
{
    fflush(stderr);
    caught = tmpfile();
    kept   = dup(STDERR_FILENO);
    assert_non_null(caught);
    dup2(fileno(caught), STDERR_FILENO);
}

static const char *caught_errors(void)
{
    static char text[1000];
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(caught);
    text[fread(text, 1, sizeof text - 1, caught)] = '\0';
    fclose(caught);
    return text;
}

/* --- CSV -----------------------------------------------------------------------------------------------------------
 */

static cli_csv open_csv(const char *text, const cli_coordinates *c, const char *fields)
{
    return (cli_csv){.file        = fmemopen((void *)(uintptr_t)text, strlen(text), "r"),
                     .name        = "test",
                     .coordinates = c,
                     .fields      = fields};
}

static void assert_read(const char *text, const char *fields, const char *path, const double *expected, size_t rows)
{
    cli_csv   csv   = open_csv(text, &two, fields);
    cli_batch batch = {0};
    assert_true(cli_csv_open(&csv));
    assert_true(cli_csv_read(&csv, 10, &batch));
    assert_int_equal(batch.rows, rows);
    const cli_array *array = cli_batch_find(&batch, path);
    assert_non_null(array);
    assert_memory_equal(array->values, expected, rows * array->entries * sizeof *expected);
    cli_batch_free(&batch);
    cli_csv_close(&csv);
    fclose(csv.file);
}

static void test_headers(void **state)
{
    static const double rows[] = {1, 2, 3, -0.0};
    assert_read("q1,q2\n1,2\n3,-0\n", NULL, "q", rows, 2);
    assert_read("q2,q1\n2,1\n-0.0,3\n", NULL, "q", rows, 2);
    assert_read("\xef\xbb\xbfq.1;q.2\r\n1;2\r\n\r\n# three\r\n3;-0e0", NULL, "q", rows, 2);
    assert_read("q.a\t\"q.b,\"\"c\"\n1\t2\n3\t-0\n", NULL, "q", rows, 2);
    assert_read("time, qd.a , \"qd.b,\"\"c\" ,note\n0,1,2,x\n0.1, 3 ,\"-0\",y\n", "q,qd", "qd", rows, 2);
    assert_read("q1,q2,tau1,tau2\n7,7,1,2\n7,7,3,-0", "tau", "tau", rows, 2);
    assert_read("q1,q2\n", NULL, "q", rows, 0);
    static const double odd[] = {0.1, 1e-320, 1.7976931348623157e308, 5e-324};
    assert_read("q1,q2\n+.1,1e-320\n1.7976931348623157e308,5e-324\n", NULL, "q", odd, 2);
}

/* Names of two coordinates, and headers that contain them. */
static const struct {
    const char *names, *header;
} unusual_headers[] = {
    {"\"semi;colon\",\"b\"", "\"q.semi;colon\",q.b"},
    {"\"semi;colon\",\"b\"", "q.semi;colon,q.b"},
    {"\"semi;colon\",\"b\"", "\"q.semi;colon\";q.b"},
    {"\"com,ma\",\"b\"", "q.com,ma;q.b"},
    {"\"com,ma\",\"semi;colon\"", "q.com,ma\tq.semi;colon"},
    {"\"trail \",\" lead\"", "\"q.trail \",\"q. lead\""},
    {"\"trail \",\" lead\"", " \"q.trail \" , q. lead "},
    {"\"quo\\\"te\",\"b\"", "\"q.quo\"\"te\",q.b"},
    {"\"quo\\\"te\",\"b;\"", "q.quo\"te,q.b;"},
    {"\"a;b,c\",\"d,e;f\"", "\"q.a;b,c\",\"q.d,e;f\""},
    {"\"#\",\"2\"", "q.#,q.2"},
    {"\"a\",\"b\"", "q a [rad],q b [m]"},
    {"\"a [1]\",\"a\"", "q a [1] [rad],q a [rad]"},
    {"\"a [1]\",\"a\"", "q a [1],q a"},
    {"\"trail \",\"b[\"", "q trail  [rad],q b[ [rad]"},
};

/* Names may have separators, quotes and blanks at their ends. A header in quotes must contain them literally; a header
 * without quotes is divided where most cells are names. */
static void test_names(void **state)
{
    for (size_t i = 0; i < sizeof unusual_headers / sizeof unusual_headers[0]; i++) {
        char            model[200], text[200];
        cli_coordinates c;
        cli_batch       batch = {0};
        const bool  semicolon = strstr(unusual_headers[i].header, ";q.b") || strstr(unusual_headers[i].header, "ma;q");
        const char *separator = strchr(unusual_headers[i].header, '\t') ? "\t" : semicolon ? ";" : ",";
        snprintf(model, sizeof model, "{\"position_names\":[%s],\"velocity_names\":[%s]}", unusual_headers[i].names,
                 unusual_headers[i].names);
        snprintf(text, sizeof text, "%s\n1%s2\n", unusual_headers[i].header, separator);
        assert_true(cli_coordinates_read(model, &c));
        cli_csv csv = open_csv(text, &c, NULL);
        if (!cli_csv_open(&csv) || !cli_csv_read(&csv, 10, &batch))
            fail_msg("%s is not read", unusual_headers[i].header);
        assert_int_equal(batch.rows, 1);
        assert_memory_equal(batch.arrays[0].values, ((double[]){1, 2}), 2 * sizeof(double));
        cli_batch_free(&batch);
        cli_csv_close(&csv);
        cli_coordinates_free(&c);
        fclose(csv.file);
    }
}

static void test_one_column(void **state)
{
    static const char *const headers[] = {"q.semi;colon", "\"q.semi;colon\"", "q.semi;colon;", "q", "q1"};
    cli_coordinates          one;
    assert_true(cli_coordinates_read("{\"position_names\":[\"semi;colon\"],\"velocity_names\":[\"x\"]}", &one));
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "%s\n3\n", headers[i]);
        cli_csv    csv   = open_csv(text, &one, NULL);
        cli_batch  batch = {0};
        const bool good  = i != 2;
        catch_errors();
        assert_int_equal(cli_csv_open(&csv) && cli_csv_read(&csv, 10, &batch), good);
        const char *said = caught_errors();
        if (good)
            assert_true(batch.arrays[0].values[0] == 3);
        else
            assert_non_null(strstr(said, "names no coordinate"));
        cli_batch_free(&batch);
        cli_csv_close(&csv);
        fclose(csv.file);
    }
    cli_coordinates_free(&one);
}

static void test_not_finite(void **state)
{
    cli_csv   csv   = open_csv("q1,q2\nnan,-inf\n", &two, NULL);
    cli_batch batch = {0};
    assert_true(cli_csv_open(&csv) && cli_csv_read(&csv, 10, &batch));
    assert_true(isnan(batch.arrays[0].values[0]) && batch.arrays[0].values[1] == -INFINITY);
    cli_batch_free(&batch);
    cli_csv_close(&csv);
    fclose(csv.file);
}

static void test_parts(void **state)
{
    cli_csv csv = open_csv("q1,q2\n1,2\n\n3,4\n5,6", &two, NULL);
    assert_true(cli_csv_open(&csv));
    for (size_t part = 0; part < 3; part++) {
        static const size_t rows[] = {2, 1, 0}, lines[] = {2, 5};
        cli_batch           batch = {0};
        assert_true(cli_csv_read(&csv, 2, &batch));
        assert_int_equal(batch.rows, rows[part]);
        if (rows[part] > 0) assert_int_equal(batch.lines[0], lines[part]);
        cli_batch_free(&batch);
    }
    cli_csv_close(&csv);
    fclose(csv.file);
}

static void assert_csv_refused(const char *text, const cli_coordinates *c, const char *fields, const char *said)
{
    cli_csv   csv   = open_csv(text, c, fields);
    cli_batch batch = {0};
    catch_errors();
    bool        good  = cli_csv_open(&csv) && cli_csv_read(&csv, 10, &batch);
    const char *error = caught_errors();
    if (good || !strstr(error, said)) fail_msg("%s: \"%s\" does not say \"%s\"", text, error, said);
    cli_batch_free(&batch);
    cli_csv_close(&csv);
    fclose(csv.file);
}

static void test_csv_mistakes(void **state)
{
    assert_csv_refused("\n", &two, NULL, "test is empty");
    assert_csv_refused("0.5,1\n", &two, NULL, "test line 1, column 1: \"0.5\" names no coordinate");
    assert_csv_refused("q1,q3\n", &two, NULL,
                       "column 2: \"q3\" names no coordinate; the header must have names such as q.a");
    assert_csv_refused("q1,q0\n", &two, NULL, "column 2: \"q0\"");
    assert_csv_refused("q1,q99999999999999999999\n", &two, NULL, "column 2");
    assert_csv_refused("q\n1\n", &two, NULL, "\"q\" names no coordinate");
    assert_csv_refused("q1,\"q2\n", &two, NULL, "a quote is not closed");
    assert_csv_refused("q1,q1,q2\n", &two, NULL, "columns 1 and 2 are the same coordinate");
    assert_csv_refused("q1,q.a,q2\n", &two, NULL, "columns 1 and 2 are the same coordinate");
    assert_csv_refused("q1,qd1,qd2\n", &two, NULL, "q has 2 coordinates, and the column q.b,\"c is missing");
    assert_csv_refused("time\n1\n", &two, NULL, "column 1: \"time\"");
    assert_csv_refused("time\n1\n", &two, "q", "no column to send");
    assert_csv_refused("q1,q2\n1\n", &two, NULL, "test line 2 has 1 values; its header has 2 columns");
    assert_csv_refused("q1,q2\n1,2\n\n1,2,3,4\n", &two, NULL, "test line 4 has 4 values");
    assert_csv_refused("q1,q2\n1,\n", &two, NULL, "line 2, column 2: \"\" is not a number");
    assert_csv_refused("q1,q2\n1,2x\n", &two, NULL, "\"2x\" is not a number");
    assert_csv_refused("q1,q2\n1,0x10\n", &two, NULL, "\"0x10\" is not a number");
    assert_csv_refused("q1,q2\n1,--inf\n", &two, NULL, "\"--inf\" is not a number");
    assert_csv_refused("q1,q2\n1,\"2\n", &two, NULL, "line 2: a quote is not closed");
    assert_csv_refused("q1,q2,qd2\n", &free_base, NULL, "column 3: \"qd2\"");
}

/* --- JSON lines ----------------------------------------------------------------------------------------------------
 */

static void assert_lines(const char *text, const char *fields, const char *said, size_t rows)
{
    cli_json_lines lines = {
        .file = fmemopen((void *)(uintptr_t)text, strlen(text), "r"), .name = "test", .fields = fields};
    cli_batch batch = {0};
    catch_errors();
    bool        good  = cli_json_lines_read(&lines, 10, &batch);
    const char *error = caught_errors();
    if (good == (said != NULL) || (said && !strstr(error, said)))
        fail_msg("%s: \"%s\" is not \"%s\"", text, error, said ? said : "");
    if (good) assert_int_equal(batch.rows, rows);
    cli_batch_free(&batch);
    cli_json_lines_close(&lines);
    fclose(lines.file);
}

static void test_too_many_columns(void **state)
{
    enum { COLUMNS = (1 << 16) + 1 };
    char *text = malloc(2 * COLUMNS + 1);
    assert_non_null(text);
    for (size_t i = 0; i < COLUMNS; i++)
        memcpy(text + 2 * i, "x,", 2);
    text[2 * COLUMNS] = '\0';
    cli_csv csv       = open_csv(text, &two, "q");
    catch_errors();
    bool        opened = cli_csv_open(&csv);
    const char *said   = caught_errors();
    assert_false(opened);
    assert_non_null(strstr(said, "test has more than 65536 columns"));
    cli_csv_close(&csv);
    free(text);
}

static void test_json_lines(void **state)
{
    assert_lines("{\"q\":[1,2]}\n\n{\"q\":[3,4]}", NULL, NULL, 2);
    assert_lines("{\"q\":[1,2],\"note\":\"x\"}\n{\"q\":[3,4],\"note\":1}", "q", NULL, 2);
    assert_lines("{\"m\":[[1,2],[3,4]],\"s\":1}\n{\"s\":2,\"m\":[[1,2],[3,4]]}\n", NULL, NULL, 2);
    assert_lines("\n", NULL, NULL, 0);
    assert_lines("[1]\n", NULL, "test line 1: no object", 0);
    assert_lines("{\"q\":[1,2]\n", NULL, "test line 1: ", 0);
    assert_lines("{\"q\":[1,2]}\n{\"q\":[1]}\n", NULL, "test line 2: q must have the shape", 0);
    assert_lines("{\"q\":[1,2]}\n{\"q\":[1,\"2\"]}\n", NULL, "test line 2: q must have the shape", 0);
    assert_lines("{\"q\":[1,2]}\n{\"qd\":[1,2]}\n", NULL, "test line 2: q must have the shape", 0);
    assert_lines("{\"q\":[1,2]}\n{\"q\":[1,2],\"qd\":[1,2]}\n", NULL, "other fields", 0);
    assert_lines("{\"q\":{\"a\":1}}\n", NULL, "q is no array of numbers", 0);
    assert_lines("{\"q\":[[1,2],[3]]}\n", NULL, "q is no array of numbers", 0);
    assert_lines("{\"q\":[[[[[[[[[[1]]]]]]]]]]}\n", NULL, "q is no array of numbers", 0);
    assert_lines("{}\n", NULL, "no field to send", 0);
    assert_lines("{\"q\":1,\"q\":2}\n", NULL, "test line 1: ", 0);
    assert_lines("{\"q\":1e999}\n", NULL, "test line 1: ", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),    cmocka_unit_test(test_not_finite),       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_one_column),       cmocka_unit_test(test_csv_mistakes),
        cmocka_unit_test(test_json_lines), cmocka_unit_test(test_too_many_columns),
    };
    return cmocka_run_group_tests(tests, read_models, free_models);
}
