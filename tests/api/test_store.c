/* test_store.c - checks the calls that the service makes to a model store, the models it restores at start, and its
 * errors when the store fails. */
#include "tests/api/support/disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- changes --------------------------------------------------------------------------------------------------- */

static void changes_are_stored_before_they_are_seen(void **state)
{
    char first[40];
    disk_wipe();
    disk_start(NULL);
    disk.looks = true;
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201);
    assert_string_equal(disk.seen, ""); /* the reader neither waited nor saw a model that was not stored yet */
    snprintf(first, sizeof first, "%s", header_of(ask("GET", "/v1/models/mine", NULL), "Model-Revision"));
    assert_int_equal(disk_request("PUT", "mine", HINGE("3")), 200);
    assert_string_equal(disk.seen, first);
    assert_int_equal(disk_request("DELETE", "mine", NULL), 204);
    assert_string_not_equal(disk.seen, "");
    assert_int_equal(disk.saves, 2);
    assert_int_equal(disk.erases, 1);
    door_close();
}

static void refused_changes_have_no_effect(void **state)
{
    static const struct {
        api_code    code;
        unsigned    status;
        const char *name;
    } refusals[] = {{API_STORE_FULL, 507, "store-full"}, {API_STORE_FAILED, 503, "store-failed"}};
    disk_wipe();
    disk_start(NULL);
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201);
    char *mine = disk_model("mine"), *hinge = disk_model("hinge");
    for (size_t i = 0; i < 2; i++) {
        disk.refuses = refusals[i].code;
        disk_request("PUT", "mine", HINGE("3"));
        assert_problem(refusals[i].status, refusals[i].name, NULL, -1);
        assert_detail("the disk refuses");
        disk_request("PUT", "new", HINGE("3"));
        assert_problem(refusals[i].status, refusals[i].name, NULL, -1);
        assert_int_equal(disk_request("DELETE", "mine", NULL), refusals[i].status);
        assert_int_equal(disk_request("DELETE", "hinge", NULL), refusals[i].status);
        assert_model("mine", mine);
        assert_model("hinge", hinge);
        assert_model("new", NULL);
        assert_int_equal(post("mine/mass-matrix", "{'q':[0]}")->status, 200);
        disk.refuses = API_NO_PROBLEM;
    }
    disk_restart();
    assert_model("mine", mine);
    assert_model("hinge", hinge);
    assert_model("new", NULL);
    free(mine);
    free(hinge);
    door_close();
}

static void invalid_changes_never_reach_the_store(void **state)
{
    disk_wipe();
    disk_start(NULL);
    api_request head = {.method = "PUT", .target = "/v1/models/hinge", .if_match = "\"other\"", .has_body = true};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    head = (api_request){.method = "PUT", .target = "/v1/models/hinge", .if_none_match = "*", .has_body = true};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    head = (api_request){.method = "DELETE", .target = "/v1/models/hinge", .if_match = "\"other\""};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    assert_int_equal(disk_request("PUT", "hinge", "{'links':[]"), 400);
    assert_int_equal(disk_request("PUT", "hinge", HINGE("-1")), 422);
    assert_int_equal(disk_request("DELETE", "none", NULL), 404);
    assert_int_equal(disk.saves + disk.erases, 0);
    door_close();
}

/* --- restarts --------------------------------------------------------------------------------------------------- */

static void models_are_restored(void **state)
{
    disk_wipe();
    disk_start(NULL);
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201); /* the report says that gravity was assumed */
    assert_int_equal(disk_request("PUT", "renamed",
                                  "{'name':'x','links':[{'name':'l','parent':'base','joint':{'name':"
                                  "'j','type':'prismatic','axis':[0,0,3]}}]}"),
                     201);
    assert_int_equal(disk_request("PUT", "hinge", HINGE("5")), 200);
    char *mine = disk_model("mine"), *renamed = disk_model("renamed"), *hinge = disk_model("hinge");
    assert_non_null(strstr(mine, "no gravity given"));
    disk_restart();
    assert_model("mine", mine);
    assert_model("renamed", renamed);
    assert_model("hinge", hinge); /* the stored model hides the bundled one */
    assert_int_equal(disk.saves, 3);
    free(mine);
    free(renamed);
    free(hinge);
    door_close();
}

static void a_deleted_bundled_model_stays_deleted(void **state)
{
    disk_wipe();
    disk_start(NULL);
    char *was = disk_model("hinge");
    assert_int_equal(disk_request("DELETE", "hinge", NULL), 204);
    assert_int_equal(disk_request("DELETE", "hinge", NULL), 404);
    disk_restart();
    assert_model("hinge", NULL);
    assert_int_equal(disk_request("PUT", "hinge", HINGE("7")), 201);
    char *now = disk_model("hinge");
    disk_restart();
    assert_model("hinge", now);
    assert_int_equal(disk_request("DELETE", "hinge", NULL), 204); /* the bundled model must not reappear */
    assert_model("hinge", NULL);
    disk_restart();
    assert_model("hinge", NULL);
    assert_int_equal(disk.erases, 0);
    disk_wipe(); /* without the stored record the bundled model is back */
    disk_restart();
    assert_model("hinge", was);
    free(was);
    free(now);
    door_close();
}

static void deleted_models_leave_no_tombstone(void **state)
{
    disk_wipe();
    disk_start(NULL);
    for (int i = 0; i < 3 * RECORDS; i++) { /* more tombstones than the store can hold */
        char name[20];
        snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(disk_request("PUT", name, HINGE("2")), 201);
        assert_int_equal(disk_request("DELETE", name, NULL), 204);
    }
    for (int i = 0; i < RECORDS; i++)
        assert_null(disk.records[i].record);
    door_close();
}

static void stored_models_come_back_beyond_the_limit(void **state)
{
    api_limits limits = door_limits;
    disk_wipe();
    disk_start(NULL);
    for (const char *name = "abcdef"; *name; name++) {
        char one[2] = {*name, '\0'};
        assert_int_equal(disk_request("PUT", one, HINGE("2")), 201);
    }
    door_close();
    limits.models = 5; /* the service under test puts three models itself */
    disk_start(&limits);
    assert_int_equal(json_array_size(json_object_get(ask("GET", "/v1/models", NULL)->json, "models")), 3 + 1 + 6);
    disk_request("PUT", "g", HINGE("2"));
    assert_problem(507, "store-full", NULL, -1);
    assert_int_equal(disk_request("PUT", "f", HINGE("3")), 200); /* replacing a model does not add one */
    door_close();
}

static void assert_damaged(const char *name)
{
    assert_int_equal(disk_request("GET", name, NULL), 500);
    assert_problem(500, "model-damaged", NULL, -1);
}

#define ENTRY(more) "{\"severity\":\"info\",\"code\":\"x\",\"where\":\"\",\"text\":\"y\"" more "}"

/* Records that no version of the server has written, and what the problem says. */
static const struct {
    const char *record, *said;
} unreadable_records[] = {
    {"", "the body is empty"},
    {"{\"document\":{\"li", "premature end"},
    {"[]", "a record is"},
    {"{}", "a record is"},
    {"{\"deleted\":false}", "a record is"},
    {"{\"deleted\":true,\"report\":[]}", "a record is"},
    {"{\"document\":{\"links\":[]},\"later\":1}", "no members but"},
    {"{\"document\":{\"links\":[]},\"report\":{}}", "expected an array"},
    {"{\"document\":{\"links\":[]},\"report\":[{\"severity\":1}]}", "entry 0"},
    {"{\"document\":{\"links\":[]},\"report\":[" ENTRY("") "," ENTRY(",\"more\":\"x\"") "]}", "entry 1"},
    {"{\"document\":{\"links\":[{\"name\":\"a\"}]},\"report\":[]}", ""},
    {"{\"document\":7}", "an object"},
    {"{\"version\":2,\"document\":{\"links\":[]}}", "has version 2, and this torqued reads up to version 1"},
    {"{\"version\":2,\"later\":[]}", "has version 2, and"}, /* the version is checked before other members */
    {"{\"version\":2,\"deleted\":true}", "has version 2, and"},
    {"{\"version\":0,\"document\":{\"links\":[]}}", "has version 0, and"},
    {"{\"version\":1.5,\"document\":{\"links\":[]}}", "has version 1.5, and"},
    {"{\"version\":\"1\",\"document\":{\"links\":[]}}", "expected a number"},
    {"{\"version\":1}", "a record is"},
};

static void unreadable_records_hide_and_say_why(void **state)
{
    for (size_t i = 0; i < sizeof unreadable_records / sizeof unreadable_records[0]; i++) {
        api_problem problem;
        disk_wipe();
        disk_start(NULL);
        if (door_restore("hinge", unreadable_records[i].record, strlen(unreadable_records[i].record), &problem))
            fail_msg("taken: %s", unreadable_records[i].record);
        if (!strstr(problem.detail, unreadable_records[i].said))
            fail_msg("%s: %s", unreadable_records[i].record, problem.detail);
        assert_damaged("hinge"); /* a damaged record must not bring the bundled robot of the same name back */
        assert_int_equal(disk_request("PUT", "hinge", HINGE("2")), 201);
        door_close();
    }
    api_problem problem;
    disk_wipe();
    disk_start(NULL);
    assert_false(door_restore("../x", "{}", 2, &problem));
    assert_int_equal(problem.code, API_BAD_NAME);
    static const char unnamed[] = "{\"document\":{\"links\":[{\"nam\":1}]}}";
    assert_false(door_restore("hinge", unnamed, strlen(unnamed), &problem));
    if (!strstr(problem.pointer, "/document/links/0")) fail_msg("%s at %s", problem.detail, problem.pointer);
    door_close();
}

static void readyz_tells_reasons(void **state)
{
    disk_wipe();
    disk_start(NULL);
    assert_int_equal(json_array_size(json_object_get(ask("GET", "/readyz", NULL)->json, "reasons")), 0);
    api_set_reason(door_api(), "s", "store: %s", "\xff\n\"x");
    const json_t *reasons = json_object_get(ask("GET", "/readyz", NULL)->json, "reasons");
    assert_string_equal(json_string_value(json_array_get(reasons, 0)), "store: ??\"x");
    char subject[20];
    for (int i = 0; i < 99; i++) {
        snprintf(subject, sizeof subject, "%d.json", i);
        api_set_reason(door_api(), subject, "%0600d", i);
    }
    reasons  = json_object_get(ask("GET", "/readyz", NULL)->json, "reasons");
    size_t n = json_array_size(reasons);
    assert_in_range(n, 10, 99);
    char more[40];
    snprintf(more, sizeof more, "and %zu more, in the log", 100 - (n - 1));
    assert_string_equal(json_string_value(json_array_get(reasons, n - 1)), more);
    for (int i = 0; i < 99; i++) {
        snprintf(subject, sizeof subject, "%d.json", i);
        api_clear_reason(door_api(), subject);
    }
    api_clear_reason(door_api(), "nobody has set it");
    api_set_reason(door_api(), "s", "store: %s", "the present state");
    reasons = json_object_get(ask("GET", "/readyz", NULL)->json, "reasons");
    assert_int_equal(json_array_size(reasons), 1);
    assert_string_equal(json_string_value(json_array_get(reasons, 0)), "store: the present state");
    door_close();
}

/* --- a store that several servers share -------------------------------------------------------------------------- */

#define OTHER                                                                                                          \
    "{\"document\":{\"links\":[{\"name\":\"rod\",\"parent\":\"base\",\"joint\":{\"name\":\"other\",\"type\":"          \
    "\"revolute\",\"axis\":[0,1,0]},\"inertial\":{\"mass\":3,\"com\":[0,0,-0.5]}}]}}"
#define DELETED "{\"deleted\":true}"

static void follow(const char *name, const char *record, uint64_t number, bool good)
{
    api_problem problem;
    api_problem_clear(&problem);
    assert_int_equal(api_follow(door_api(), name, record, record ? strlen(record) : 0, number, &problem), good);
    assert_int_equal(problem.code == API_NO_PROBLEM, good);
}

static void start_shared(void)
{
    disk_wipe();
    disk_start(NULL);
    disk.shared = true;
}

static void changes_of_other_servers_are_checked_again(void **state)
{
    api_request create = {.method = "PUT", .target = "/v1/models/mine", .if_none_match = "*", .has_body = true};
    char       *body   = strdup(HINGE("2"));
    for (char *c = body; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    start_shared();
    disk.other  = OTHER;
    disk.others = 1;
    ask_with(&create, body, strlen(body), NULL);
    assert_problem(412, "precondition-failed", NULL, -1); /* the other server has created the model meanwhile */
    char *other = disk_model("mine");
    assert_non_null(strstr(other, "\"other\""));
    free(other);
    disk.others = 1;
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 200); /* without a condition, the last change wins */
    assert_int_equal(disk.base, 2);
    disk.other  = DELETED;
    disk.others = 1;
    assert_int_equal(disk_request("DELETE", "mine", NULL), 404);
    disk.other  = OTHER;
    disk.others = 1000;
    disk_request("PUT", "mine", HINGE("2"));
    assert_problem(503, "store-failed", NULL, -1);
    free(body);
    door_close();
}

static void older_changes_are_skipped(void **state)
{
    start_shared();
    disk.number = 6;
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201); /* change number 7 */
    char *mine = disk_model("mine");
    follow("mine", OTHER, 6, true);
    assert_model("mine", mine);
    follow("mine", NULL, 7, true);
    assert_model("mine", mine);
    assert_int_equal(disk_request("DELETE", "mine", NULL), 204); /* change number 8, which leaves a tombstone */
    assert_int_equal(disk.base, 7);
    follow("mine", OTHER, 7, true);
    assert_model("mine", NULL);
    follow("mine", OTHER, 9, true);
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 200);
    assert_int_equal(disk.base, 9);
    free(mine);
    door_close();
}

static void a_damaged_change_is_not_served(void **state)
{
    start_shared();
    assert_int_equal(disk_request("PUT", "mine", HINGE("2")), 201);
    follow("mine", NULL, 2, false);
    assert_damaged("mine");
    follow("hinge", "{\"version\":2}", 3, false);
    assert_damaged("hinge");
    follow("../x", OTHER, 4, false);
    follow("hinge", OTHER, 5, true);
    disk.number = 5;
    assert_int_equal(disk_request("DELETE", "hinge", NULL), 204);
    assert_int_equal(disk_request("PUT", "hinge", HINGE("2")), 201);
    door_close();
}

static void models_deleted_long_ago_are_removed(void **state)
{
    static const char *const names[] = {"kept"};
    start_shared();
    char *hinge = disk_model("hinge");
    follow("gone", OTHER, 1, true);
    follow("kept", OTHER, 2, true);
    follow("zero", OTHER, 3, true);
    disk.number = 3;
    assert_int_equal(disk_request("DELETE", "zero", NULL), 204);
    api_forget_deleted(door_api(), names, 1);
    assert_model("gone", NULL);
    char *kept = disk_model("kept");
    assert_non_null(kept);
    assert_model("hinge", hinge); /* a bundled model has no change number */
    assert_int_equal(disk_request("PUT", "zero", HINGE("2")), 201);
    assert_int_equal(disk.base, 0);
    api_forget_deleted(door_api(), NULL, 0);
    assert_model("kept", NULL);
    free(kept);
    free(hinge);
    door_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_deleted_long_ago_are_removed),
        cmocka_unit_test(changes_of_other_servers_are_checked_again),
        cmocka_unit_test(older_changes_are_skipped),
        cmocka_unit_test(a_damaged_change_is_not_served),
        cmocka_unit_test(changes_are_stored_before_they_are_seen),
        cmocka_unit_test(refused_changes_have_no_effect),
        cmocka_unit_test(invalid_changes_never_reach_the_store),
        cmocka_unit_test(models_are_restored),
        cmocka_unit_test(a_deleted_bundled_model_stays_deleted),
        cmocka_unit_test(deleted_models_leave_no_tombstone),
        cmocka_unit_test(stored_models_come_back_beyond_the_limit),
        cmocka_unit_test(unreadable_records_hide_and_say_why),
        cmocka_unit_test(readyz_tells_reasons),
    };
    return cmocka_run_group_tests(tests, disk_make, disk_drop);
}
