/* door.c - sends requests to the product through api.h (door.h). */
#include "door.h"
#include "tests/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY(mass)                                                                                                     \
    "'inertial':{'mass':" mass ",'com':[0.02,0.01,0.15],'inertia':{'xx':0.02,'yy':0.03,'zz':0.04,'xy':0.001}}"
#define LINKS                                                                                                          \
    "'links':["                                                                                                        \
    "{'name':'upper','parent':'torso','joint':{'name':'shoulder','type':'revolute','axis':[0,0,1],"                    \
    "'origin':{'xyz':[0.1,0.2,0.3],'rpy':[0.1,-0.2,0.3]},'friction':{'viscous':0.3,'coulomb':0.4}}," BODY(             \
        "2") "},"                                                                                                      \
             "{'name':'fore','parent':'upper','joint':{'name':'elbow','type':'continuous','axis':[1,2,-1],"            \
             "'origin':{'xyz':[0,0,0.3]}}," BODY(                                                                      \
                 "1.5") "},"                                                                                           \
                        "{'name':'grip','parent':'fore','joint':{'name':'mount','type':'fixed','origin':{'xyz':[0,0,"  \
                        "0.25]}}},"                                                                                    \
                        "{'name':'finger','parent':'grip','joint':{'name':'grasp','type':'prismatic','axis':[0,1,0],"  \
                        "'spring':{'stiffness':30,'damping':2}}," BODY(                                                \
                            "0.2") "},"                                                                                \
                                   "{'name':'thigh','parent':'torso','joint':{'name':'hip','type':'revolute','axis':[" \
                                   "0,1,0]}," BODY("3") "}],"                                                          \
                                                        "'frames':[{'name':'tool','link':'grip','xyz':[0,0.05,0.1],'"  \
                                                        "rpy':[0.3,0.2,-0.4]}]"

const api_limits door_limits = {
    .body    = 16 << 20,
    .answer  = 16 << 20,
    .memory  = 1 << 28,
    .rows    = 20000,
    .nesting = 16,
    .models  = 100,
    .links   = 100,
    .timeout = 10,
};

static api        *door;
static api_worker *worker;
static answer      last;

static char *quoted(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p; p++)
        if (*p == '\'') *p = '"';
    return copy;
}

static void forget(void)
{
    free(last.text);
    json_decref(last.json);
    memset(&last, 0, sizeof last);
}

static void put(const char *name, const char *document)
{
    char target[100];
    snprintf(target, sizeof target, "/v1/models/%s", name);
    assert_int_equal(ask("PUT", target, document)->status, 201);
}

void door_open_on(const api_limits *limits, const char *target)
{
    char       error[200];
    api_config config = {.version = "test", .target = target, .limits = limits ? *limits : door_limits};
    door              = api_open(&config, error, sizeof error);
    assert_non_null(door);
    worker = api_worker_open();
    assert_non_null(worker);
    api_set_ready(door);
    put("arm", "{'base':{'type':'fixed','link':'torso'}," LINKS "}");
    put("free", "{'base':{'type':'floating','link':'torso'," BODY("8") "}," LINKS "}");
    put("slider", "{'gravity':[0,0,0],'links':[{'name':'carriage','parent':'base','joint':{'name':'rail','type':"
                  "'prismatic','axis':[0,0,1]},'inertial':{'mass':1}}]}");
}

void door_open(const api_limits *limits)
{
    door_open_on(limits, test_target());
}

void door_close(void)
{
    forget();
    api_worker_close(worker);
    api_close(door);
}

int door_setup(void **state)
{
    (void)state;
    door_open(NULL);
    return 0;
}

int door_teardown(void **state)
{
    (void)state;
    door_close();
    return 0;
}

api *door_api(void)
{
    return door;
}

bool door_restore(const char *name, const char *record, size_t length, api_problem *problem)
{
    api_saved_model saved;
    api_read_saved(door, name, record, length, &saved);
    bool good = api_restore(door, name, &saved);
    *problem  = saved.problem;
    return good;
}

static void keep_reply(const api_call *call)
{
    const api_reply *reply = api_reply_of(call);
    last.status            = reply->status;
    last.n_headers         = reply->n_headers;
    for (size_t i = 0; i < reply->n_headers; i++) {
        snprintf(last.header_name[i], sizeof last.header_name[i], "%s", reply->header[i].name);
        snprintf(last.header[i], sizeof last.header[i], "%s", reply->header[i].value);
    }
}

const answer *ask_with(const api_request *head, const char *body, size_t length, const api_deadline *deadline)
{
    forget();
    api_call *call = api_begin(door, head);
    assert_non_null(call);
    if (api_wants_run(call)) api_run(call, worker, body, length, deadline);
    keep_reply(call);
    last.length      = api_reply_of(call)->length;
    const char *type = api_reply_of(call)->content_type;
    const char *text = api_reply_of(call)->static_body; /* text of an embedded file */
    last.text        = text ? memcpy(calloc(last.length + 1, 1), text, last.length) : api_take_body(call);
    assert_true(!type == !last.text || (api_reply_of(call)->head && !last.text));
    if (last.text && strstr(type, "json") && !header_of(&last, "Content-Encoding")) {
        last.json = json_loadb(last.text, last.length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
        assert_non_null(last.json);
    }
    api_end(call);
    return &last;
}

const answer *ask(const char *method, const char *target, const char *body)
{
    char         *text = quoted(body ? body : "");
    api_request   head = {.method = method, .target = target, .has_body = body != NULL};
    const answer *a    = ask_with(&head, text, strlen(text), NULL);
    free(text);
    return a;
}

const answer *post(const char *model_and_operation, const char *body)
{
    char target[200];
    snprintf(target, sizeof target, "/v1/models/%s", model_and_operation);
    return ask("POST", target, body);
}

unsigned status_with(api_request head)
{
    static const char body[] = "{\"q\":[0]}";
    head.method              = head.method ? head.method : "POST";
    head.target              = head.target ? head.target : "/v1/models/slider/bias";
    return ask_with(&head, body, sizeof body - 1, NULL)->status;
}

const char *header_of(const answer *a, const char *name)
{
    for (size_t i = 0; i < a->n_headers; i++)
        if (strcmp(a->header_name[i], name) == 0) return a->header[i];
    return NULL;
}

char *answer_text(const char *model_and_operation, const char *body)
{
    const answer *a = post(model_and_operation, body);
    if (a->status != 200) fail_msg("%s %s: %s", model_and_operation, body, a->text);
    char *text = strdup(a->text);
    assert_non_null(text);
    return text;
}

char *evaluated(const char *operation, const char *model, const char *body)
{
    char target[100];
    snprintf(target, sizeof target, "%s/%s", model, operation);
    return answer_text(target, body);
}

void assert_answer(const char *model_and_operation, const char *body, const char *expected)
{
    char *text = answer_text(model_and_operation, body);
    for (char *p = text; *p; p++)
        if (*p == '"') *p = '\'';
    assert_string_equal(text, expected);
    free(text);
}

void assert_same_answers(const char *target_a, const char *a, const char *target_b, const char *b)
{
    char *x = answer_text(target_a, a), *y = answer_text(target_b, b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

double number_at(const char *path)
{
    const json_t *value = last.json;
    char          step[64];
    for (int used = 0; *path; path += used + (path[used] == '/')) {
        assert_int_equal(sscanf(path, "%63[^/]%n", step, &used), 1);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(step)) : json_object_get(value, step);
    }
    if (!json_is_number(value)) fail_msg("no number at %s of %s", path, last.text);
    return json_number_value(value);
}

static const char *member(const char *name)
{
    return json_string_value(json_object_get(last.json, name));
}

void assert_problem(unsigned status, const char *code, const char *pointer, long long row)
{
    char type[100];
    if (last.status != status || !member("code") || strcmp(member("code"), code) != 0)
        fail_msg("%u %s, expected %u %s", last.status, last.text, status, code);
    snprintf(type, sizeof type, "/problems/%s", code);
    assert_string_equal(member("type"), type);
    assert_true(strlen(member("title")) > 0 && strlen(member("detail")) > 0);
    assert_true(json_number_value(json_object_get(last.json, "status")) == status);
    assert_non_null(header_of(&last, "Request-Id"));
    if (pointer)
        assert_string_equal(member("pointer") ? member("pointer") : "(none)", pointer);
    else
        assert_null(member("pointer"));
    json_t *row_member = json_object_get(last.json, "row");
    assert_true((row_member ? json_number_value(row_member) : -1) == (double)row);
}

void assert_detail(const char *words)
{
    if (!strstr(member("detail"), words)) fail_msg("\"%s\" is not in: %s", words, member("detail"));
}
