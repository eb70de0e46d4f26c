/* test_failing_memory.c - lets the k-th allocation fail, for every k and every kind of request: once only the k-th,
 * once also all later allocations.
 *
 * The test defines malloc, calloc, realloc and free, so that all libraries call them. Each kind of request runs in a
 * process of its own, whose crash the test survives. A request must be answered as usual or with 503, leave no memory
 * allocated, and be answered as usual when memory is available again. Requests with many allocations try only some of
 * these; EVERY_ALLOCATION=1 tries all, which takes minutes. */
#define _GNU_SOURCE
#include "tests/api/support/door.h"
#include "api/robots/formats.h"
#include "api/base/memory/shortage.h"
#include "api/codec/json.h"
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- allocations that fail ------------------------------------------------------------------------------------------
 */

static bool armed, sticky;
static long wait_for, failures, blocks;

/* Sanitizers define a malloc of their own: with them no allocation fails. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#include "tests/failing_allocators.h"

static bool fails(void)
{
    if (!armed || --wait_for > 0 || (wait_for < 0 && !sticky)) return false;
    failures++;
    errno = ENOMEM;
    return true;
}

static void count_blocks(int change)
{
    blocks += change;
}

#endif

/* --- requests -------------------------------------------------------------------------------------------------------
 */

typedef struct question {
    const char *method, *target, *content_type, *accept, *accept_encoding;
    char       *body;
    size_t      length;
    unsigned (*run)(const struct question *q); /* called instead of sending a request; NULL: send the request */
} question;

/* Progress of a child process, in memory that it shares with its parent, for the message about a crash. */
static struct progress {
    long k;
    bool sticky;
    long tries;
    char last[200];
} * progress;

static api_worker *worker;

/* Sends the request once. Returns the status; 0: there was no memory for an answer at all. */
static unsigned answer_to(const question *q)
{
    if (q->run) return q->run(q);
    const api_request head = {.method          = q->method,
                              .target          = q->target,
                              .content_type    = q->content_type,
                              .accept          = q->accept,
                              .accept_encoding = q->accept_encoding,
                              .if_match        = strcmp(q->method, "GET") == 0 ? NULL : "*",
                              .has_body        = q->body != NULL};
    api_call         *call = api_begin(door_api(), &head);
    if (!call) return 0;
    if (api_wants_run(call)) api_run(call, worker, q->body, q->length, NULL);
    const api_reply *reply  = api_reply_of(call);
    unsigned         status = reply->status;
    if (status >= 400 && status != 503)
        snprintf(progress->last, sizeof progress->last, "%u %.180s", status, reply->body ? reply->body : "");
    if (!reply->head && reply->content_type && !reply->body && !reply->static_body)
        status = 999; /* an answer with a media type but without a body is wrong, which the status 999 reports */
    api_end(call);
    api_worker_reset(worker);
    return status;
}

enum { AT_LEAST = 50, MOST_REPORTS = 20 };

/* Lets every allocation of a request fail in turn. Returns the number of answers that are wrong. */
static int try_all(const question *q, bool from_then_on)
{
    int      bad   = 0;
    unsigned usual = answer_to(q);
    answer_to(q); /* fills the caches before an allocation fails */
    for (long k = 1;; k += k < AT_LEAST || getenv("EVERY_ALLOCATION") ? 1 : 1 + k / AT_LEAST) {
        long before      = blocks;
        progress->k      = k;
        progress->sticky = sticky = from_then_on;
        progress->tries++;
        wait_for        = k;
        failures        = 0;
        armed           = true;
        unsigned status = answer_to(q);
        armed           = false;
        if (status != usual && status != 503 && status != 0) {
            printf("# %s %s: allocation %ld%s: %u, %s\n", q->method, q->target, k, sticky ? " and all later" : "",
                   status, progress->last);
            bad++;
        }
        if (blocks > before) {
            answer_to(q);
            if (blocks > before) {
                printf("# %s %s: allocation %ld%s: %ld blocks left\n", q->method, q->target, k,
                       sticky ? " and all later" : "", blocks - before);
                bad++;
            }
        }
        if (failures == 0) break;
        if (bad > MOST_REPORTS) break;
    }
    if (answer_to(q) != usual) bad++;
    return bad;
}

/* Tries a request in a process of its own. */
static int try(const question *q)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka would report the crash in the child */
        signal(SIGABRT, SIG_DFL);
        int bad = try_all(q, false) + try_all(q, true);
        fflush(stdout);
        _exit(bad > 0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status == 0) return 0;
    if (WIFSIGNALED(status))
        printf("# %s %s: allocation %ld%s: killed by signal %d\n", q->method, q->target, progress->k,
               progress->sticky ? " and all later" : "", WTERMSIG(status));
    return 1;
}

extern const char api_openapi_start[], api_openapi_end[];

/* Finds the model that an example of the contract is for: the longest model name that begins the example's name and is
 * followed by the end or a dash. */
static const char *model_of(const char *example)
{
    static char name[100];
    snprintf(name, sizeof name, "%s", example);
    for (char *end = name + strlen(name);; *end = '\0') {
        char target[200];
        snprintf(target, sizeof target, "/v1/models/%s", name);
        if (ask("GET", target, NULL)->status == 200) return name;
        while (end > name && *end != '-')
            end--;
        if (end == name) return "puma560";
    }
}

static void test_operations(void **state)
{
    json_t *contract = json_loadb(api_openapi_start, (size_t)(api_openapi_end - api_openapi_start), 0, NULL), *item,
           *example;
    const char *path, *name;
    int         bad = 0;
    json_object_foreach (json_object_get(contract, "paths"), path, item) {
        json_t *content =
            json_object_get(json_object_get(json_object_get(json_object_get(item, "post"), "requestBody"), "content"),
                            "application/json");
        json_object_foreach (json_object_get(content, "examples"), name, example) {
            char target[200];
            snprintf(target, sizeof target, "/v1/models/%s/%s", model_of(name), strrchr(path, '/') + 1);
            char    *body = json_dumps(json_object_get(example, "value"), JSON_COMPACT);
            question q    = {.method       = "POST",
                             .target       = target,
                             .content_type = "application/json",
                             .body         = body,
                             .length       = strlen(body)};
            bad += try(&q);
            q.accept          = "application/cbor";
            q.accept_encoding = "gzip";
            bad += try(&q);
            free(body);
        }
    }
    json_decref(contract);
    assert_int_equal(bad, 0);
}

static char *file_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    *length    = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static void test_models(void **state)
{
    static const struct {
        const char *path, *type, *target;
    } files[] = {{"models/puma560.json", "application/json", "/v1/models/puma560"},
                 {"models/humanoid.json", "application/json", "/v1/models/humanoid"},
                 {"models/delta.json", "application/json", "/v1/models/delta"},
                 {"models/gait55.json", "application/json", "/v1/models/gait55"},
                 {"models/robotiq_2f_85.json", "application/json", "/v1/models/robotiq_2f_85"},
                 {"api/clients/python/samples/arm.urdf", "application/xml", "/v1/models/two_link?base=floating"},
                 {"tests/data/mjcf/arm.xml", "application/xml", "/v1/models/two_link"},
                 {"tests/data/mjcf/quadruped.xml", "application/xml", "/v1/models/two_link"},
                 {"tests/data/mjcf/gripper.xml", "application/xml", "/v1/models/two_link"},
                 {"tests/data/mjcf/newer/lander.xml", "application/xml", "/v1/models/two_link"}};
    int bad   = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        question q = {.method = "PUT", .target = files[i].target, .content_type = files[i].type};
        q.body     = file_text(files[i].path, &q.length);
        bad += try(&q);
        free(q.body);
    }
    assert_int_equal(bad, 0);
}

static void test_pages(void **state)
{
    static const question questions[] = {
        {.method = "GET", .target = "/v1"},
        {.method = "GET", .target = "/v1/models"},
        {.method = "GET", .target = "/v1/models", .accept = "application/cbor"},
        {.method = "GET", .target = "/v1/models/humanoid"},
        {.method = "GET", .target = "/v1/models/delta", .accept = "application/cbor"},
        {.method = "GET", .target = "/v1/models/humanoid/document"},
        {.method = "GET", .target = "/v1/models/humanoid/document", .accept = "application/cbor"},
        {.method = "GET", .target = "/v1/models/delta/export/sdf"},
        {.method = "GET", .target = "/v1/models/panda/export/mjcf", .accept = "application/cbor"},
        {.method = "GET", .target = "/livez"},
        {.method = "GET", .target = "/readyz"},
        {.method = "GET", .target = "/metrics"},
        {.method = "GET", .target = "/openapi.json", .accept_encoding = "gzip"},
        {.method = "GET", .target = "/openapi.json", .accept_encoding = "zstd"},
        {.method = "GET", .target = "/problems/memory-full", .accept = "text/html"},
        {.method = "GET", .target = "/problems/memory-full"},
    };
    int bad = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        bad += try(&questions[i]);
    assert_int_equal(bad, 0);
}

/* Fields of requests that no example of the contract has. */
#define ADAPTIVE "'duration':0.2,'samples':3,'tolerance':1e-6"

static const char dry[] =
    "{'links':[{'name':'a','parent':'base','joint':{'name':'ja','type':'revolute','axis':[0,1,0],"
    "'friction':{'coulomb':0.5}},'inertial':{'mass':1,'com':[0.3,0,0]}},{'name':'b','parent':'a','joint':{'name':'jb',"
    "'type':'revolute','axis':[0,1,0],'origin':{'xyz':[0.5,0,0]},'friction':{'coulomb':0.2}},'inertial':{'mass':1,"
    "'com':[0.3,0,0]}}]}";

static const char *const further_fields[][2] = {
    {"two_link/simulate", "{'q':[0,0.5]," ADAPTIVE ",'integrator':'esdirk5'}"},
    {"two_link/simulate", "{'q':[0,0.5]," ADAPTIVE ",'integrator':'dopri5'}"},
    {"two_link/simulate", "{'q':[[0,0.5],[1,2],[0,0]]," ADAPTIVE ",'on_error':'row'}"},
    {"two_link/simulate",
     "{'q':[0,0.5]," ADAPTIVE ",'input':{'controller':'state_feedback','gain_matrix':[[1,2,3,4],[5,6,7,8]],"
     "'q':[[0,0.1],[0.1,0]],'qd':[0.1,0.2],'tau':[0.1,0.2],'period':0.1}}"},
    {"dry/simulate", "{'q':[0,0.5]," ADAPTIVE ",'integrator':'esdirk5'}"},
    {"dry/simulate", "{'q':[0,0.5]," ADAPTIVE ",'integrator':'dopri5'}"},
    {"dry/simulate", "{'q':[[0,0.5],[1,2],[0,0]]," ADAPTIVE ",'on_error':'row'}"},
    {"three_link/step", "{'q':[0.3,0.5,-0.2],'tau':[1,0,0],'step':0.01,'integrator':'implicit_euler'}"},
    {"three_link/step",
     "{'q':[[0.3,0.5,-0.2],[1,1,1]],'tau':[1,0,0],'step':0.01,'held':[{'frame':'link3','axes':['y']}],"
     "'wrenches':[{'link':'link2','force':[1,0,0]}],'on_error':'row'}"},
    {"solo12/step", "{'q':[0,0,0.3,0,0,0,1,0,0.7,-1.4,0,0.7,-1.4,0,-0.7,1.4,0,-0.7,1.4],"
                    "'tau':[0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0],'step':0.001}"},
    {"three_link/rollout", "{'q':[0.3,0.5,-0.2],'torques':[[1,0,0],[0,1,0],[0,0,1]],'step':0.01,'integrator':'rk4'}"},
    {"three_link/rollout", "{'q':[[0.3,0.5,-0.2],[0,0,0]],'torques':[[[1,0,0],[0,1,0]],[[0,0,0],[0,0,1]]],'step':0.01,"
                           "'held':[{'frame':'link3','axes':['y']}],'on_error':'row'}"},
    {"five_bar/step", "{'q':[2,1.1],'tau':[1,0],'step':0.01,'integrator':'implicit_euler',"
                      "'outputs':['full','wrench_matrix','parameter_matrix']}"},
    {"five_bar/rollout", "{'q':[[2,1.1],[2.1,1]],'torques':[[1,0],[0,1],[0,0]],'step':0.01,'integrator':'rk4',"
                         "'on_error':'row'}"},
    {"two_link/trajectory",
     "{'degree':2,'duration':1,'samples':5,'control_points':[[[0,0],[1,1],[0,1]],[[0,0],[1,2],[0,0]]],"
     "'free':['joint2'],'points':[{'link':'link2'}],'outputs':['limits','dmargins_dknots','least_margins',"
     "'least_gradients','dtau_dot_dparameters','d_point_accelerations_dduration'],'on_error':'row'}"},
    {"delta/trajectory", "{'degree':1,'duration':1,'samples':2,'control_points':[[0,0,0],[0.1,0,0]],'kinds':['effort'],"
                         "'outputs':['least_gradients']}"},
    {"panda/inverse-kinematics", "{'frame':'panda_flange','position':[[0.5,0.1,0.4],[0.4,0.2,0.5]],'starts':4,"
                                 "'acceleration':[0,0,0.1],'outputs':['q','qd','qdd','iterations']}"},
};

static void swap_quotes(char *text)
{
    for (; *text; text++)
        if (*text == '\'') *text = '"';
}

/* Tries a request that is answered 200 when there is memory. */
static int try_fields(const char *model_and_operation, char *body)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", model_and_operation);
    swap_quotes(body);
    const question q = {
        .method = "POST", .target = target, .content_type = "application/json", .body = body, .length = strlen(body)};
    if (answer_to(&q) == 200) return try(&q);
    printf("# %s: %s\n", target, progress->last);
    return 1;
}

static void test_further_fields(void **state)
{
    int bad = 0;
    ask("PUT", "/v1/models/dry", dry);
    for (size_t i = 0; i < sizeof further_fields / sizeof *further_fields; i++) {
        char *body = strdup(further_fields[i][1]);
        bad += try_fields(further_fields[i][0], body);
        free(body);
    }
    assert_int_equal(bad, 0);
}

/* Writes rows of `panda` that determine all its parameters. */
static void write_measurements(FILE *text)
{
    static const char *const names[] = {"q", "qd", "qdd", "tau"};
    enum { ROWS = 20, NV = 7 };
    for (int field = 0; field < 4; field++) {
        fprintf(text, "'%s':[", names[field]);
        for (int i = 0; i < ROWS * NV; i++)
            fprintf(text, "%s%.2f%s", i % NV ? "," : "[", 2 * sin(i * i + 1.3 * field),
                    i % NV < NV - 1     ? ""
                    : i < ROWS * NV - 1 ? "],"
                                        : "]],");
    }
}

static void test_identification(void **state)
{
    static const char *const options[] = {
        "'unknown':['payload','friction','rotors'],'frame':'panda_flange','outputs':['payload','model']",
        "'friction':true,'rotor':true,'consistent':true,'on_error':'row'",
        "'gravity':[0,0,0.001],'unknown':['payload.mass','payload.com'],'frame':'panda_link1','huber':1.345",
        ("'friction':true,'prior':{'bodies':0.1,'friction':1},'weights':[0,0,0,1,1,1,1],'huber':2,'outputs':['model','"
         "fit','observability']")};
    int bad = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char  *body;
        size_t length;
        FILE  *text = open_memstream(&body, &length);
        fprintf(text, "{");
        write_measurements(text);
        fprintf(text, "%s}", options[i]);
        fclose(text);
        bad += try_fields("panda/identify", body);
        free(body);
    }
    assert_int_equal(bad, 0);
}

/* --- commands without a server ---------------------------------------------------------------------------------------
 */

/* Loads a file. Returns the status of its problem; 200: no problem. */
static unsigned load_status(const question *q)
{
    const api_model_file file = {.name = "loaded", .text = q->body, .length = q->length};
    api_problem          problem;
    api_problem_clear(&problem);
    return api_load_file(door_api(), &file, NULL, &problem) ? 200 : api_problem_kind_of(problem.code)->status;
}

static unsigned import_status(const question *q)
{
    api_import_counts done;
    api_problem       problem;
    api_problem_clear(&problem);
    const api_import_options options = {.unverified = false};
    bool                     taken   = api_import(door_api(), q->body, q->length, &options, &done, &problem);
    return taken ? 200 : api_problem_kind_of(problem.code)->status;
}

static unsigned restore_status(const question *q)
{
    api_problem     problem;
    api_saved_model deleted  = {.model = NULL};
    bool            restored = door_restore("restored", q->body, q->length, &problem);
    armed                    = false;
    api_problem_clear(&deleted.problem);
    api_restore(door_api(), "restored", &deleted); /* resets to deleted, the state after a failed restore */
    return restored ? 200 : api_problem_kind_of(problem.code)->status;
}

static bool follow(const char *record, size_t length, uint64_t number, api_problem *problem)
{
    api_problem_clear(problem);
    return api_follow(door_api(), "followed", record, length, number, problem);
}

/* Follows a change of a shared store. A change that failed must take effect when it is repeated. */
static unsigned follow_status(const question *q)
{
    static uint64_t   number;
    static const char deleted[] = "{\"deleted\":true}";
    const question    look      = {.method = "GET", .target = "/v1/models/followed"};
    api_problem       problem, ignored;
    bool              followed = follow(q->body, q->length, ++number, &problem);
    armed                      = false;
    if (!followed) follow(q->body, q->length, number, &ignored);
    unsigned status = answer_to(&look);
    if (status == 200 && !followed) status = api_problem_kind_of(problem.code)->status;
    follow(deleted, strlen(deleted), ++number, &ignored);
    return status;
}

/* Writes the model `target` in the format `content_type`. Returns 999 if the text differs from the text that was
 * written when no allocation failed. */
static unsigned write_status(const question *q)
{
    static char         *first;
    api_problem          problem;
    size_t               length;
    const api_model_form form = {.format = q->content_type, .bound = strcmp(q->content_type, "document") != 0};
    api_problem_clear(&problem);
    char *text     = api_write_model(door_api(), q->target, &form, NULL, &length, &problem);
    bool  is_armed = armed;
    armed          = false;
    if (!is_armed) free(first), first = text ? strdup(text) : NULL;
    unsigned status = !text ? api_problem_kind_of(problem.code)->status : strcmp(text, first) == 0 ? 200 : 999;
    free(text);
    armed = is_armed;
    return status;
}

static void test_writing(void **state)
{
    const question questions[] = {
        {.method = "write", .target = "puma560", .content_type = "urdf", .run = write_status},
        {.method = "write", .target = "humanoid", .content_type = "mjcf", .run = write_status},
        {.method = "write", .target = "prismatic_revolute", .content_type = "sdf", .run = write_status},
        {.method = "write", .target = "delta", .content_type = "document", .run = write_status},
    };
    int bad = 0;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        bad += try(&questions[i]);
    assert_int_equal(bad, 0);
}

static unsigned export_status(const question *q)
{
    size_t      length;
    api_problem problem;
    api_problem_clear(&problem);
    char *text = api_export(door_api(), "2026-11-28T22:00:00Z", &length, &problem);
    free(text);
    return text ? 200 : api_problem_kind_of(problem.code)->status;
}

static void test_commands(void **state)
{
    size_t      length;
    api_problem problem;
    char       *archive = api_export(door_api(), "2026-11-28T22:00:00Z", &length, &problem), *urdf, *document;
    question    q       = {.method = "import", .target = "", .body = archive, .length = length, .run = import_status};
    int         bad     = try(&q);
    free(archive);
    q = (question){.method = "export", .target = "", .run = export_status};
    bad += try(&q);
    urdf = file_text("api/clients/python/samples/arm.urdf", &length);
    q    = (question){.method = "load", .target = "arm.urdf", .body = urdf, .length = length, .run = load_status};
    bad += try(&q);
    free(urdf);
    document = file_text("models/delta.json", &length);
    q = (question){.method = "load", .target = "delta.json", .body = document, .length = length, .run = load_status};
    bad += try(&q);
    char *record = malloc(length + 20);
    q.length     = (size_t)sprintf(record, "{\"document\":%.*s}", (int)length, document);
    q.method     = "restore";
    q.body       = record;
    q.run        = restore_status;
    bad += try(&q);
    q.method = "follow";
    q.run    = follow_status;
    bad += try(&q);
    free(record);
    free(document);
    assert_int_equal(bad, 0);
}

static unsigned parse_status(const question *q)
{
    api_problem problem;
    api_problem_clear(&problem);
    api_shortage_forget();
    json_t  *value  = api_json_parse(q->body, q->length, 10, &problem);
    unsigned status = value ? 200 : api_problem_kind_of(problem.code)->status;
    json_decref(value);
    return status;
}

/* Parses tokens so long that the buffer of jansson's lexer grows: a failing allocation must not abort the process. */
static void test_tokens(void **state)
{
    static const char *const texts[] = {
        "[0.14285714285714285,0.2857142857142857,-1.2345678901234567890123456789012345678901234567890e-100]",
        "{\"a name of more than sixteen bytes\":\"text of more than thirty-two bytes, \\u00e9\"}",
        ("[\"0123456789012345678901234567890\",\"0123456789012345678901234567890\",12345678901234567890123456789012345."
         "5]"),
        "[{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9},0.14285714285714285]",
        "{\"a\":\"0123456789012345678901234567890123456789\t\"}",
        "[0.14285714285714285714285x",
        "[nulllllllllllllllllllll]",
    };
    int  bad = 0;
    char long_number[3000];
    memset(long_number, '3', sizeof long_number);
    long_number[0] = '[', long_number[1] = '0', long_number[2] = '.', long_number[sizeof long_number - 2] = ']';
    long_number[sizeof long_number - 1] = '\0';
    for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
        char    *body = strdup(i < sizeof texts / sizeof *texts ? texts[i] : long_number);
        question q    = {.method = "parse", .target = body, .body = body, .length = strlen(body), .run = parse_status};
        bad += try(&q);
        free(body);
    }
    assert_int_equal(bad, 0);
}

static void ignore(void *arg, const char *file, const char *problem)
{
    assert_null(problem);
}

static int open_all(void **state)
{
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    door_open(NULL);
    worker = api_worker_open();
    return progress != MAP_FAILED && worker && api_load_models(door_api(), "models", ignore, NULL) ? 0 : -1;
}

static int close_all(void **state)
{
    printf("# %ld tries\n", progress->tries);
    api_worker_close(worker);
    door_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),          cmocka_unit_test(test_models),         cmocka_unit_test(test_operations),
        cmocka_unit_test(test_further_fields), cmocka_unit_test(test_identification), cmocka_unit_test(test_commands),
        cmocka_unit_test(test_writing),        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
