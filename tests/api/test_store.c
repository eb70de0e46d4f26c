/* test_store.c - what the api asks of a store, and what it makes of records: through api.h, with a store in memory that
 * can be told to refuse. */
#include "door.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HINGE(mass)                                                                                                    \
    "{'links':[{'name':'rod','parent':'base','joint':{'name':'hinge','type':'revolute','axis':[0,1,0]},"               \
    "'inertial':{'mass':" mass ",'com':[0,0,-0.5]}}]}"

enum { RECORDS = 16 };

typedef struct memory {
    struct {
        char name[65], *record;
    } records[RECORDS];
    int      saves, erases;
    api_code refuses;  /* API_NO_PROBLEM: nothing */
    int      after;    /* so many more it takes before it refuses */
    char     seen[40]; /* revision that a reader got while the last change was being saved; "": none */
    bool     looks;
} memory;

static memory disk;

static char **slot(const char *name)
{
    int free_one = -1;
    for (int i = 0; i < RECORDS; i++) {
        if (!strcmp(disk.records[i].name, name)) return &disk.records[i].record;
        if (free_one < 0 && !disk.records[i].record) free_one = i;
    }
    assert_true(free_one >= 0);
    strcpy(disk.records[free_one].name, name);
    return &disk.records[free_one].record;
}

static bool refuse(api_problem *problem)
{
    if (disk.refuses == API_NO_PROBLEM || disk.after-- > 0) return false;
    api_fail(problem, disk.refuses, NULL, "the disk refuses");
    return true;
}

static void look(const char *name)
{
    char        target[100];
    api_request head = {.method = "GET", .target = target};
    snprintf(target, sizeof target, "/v1/models/%s", name);
    api_call *call = api_begin(door_api(), &head);
    *disk.seen     = '\0';
    for (size_t i = 0; i < api_reply_of(call)->n_headers; i++)
        if (!strcmp(api_reply_of(call)->header[i].name, "Model-Revision"))
            snprintf(disk.seen, sizeof disk.seen, "%s", api_reply_of(call)->header[i].value);
    api_end(call);
}

static bool save(void *arg, const char *name, const char *record, size_t length, api_problem *problem)
{
    assert_ptr_equal(arg, &disk);
    disk.saves++;
    if (disk.looks) look(name);
    if (refuse(problem)) return false;
    char **to = slot(name);
    free(*to);
    *to = calloc(length + 1, 1);
    assert_non_null(*to);
    memcpy(*to, record, length);
    return true;
}

static bool erase(void *arg, const char *name, api_problem *problem)
{
    assert_ptr_equal(arg, &disk);
    disk.erases++;
    if (disk.looks) look(name);
    if (refuse(problem)) return false;
    char **to = slot(name);
    free(*to);
    *to = NULL;
    return true;
}

static const api_store store = {.save = save, .erase = erase, .arg = &disk};

static void wipe(void)
{
    for (int i = 0; i < RECORDS; i++)
        free(disk.records[i].record);
    disk = (memory){0};
}

/* A folder with one bundled model, `hinge` of 1 kg. */
static char bundled[] = "/tmp/torqued-store-XXXXXX";

static void ignore(void *arg, const char *file, const char *problem)
{
    (void)arg, (void)file;
    assert_null(problem);
}

static int make_bundled(void **state)
{
    char path[100], *text = strdup(HINGE("1"));
    assert_non_null(mkdtemp(bundled));
    snprintf(path, sizeof path, "%s/hinge.json", bundled);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (char *c = text; *c; c++)
        fputc(*c == '\'' ? '"' : *c, file);
    fclose(file);
    free(text);
    return 0;
}

static int drop_bundled(void **state)
{
    char command[100];
    wipe();
    snprintf(command, sizeof command, "rm -r %s", bundled);
    return system(command);
}

/* A server starts: bundled models, then the records, then changes are kept. */
static void start(const api_limits *limits)
{
    door_open(limits);
    assert_true(api_load_models(door_api(), bundled, ignore, NULL));
    for (int i = 0; i < RECORDS; i++) {
        api_problem problem;
        const char *record = disk.records[i].record;
        api_problem_clear(&problem);
        if (record && !api_restore(door_api(), disk.records[i].name, record, strlen(record), &problem))
            fail_msg("%s: %s", disk.records[i].name, problem.detail);
    }
    api_keep(door_api(), &store);
}

static void restart(void)
{
    door_close();
    start(NULL);
}

static unsigned status_of(const char *method, const char *name, const char *body)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", name);
    return ask(method, target, body)->status;
}

/* GET of the model; NULL when there is none. The caller frees. */
static char *model(const char *name)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", name);
    const answer *a = ask("GET", target, NULL);
    assert_true(a->status == 200 || a->status == 404);
    return a->status == 200 ? strdup(a->text) : NULL;
}

static void assert_model(const char *name, const char *expected)
{
    char *now = model(name);
    if (!expected || !now)
        assert_true(!expected && !now);
    else
        assert_string_equal(now, expected);
    free(now);
}

/* --- changes --------------------------------------------------------------------------------------------------- */

static void changes_are_stored_before_they_are_seen(void **state)
{
    char first[40];
    wipe();
    start(NULL);
    disk.looks = true;
    assert_int_equal(status_of("PUT", "mine", HINGE("2")), 201);
    assert_string_equal(disk.seen, ""); /* a reader neither waited nor saw what was not stored yet */
    snprintf(first, sizeof first, "%s", header_of(ask("GET", "/v1/models/mine", NULL), "Model-Revision"));
    assert_int_equal(status_of("PUT", "mine", HINGE("3")), 200);
    assert_string_equal(disk.seen, first);
    assert_int_equal(status_of("DELETE", "mine", NULL), 204);
    assert_string_not_equal(disk.seen, "");
    assert_int_equal(disk.saves, 2);
    assert_int_equal(disk.erases, 1);
    door_close();
}

static void what_is_refused_has_not_happened(void **state)
{
    static const struct {
        api_code    code;
        unsigned    status;
        const char *name;
    } refusals[] = {{API_STORE_FULL, 507, "store-full"}, {API_STORE_FAILED, 503, "store-failed"}};
    wipe();
    start(NULL);
    assert_int_equal(status_of("PUT", "mine", HINGE("2")), 201);
    char *mine = model("mine"), *hinge = model("hinge");
    for (size_t i = 0; i < 2; i++) {
        disk.refuses = refusals[i].code;
        status_of("PUT", "mine", HINGE("3"));
        assert_problem(refusals[i].status, refusals[i].name, NULL, -1);
        assert_detail("the disk refuses");
        status_of("PUT", "new", HINGE("3"));
        assert_problem(refusals[i].status, refusals[i].name, NULL, -1);
        assert_int_equal(status_of("DELETE", "mine", NULL), refusals[i].status);
        assert_int_equal(status_of("DELETE", "hinge", NULL), refusals[i].status);
        assert_model("mine", mine);
        assert_model("hinge", hinge);
        assert_model("new", NULL);
        assert_int_equal(post("mine/mass-matrix", "{'q':[0]}")->status, 200);
        disk.refuses = API_NO_PROBLEM;
    }
    restart();
    assert_model("mine", mine);
    assert_model("hinge", hinge);
    assert_model("new", NULL);
    free(mine);
    free(hinge);
    door_close();
}

static void what_is_refused_before_never_reaches_the_store(void **state)
{
    wipe();
    start(NULL);
    api_request head = {.method = "PUT", .target = "/v1/models/hinge", .if_match = "\"other\"", .has_body = true};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    head = (api_request){.method = "PUT", .target = "/v1/models/hinge", .if_none_match = "*", .has_body = true};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    head = (api_request){.method = "DELETE", .target = "/v1/models/hinge", .if_match = "\"other\""};
    ask_with(&head, "", 0, NULL);
    assert_problem(412, "precondition-failed", NULL, -1);
    assert_int_equal(status_of("PUT", "hinge", "{'links':[]"), 400);
    assert_int_equal(status_of("PUT", "hinge", HINGE("-1")), 422);
    assert_int_equal(status_of("DELETE", "none", NULL), 404);
    assert_int_equal(disk.saves + disk.erases, 0);
    door_close();
}

/* --- starting again -------------------------------------------------------------------------------------------- */

static void models_come_back_as_they_were(void **state)
{
    wipe();
    start(NULL);
    assert_int_equal(status_of("PUT", "mine", HINGE("2")), 201); /* its report says which gravity was assumed */
    assert_int_equal(status_of("PUT", "renamed",
                               "{'name':'x','links':[{'name':'l','parent':'base','joint':{'name':"
                               "'j','type':'prismatic','axis':[0,0,3]}}]}"),
                     201);
    assert_int_equal(status_of("PUT", "hinge", HINGE("5")), 200);
    char *mine = model("mine"), *renamed = model("renamed"), *hinge = model("hinge");
    assert_non_null(strstr(mine, "no gravity given"));
    restart();
    assert_model("mine", mine);
    assert_model("renamed", renamed);
    assert_model("hinge", hinge); /* the store's shadows the bundled one */
    assert_int_equal(disk.saves, 3);
    free(mine);
    free(renamed);
    free(hinge);
    door_close();
}

static void a_deleted_bundled_model_stays_deleted(void **state)
{
    wipe();
    start(NULL);
    char *was = model("hinge");
    assert_int_equal(status_of("DELETE", "hinge", NULL), 204);
    assert_int_equal(status_of("DELETE", "hinge", NULL), 404);
    restart();
    assert_model("hinge", NULL);
    assert_int_equal(status_of("PUT", "hinge", HINGE("7")), 201);
    char *now = model("hinge");
    restart();
    assert_model("hinge", now);
    assert_int_equal(status_of("DELETE", "hinge", NULL), 204); /* the bundled one does not shine through */
    assert_model("hinge", NULL);
    restart();
    assert_model("hinge", NULL);
    assert_int_equal(disk.erases, 0);
    wipe(); /* without the store the bundled model is there */
    restart();
    assert_model("hinge", was);
    free(was);
    free(now);
    door_close();
}

static void deleting_ones_own_leaves_nothing(void **state)
{
    wipe();
    start(NULL);
    for (int i = 0; i < 3 * RECORDS; i++) { /* a tombstone each would not fit */
        char name[20];
        snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(status_of("PUT", name, HINGE("2")), 201);
        assert_int_equal(status_of("DELETE", name, NULL), 204);
    }
    for (int i = 0; i < RECORDS; i++)
        assert_null(disk.records[i].record);
    door_close();
}

static void stored_models_come_back_beyond_the_limit(void **state)
{
    api_limits limits = door_limits;
    wipe();
    start(NULL);
    for (const char *name = "abcdef"; *name; name++) {
        char one[2] = {*name, '\0'};
        assert_int_equal(status_of("PUT", one, HINGE("2")), 201);
    }
    door_close();
    limits.models = 5; /* the door itself puts three */
    start(&limits);
    assert_int_equal(json_array_size(json_object_get(ask("GET", "/v1/models", NULL)->json, "models")), 3 + 1 + 6);
    status_of("PUT", "g", HINGE("2"));
    assert_problem(507, "store-full", NULL, -1);
    assert_int_equal(status_of("PUT", "f", HINGE("3")), 200); /* replacing is no addition */
    door_close();
}

static void unreadable_records_hide_and_say_why(void **state)
{
    static const struct {
        const char *record, *said;
    } cases[] = {
        {"", "unexpected token"},
        {"{\"document\":{\"li", "premature end"},
        {"[]", "a record is"},
        {"{}", "a record is"},
        {"{\"deleted\":false}", "a record is"},
        {"{\"deleted\":true,\"report\":[]}", "a record is"},
        {"{\"document\":{\"links\":[]},\"later\":1}", "no members but"},
        {"{\"document\":{\"links\":[]},\"report\":{}}", "expected an array"},
        {"{\"document\":{\"links\":[]},\"report\":[{\"severity\":1}]}", "entry 0"},
        {"{\"document\":{\"links\":[{\"name\":\"a\"}]},\"report\":[]}", ""},
        {"{\"document\":7}", "an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        api_problem problem;
        wipe();
        start(NULL);
        api_problem_clear(&problem);
        if (api_restore(door_api(), "hinge", cases[i].record, strlen(cases[i].record), &problem))
            fail_msg("taken: %s", cases[i].record);
        if (!strstr(problem.detail, cases[i].said)) fail_msg("%s: %s", cases[i].record, problem.detail);
        assert_model("hinge", NULL); /* rather none than another robot */
        assert_int_equal(status_of("PUT", "hinge", HINGE("2")), 201);
        door_close();
    }
    api_problem problem;
    wipe();
    start(NULL);
    api_problem_clear(&problem);
    assert_false(api_restore(door_api(), "../x", "{}", 2, &problem));
    assert_int_equal(problem.code, API_BAD_NAME);
    api_problem_clear(&problem);
    static const char unnamed[] = "{\"document\":{\"links\":[{\"nam\":1}]}}";
    assert_false(api_restore(door_api(), "hinge", unnamed, strlen(unnamed), &problem));
    if (!strstr(problem.pointer, "/document/links/0")) fail_msg("%s at %s", problem.detail, problem.pointer);
    door_close();
}

static void readyz_tells_reasons(void **state)
{
    wipe();
    start(NULL);
    assert_int_equal(json_array_size(json_object_get(ask("GET", "/readyz", NULL)->json, "reasons")), 0);
    api_add_reason(door_api(), "store: %s", "\xff\n\"x");
    const json_t *reasons = json_object_get(ask("GET", "/readyz", NULL)->json, "reasons");
    assert_string_equal(json_string_value(json_array_get(reasons, 0)), "store: ??\"x");
    for (int i = 0; i < 99; i++)
        api_add_reason(door_api(), "%0600d", i);
    reasons  = json_object_get(ask("GET", "/readyz", NULL)->json, "reasons");
    size_t n = json_array_size(reasons);
    assert_in_range(n, 10, 99);
    char more[40];
    snprintf(more, sizeof more, "and %zu more, in the log", 100 - (n - 1));
    assert_string_equal(json_string_value(json_array_get(reasons, n - 1)), more);
    door_close();
}

/* --- archives -------------------------------------------------------------------------------------------------- */

static char *exported(size_t *length)
{
    char *archive = api_export(door_api(), length);
    assert_non_null(archive);
    assert_int_equal(strlen(archive), *length);
    return archive;
}

static void archives_give_the_same_models(void **state)
{
    size_t       length, again;
    api_imported done;
    api_problem  problem;
    wipe();
    start(NULL);
    assert_int_equal(status_of("PUT", "mine", HINGE("2")), 201);
    assert_int_equal(status_of("DELETE", "slider", NULL), 204);
    assert_int_equal(status_of("DELETE", "hinge", NULL), 204);
    char *mine = model("mine"), *arm = model("arm"), *archive = exported(&length);
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, length, &done, &problem));
    assert_true(done.unchanged == 4 && done.created + done.replaced + done.deleted == 0);
    door_close();

    wipe();
    start(NULL);
    assert_int_equal(status_of("PUT", "mine", HINGE("9")), 201);
    assert_int_equal(status_of("PUT", "other", HINGE("9")), 201);
    assert_int_equal(status_of("DELETE", "arm", NULL), 204);
    assert_true(api_import(door_api(), archive, length, &done, &problem));
    assert_true(done.created == 1 && done.replaced == 1 && done.deleted == 1 && done.unchanged == 1);
    restart(); /* what was imported is stored */
    assert_model("mine", mine);
    assert_model("arm", arm);
    assert_model("hinge", NULL);
    assert_int_equal(status_of("DELETE", "other", NULL), 204); /* was left alone */
    assert_int_equal(status_of("DELETE", "slider", NULL), 204);
    char *second = exported(&again);
    assert_string_equal(second, archive);
    free(second);
    free(archive);
    free(mine);
    free(arm);
    door_close();
}

/* A tombstone is imported even where no model of its name is bundled: it may be one day, or elsewhere. */
static void tombstones_travel(void **state)
{
    static const char archive[] =
        "{\"format\":\"torqued-archive\",\"version\":1,\"models\":{\"later\":{\"deleted\":true}}}";
    api_imported done;
    api_problem  problem;
    size_t       length;
    wipe();
    start(NULL);
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, strlen(archive), &done, &problem));
    assert_int_equal(done.deleted, 1);
    restart();
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
        {"{}", "/format", "no archive"},
        {"{'format':'tar','version':1,'models':{}}", "/format", "no archive"},
        {"{'format':'torqued-archive','version':2,'models':{}}", "/version", "version 2"},
        {"{'format':'torqued-archive','models':{}}", "/version", "version 0"},
        {HEAD "[]}", "/models", "an array"},
        {HEAD "{'good':{'document':" HINGE("1") "},'-':{'deleted':true}}}", "/models", "no model name"},
        {HEAD "{'good':{'document':" HINGE("1") "},'bad':{}}}", "/models/bad", "a record is"},
        {HEAD "{'good':{'document':" HINGE("1") "},'bad':{'document':" HINGE("-1") "}}}",
         "/models/bad/document/links/0/inertial/mass", "-1"},
        {HEAD "{'good':{'document':" HINGE("1") "},'hinge':{'document':{}}}}", "/models/hinge/document/links", ""},
    };
    wipe();
    start(NULL);
    char *hinge = model("hinge");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        api_problem  problem;
        api_imported done;
        char        *text = strdup(cases[i].archive);
        for (char *c = text; *c; c++)
            if (*c == '\'') *c = '"';
        api_problem_clear(&problem);
        if (api_import(door_api(), text, strlen(text), &done, &problem)) fail_msg("taken: %s", text);
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
    api_imported      done;
    api_problem       problem;
    wipe();
    start(NULL);
    disk.refuses = API_STORE_FULL;
    disk.after   = 2;
    api_problem_clear(&problem);
    assert_false(api_import(door_api(), archive, strlen(archive), &done, &problem));
    assert_int_equal(problem.code, API_STORE_FULL);
    assert_int_equal(done.deleted, 2);
    disk.refuses = API_NO_PROBLEM;
    api_problem_clear(&problem);
    assert_true(api_import(door_api(), archive, strlen(archive), &done, &problem));
    assert_true(done.deleted == 1 && done.unchanged == 2);
    door_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_stored_before_they_are_seen),
        cmocka_unit_test(what_is_refused_has_not_happened),
        cmocka_unit_test(what_is_refused_before_never_reaches_the_store),
        cmocka_unit_test(models_come_back_as_they_were),
        cmocka_unit_test(a_deleted_bundled_model_stays_deleted),
        cmocka_unit_test(deleting_ones_own_leaves_nothing),
        cmocka_unit_test(stored_models_come_back_beyond_the_limit),
        cmocka_unit_test(unreadable_records_hide_and_say_why),
        cmocka_unit_test(readyz_tells_reasons),
        cmocka_unit_test(archives_give_the_same_models),
        cmocka_unit_test(tombstones_travel),
        cmocka_unit_test(bad_archives_change_nothing),
        cmocka_unit_test(an_import_that_the_store_stops_is_counted),
    };
    return cmocka_run_group_tests(tests, make_bundled, drop_bundled);
}
