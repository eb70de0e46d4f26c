/* test_archive.c - exports all models as one text and imports them again; invalid archives must change nothing. */
#include "tests/api/support/disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const api_import_options strict = {.unverified = false}, any = {.unverified = true};

static char *exported(size_t *length)
{
    api_problem problem;
    api_problem_clear(&problem);
    char *archive = api_export(door_api(), "2026-11-28T22:00:00Z", length, &problem);
    assert_non_null(archive);
    assert_int_equal(strlen(archive), *length);
    return archive;
}

static void archives_give_the_same_models(void **state)
{
    size_t            length, again;
    api_import_counts done;
    api_problem       problem;
    disk_wipe();
    disk_start(NULL);
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201);
    assert_int_equal(disk_request("DELETE", "slider", NULL), 204);
    assert_int_equal(disk_request("DELETE", "hinge", NULL), 204);
    char *mine = disk_model("mine"), *arm = disk_model("arm"), *archive = exported(&length);
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, length, &strict, &done, &problem));
    assert_true(done.unchanged == 4 && done.created + done.replaced + done.deleted == 0);
    door_close();

    disk_wipe();
    disk_start(NULL);
    assert_int_equal(disk_request("PUT", "mine", HINGE("9")), 201);
    assert_int_equal(disk_request("PUT", "other", HINGE("9")), 201);
    assert_int_equal(disk_request("DELETE", "arm", NULL), 204);
    assert_true(api_import(door_api(), archive, length, &strict, &done, &problem));
    assert_true(done.created == 1 && done.replaced == 1 && done.deleted == 1 && done.unchanged == 1);
    disk_restart(); /* imported models are stored */
    assert_model("mine", mine);
    assert_model("arm", arm);
    assert_model("hinge", NULL);
    assert_int_equal(disk_request("DELETE", "other", NULL), 204); /* the import did not change or delete other models */
    assert_int_equal(disk_request("DELETE", "slider", NULL), 204);
    char *second = exported(&again);
    assert_string_equal(second, archive);
    free(second);
    free(archive);
    free(mine);
    free(arm);
    door_close();
}

/* A tombstone (the record of a deleted model) must be imported even if no model of its name is bundled: another server,
 * or a later version, may bundle one. */
static void tombstones_travel(void **state)
{
    static const char archive[] =
        "{\"format\":\"torqued-archive\",\"version\":1,\"models\":{\"later\":{\"deleted\":true}}}";
    api_import_counts done;
    api_problem       problem;
    size_t            length;
    disk_wipe();
    disk_start(NULL);
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, strlen(archive), &any, &done, &problem));
    assert_int_equal(done.deleted, 1);
    disk_restart();
    char *out = exported(&length);
    assert_non_null(strstr(out, "\"later\":{\"deleted\":true}"));
    free(out);
    door_close();
}

static void bad_archives_change_nothing(void **state)
{
#define HEAD "{'format':'torqued-archive','version':1,'models':"
    static const struct {
        const char *archive, *pointer, *said;
    } cases[] = {
        {"", NULL, ""},
        {"{'format':'torqued-archive','version':1,'models':{", NULL, ""},
        {"{}", "/format", "not an archive"},
        {"{'format':'tar','version':1,'models':{}}", "/format", "not an archive"},
        {"{'format':'torqued-archive','version':3,'models':{}}", "/version", "version 3"},
        {"{'format':'torqued-archive','version':1,'models':{},'later':1}", "", "not known"},
        {"{'format':'torqued-archive','version':2,'models':{},'manifest':{}}", "", "not known"},
        {"{'format':'torqued-archive','models':{}}", "/version", "version 0"},
        {HEAD "[]}", "/models", "an array"},
        {HEAD "{'good':{'document':" HINGE("1") "},'-':{'deleted':true}}}", "/models", "not a model name"},
        {HEAD "{'good':{'document':" HINGE("1") "},'bad':{}}}", "/models/bad", "a record is"},
        {HEAD "{'good':{'document':" HINGE("1") "},'bad':{'document':" HINGE("-1") "}}}",
         "/models/bad/document/links/0/inertial/mass", "-1"},
        {HEAD "{'good':{'document':" HINGE("1") "},'hinge':{'document':{}}}}", "/models/hinge/document/links", ""},
    };
    disk_wipe();
    disk_start(NULL);
    char *hinge = disk_model("hinge");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        api_problem       problem;
        api_import_counts done;
        char             *text = strdup(cases[i].archive);
        for (char *c = text; *c; c++)
            if (*c == '\'') *c = '"';
        api_problem_clear(&problem);
        if (api_import(door_api(), text, strlen(text), &any, &done, &problem)) fail_msg("taken: %s", text);
        if (cases[i].pointer) assert_string_equal(problem.pointer, cases[i].pointer);
        if (!strstr(problem.detail, cases[i].said)) fail_msg("%s: %s", text, problem.detail);
        free(text);
    }
    assert_int_equal(disk.saves + disk.erases, 0);
    assert_model("hinge", hinge);
    assert_model("good", NULL);
    free(hinge);
    door_close();
}

static void an_import_that_the_store_stops_is_counted(void **state)
{
    static const char archive[] = "{\"format\":\"torqued-archive\",\"version\":1,\"models\":{\"a\":{\"deleted\":true},"
                                  "\"b\":{\"deleted\":true},\"c\":{\"deleted\":true}}}";
    api_import_counts done;
    api_problem       problem;
    disk_wipe();
    disk_start(NULL);
    disk.refuses = API_STORE_FULL;
    disk.after   = 2;
    api_problem_clear(&problem);
    assert_false(api_import(door_api(), archive, strlen(archive), &any, &done, &problem));
    assert_int_equal(problem.code, API_STORE_FULL);
    assert_int_equal(done.deleted, 2);
    disk.refuses = API_NO_PROBLEM;
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, strlen(archive), &any, &done, &problem));
    assert_true(done.deleted == 1 && done.unchanged == 2);
    door_close();
}

/* A record is damaged at one byte, the manifest at another; each is refused with the name of its model, and nothing is
 * changed. */
static void changed_bytes_are_named(void **state)
{
    size_t            length;
    api_import_counts done;
    api_problem       problem;
    disk_wipe();
    disk_start(NULL);
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201);
    char *archive = exported(&length), *copy = malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        bool in_mine = i >= (size_t)(strstr(archive, "\"mine\":") - archive) &&
                       i < (size_t)(strstr(archive, "\n\"slider\"") - archive);
        memcpy(copy, archive, length + 1);
        copy[i] ^= 1;
        api_problem_clear(&problem);
        if (api_import(door_api(), copy, length, &any, &done, &problem)) fail_msg("taken with byte %zu changed", i);
        if (in_mine && !strstr(problem.detail, "min")) fail_msg("byte %zu: %s", i, problem.detail);
    }
    for (size_t i = 0; i < length; i++) {
        api_problem_clear(&problem);
        if (api_import(door_api(), archive, i, &strict, &done, &problem)) fail_msg("taken after a cut at %zu", i);
    }
    assert_int_equal(disk.saves, 1);
    free(copy);
    free(archive);
    door_close();
}

static void archives_without_manifest_need_a_word(void **state)
{
    static const char archive[] =
        "{\"format\":\"torqued-archive\",\"version\":1,\"models\":{\"a\":{\"deleted\":true}}}";
    api_import_counts done;
    api_archive_facts facts;
    api_problem       problem;
    disk_wipe();
    disk_start(NULL);
    api_problem_clear(&problem);
    assert_false(api_import(door_api(), archive, strlen(archive), &strict, &done, &problem));
    assert_non_null(strstr(problem.detail, "--unverified"));
    assert_int_equal(disk.saves + disk.erases, 0);
    api_problem_clear(&problem);
    assert_true(api_verify(door_api(), archive, strlen(archive), NULL, &facts, &problem));
    assert_true(!facts.has_manifest && facts.models == 1);
    door_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_give_the_same_models),
        cmocka_unit_test(tombstones_travel),
        cmocka_unit_test(bad_archives_change_nothing),
        cmocka_unit_test(changed_bytes_are_named),
        cmocka_unit_test(archives_without_manifest_need_a_word),
        cmocka_unit_test(an_import_that_the_store_stops_is_counted),
    };
    return cmocka_run_group_tests(tests, disk_make, disk_drop);
}
