/* disk.c - keeps a model store in memory for the service under test (disk.h). */
#include "disk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

disk_state disk;

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

/* Makes a change of another server arrive while this server asks to change the same name. Returns true if that makes
 * this server's change outdated. */
static bool is_outdated(const char *name, api_numbering *numbering)
{
    api_problem problem;
    api_problem_clear(&problem);
    bool stale = disk.shared && disk.other && disk.others-- > 0;
    if (stale) api_follow(door_api(), name, disk.other, strlen(disk.other), ++disk.number, &problem);
    numbering->outdated = stale;
    if (disk.shared && !stale) numbering->number = ++disk.number;
    disk.base = numbering->base;
    return stale;
}

static bool save(void *arg, const char *name, const char *record, size_t length, api_numbering *numbering,
                 api_problem *problem)
{
    assert_ptr_equal(arg, &disk);
    disk.saves++;
    if (disk.looks) look(name);
    if (refuse(problem) || is_outdated(name, numbering)) return false;
    char **to = slot(name);
    free(*to);
    *to = calloc(length + 1, 1);
    assert_non_null(*to);
    memcpy(*to, record, length);
    return true;
}

static bool erase(void *arg, const char *name, api_numbering *numbering, api_problem *problem)
{
    assert_ptr_equal(arg, &disk);
    disk.erases++;
    if (disk.looks) look(name);
    if (refuse(problem) || is_outdated(name, numbering)) return false;
    char **to = slot(name);
    free(*to);
    *to = NULL;
    return true;
}

static const api_store store = {.save = save, .erase = erase, .arg = &disk};

void disk_wipe(void)
{
    for (int i = 0; i < RECORDS; i++)
        free(disk.records[i].record);
    disk = (disk_state){0};
}

/* Names a folder with one bundled model, `hinge` of 1 kg. */
static char bundled[] = "/tmp/torqued-store-XXXXXX";

static void ignore(void *arg, const char *file, const char *problem)
{
    (void)arg, (void)file;
    assert_null(problem);
}

int disk_make(void **state)
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

int disk_drop(void **state)
{
    char command[100];
    disk_wipe();
    snprintf(command, sizeof command, "rm -r %s", bundled);
    return system(command);
}

/* Starts a server: loads the bundled models, then the stored records; from then on changes are stored. */
void disk_start(const api_limits *limits)
{
    door_open(limits);
    assert_true(api_load_models(door_api(), bundled, ignore, NULL));
    for (int i = 0; i < RECORDS; i++) {
        api_problem problem;
        const char *record = disk.records[i].record;
        if (record && !door_restore(disk.records[i].name, record, strlen(record), &problem))
            fail_msg("%s: %s", disk.records[i].name, problem.detail);
    }
    api_set_store(door_api(), &store);
}

void disk_restart(void)
{
    door_close();
    disk_start(NULL);
}

unsigned disk_request(const char *method, const char *name, const char *body)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", name);
    return ask(method, target, body)->status;
}

/* Returns the body of GET for a model; NULL if there is none. The caller frees it. */
char *disk_model(const char *name)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", name);
    const answer *a = ask("GET", target, NULL);
    assert_true(a->status == 200 || a->status == 404);
    return a->status == 200 ? strdup(a->text) : NULL;
}

void assert_model(const char *name, const char *expected)
{
    char *now = disk_model(name);
    if (!expected || !now)
        assert_true(!expected && !now);
    else
        assert_string_equal(now, expected);
    free(now);
}
