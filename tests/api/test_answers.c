/* test_answers.c - checks answers to dynamics requests: shapes, batches, named and permuted joints, options, the
 * combined request `evaluate`, equal bits on all targets and in all batches, and estimates of cost. */
#include "tests/api/support/door.h"
#include "api/requests/lanes/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define Q   "'q':[0.1,0.2,0.3,0.4]"
#define QD  "'qd':[1,-2,3,-4]"
#define QDD "'qdd':[5,6,7,8]"

/* Checks texts of answers to the byte: tau = 1 kg * qdd, so that a number is written as it was read. */
static void exact_texts(void **state)
{
    assert_answer("slider/inverse-dynamics", "{'q':[0],'qdd':[3]}", "{'tau':[3]}");
    assert_answer("slider/inverse-dynamics", "{'q':[0],'qdd':[[3]]}", "{'tau':[[3]]}");
    assert_answer("slider/inverse-dynamics", "{'q':[0],'qdd':[[1e21],[1e-7],[0.1],[12345678901234567890]]}",
                  "{'tau':[[1e+21],[1e-7],[0.1],[12345678901234567000]]}");
    assert_answer("slider/mass-matrix", "{'q':[[0],[1]],'outputs':['inverse','mass_matrix']}",
                  "{'mass_matrix':[[[1]],[[1]]],'inverse':[[[1]],[[1]]]}");
    assert_answer("slider/energy", "{'q':[2],'qd':[3],'outputs':['mass','kinetic','com']}",
                  "{'kinetic':4.5,'mass':1,'com':[0,0,2]}");
    assert_answer("slider/energy", "{'q':[2],'qd':[[3],[1]],'outputs':['mass','kinetic']}",
                  "{'kinetic':[4.5,0.5],'mass':[1,1]}");
    assert_answer("slider/kinematics", "{'q':[2],'frames':['carriage']}",
                  "{'poses':{'carriage':{'position':[0,0,2],'orientation':[0,0,0,1]}}}");
    assert_answer("slider/kinematics", "{'q':[[2],[3]],'frames':['carriage','base']}",
                  "{'poses':{'carriage':{'position':[[0,0,2],[0,0,3]],'orientation':[[0,0,0,1],[0,0,0,1]]},"
                  "'base':{'position':[[0,0,0],[0,0,0]],'orientation':[[0,0,0,1],[0,0,0,1]]}}}");
    assert_answer("slider/kinematics", "{'q':[2],'frames':[]}", "{'poses':{}}");
    assert_answer("slider/evaluate", "{'q':[[2]],'operations':{'bias':{},'mass-matrix':{}}}",
                  "{'bias':{'bias':[[0]]},'mass-matrix':{'mass_matrix':[[[1]]]}}");
}

static void equivalent_fields(void **state)
{
    const char *id = "arm/inverse-dynamics", *fd = "arm/forward-dynamics";
    assert_same_answers(id, "{" Q "}", id, "{" Q ",'qd':[0,0,0,0],'qdd':[0,0,0,0],'wrenches':[],'payload':[]}");
    assert_same_answers(id, "{" Q "," QD "}", id,
                        "{" Q "," QD ",'gravity':[0,0,-9.81],'friction':true,'outputs':['tau']}");
    assert_same_answers(
        id, "{" Q "," QD "," QDD "}", id,
        "{'q':{'hip':0.4,'grasp':0.3,'elbow':0.2,'shoulder':0.1},'qd':{'elbow':-2,'shoulder':1,'hip':-4,'grasp':3}," QDD
        "}");
    assert_same_answers(fd, "{" Q ",'tau':[1,2,3,4],'wrenches':[{'link':'grip'}]}", fd, "{" Q ",'tau':[1,2,3,4]}");
    assert_same_answers(id, "{" Q ",'payload':{'link':'grip','mass':1}}", id,
                        "{" Q ",'payload':[{'link':'grip','mass':1,'com':[0,0,0],'inertia':{'xx':0,'yz':0}}]}");
    assert_same_answers("arm/kinematics", "{" Q ",'frame':'tool','outputs':['velocity']," QD "}", "arm/kinematics",
                        "{" Q ",'frame':'tool','outputs':['velocity']," QD ",'reference':'world'}");
    assert_same_answers("arm/bias", "{'q':[[0.1,0.2,0.3,0.4],[0.1,0.2,0.3,0.4]]," QD "}", "arm/bias",
                        "{" Q ",'qd':[[1,-2,3,-4],[1,-2,3,-4]]}");
}

static void friction_can_be_left_out(void **state)
{
    post("arm/bias", "{" Q "," QD ",'outputs':['friction']}");
    assert_true(fabs(number_at("friction/0") - 0.7) < 1e-15);
    assert_answer("arm/bias", "{" Q "," QD ",'outputs':['friction'],'friction':false}", "{'friction':[0,0,0,0]}");
}

/* Compares an answer for permuted `joints`, hip first, with the answer in the order of the model. */
static void permuted_joints(void **state)
{
    static const int order[] = {3, 0, 2, 1};
    const char      *turned  = "{'joints':['hip','shoulder','grasp','elbow'],'q':[0.4,0.1,0.3,0.2],'qd':[-4,1,3,-2],"
                               "'qdd':[8,5,7,6],'operations':{'inverse-dynamics':{'outputs':['tau','joint_wrenches']},"
                               "'mass-matrix':{},'kinematics':{'frame':'tool','outputs':['jacobian']}}}";
    const char *plain = "{" Q "," QD "," QDD ",'operations':{'inverse-dynamics':{'outputs':['tau','joint_wrenches']},"
                        "'mass-matrix':{},'kinematics':{'frame':'tool','outputs':['jacobian']}}}";
    double      tau[4], M[4][4], J[6][4], w[4][6];
    char        path[100];
    free(answer_text("arm/evaluate", plain));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "inverse-dynamics/tau/%d", i);
        tau[i] = number_at(path);
        for (int j = 0; j < 4; j++)
            snprintf(path, sizeof path, "mass-matrix/mass_matrix/%d/%d", i, j), M[i][j] = number_at(path);
        for (int j = 0; j < 6; j++) {
            snprintf(path, sizeof path, "inverse-dynamics/joint_wrenches/%d/%d", i, j), w[i][j] = number_at(path);
            snprintf(path, sizeof path, "kinematics/jacobian/%d/%d", j, i), J[j][i]             = number_at(path);
        }
    }
    free(answer_text("arm/evaluate", turned));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "inverse-dynamics/tau/%d", i);
        assert_true(number_at(path) == tau[order[i]]);
        for (int j = 0; j < 4; j++)
            snprintf(path, sizeof path, "mass-matrix/mass_matrix/%d/%d", i, j),
                assert_true(number_at(path) == M[order[i]][order[j]]);
        for (int j = 0; j < 6; j++) {
            snprintf(path, sizeof path, "inverse-dynamics/joint_wrenches/%d/%d", i, j),
                assert_true(number_at(path) == w[i][j]);
            snprintf(path, sizeof path, "kinematics/jacobian/%d/%d", j, i),
                assert_true(number_at(path) == J[j][order[i]]);
        }
    }
}

/* --- equal bits ------------------------------------------------------------------------------------------------- */

static const char everything[] =
    ",'wrenches':[{'link':'grip','force':[1,2,3],'torque':[4,5,6],'point':[0.1,0.2,0.3],'frame':'link'}],"
    "'operations':{'inverse-dynamics':{'outputs':['tau','joint_wrenches']},"
    "'forward-dynamics':{'outputs':['joint_wrenches','qdd','contact_wrenches'],"
    "'held':[{'frame':'tool','axes':['x','rz'],'reference':'frame'}]},"
    "'impact':{'held':[{'frame':'tool','axes':['x','rz']}]},"
    "'mass-matrix':{'outputs':['inverse']},'bias':{'outputs':['bias','coriolis','gravity','friction']},"
    "'kinematics':{'frame':'tool','outputs':['poses','jacobian','jacobian_dot','velocity','acceleration','jerk']},"
    "'energy':{'outputs':['kinetic','potential','com','com_velocity','com_jacobian','momentum','momentum_matrix']}}";

/* Writes state i of a fixed sequence of states as members of a JSON object; if `rows` is not 0, a batch of that many
   states, beginning with state i. */
static char *state_text(size_t nq, size_t nv, size_t i, size_t rows)
{
    static const char *const names[] = {"q", "qd", "qdd", "qddd", "tau"};
    size_t                   size    = 5 * (rows + 1) * (nq + 1) * 28 + 2000;
    char                    *text = malloc(size), *p = text;
    for (int f = 0; f < 5; f++) {
        size_t n = f == 0 ? nq : nv;
        p += sprintf(p, "%s'%s':%s", f > 0 ? "," : "{", names[f], rows ? "[" : "");
        for (size_t r = 0; r < (rows ? rows : 1); r++) {
            p += sprintf(p, "%s[", r > 0 ? "," : "");
            for (size_t k = 0; k < n; k++) {
                double value = sin((double)(1000 * (i + r) + 100 * (size_t)f + k + 1) * 1.37);
                if (nq != nv && f == 0 && k >= 3 && k < 7) value = k == 6 ? 0.8 : k == 3 ? 0.6 : 0;
                p += sprintf(p, "%s%.17g", k > 0 ? "," : "", value);
            }
            p += sprintf(p, "]");
        }
        p += sprintf(p, "%s", rows ? "]" : "");
    }
    strcpy(p, everything);
    strcat(p, "}");
    return text;
}

/* Returns row `row` of a batched answer in the form of an answer to a request of this state only; the caller owns the
   reference. */
static json_t *row_of(const json_t *value, size_t row)
{
    const char *key;
    json_t     *member, *object;
    if (!json_is_object(value)) return json_incref(json_array_get(value, row));
    object = json_object();
    json_object_foreach ((json_t *)(uintptr_t)value, key, member)
        json_object_set_new(object, key, row_of(member, row));
    return object;
}

static void compare_rows(const char *model, size_t nq, size_t nv, size_t rows)
{
    char target[64];
    snprintf(target, sizeof target, "%s/evaluate", model);
    char   *text       = state_text(nq, nv, 0, rows);
    char   *batch_text = answer_text(target, text);
    json_t *batch      = json_loads(batch_text, JSON_DECODE_ANY, NULL);
    for (size_t i = 0; i < rows; i++) {
        char   *alone      = state_text(nq, nv, i, 0);
        char   *alone_text = answer_text(target, alone);
        json_t *single = json_loads(alone_text, 0, NULL), *row = row_of(batch, i);
        if (!json_equal(single, row)) fail_msg("%s: row %zu of %zu differs from the state alone", model, i, rows);
        json_decref(row);
        json_decref(single);
        free(alone_text);
        free(alone);
    }
    json_decref(batch);
    free(batch_text);
    free(text);
}

static void rows_equal_single_states(void **state)
{
    for (size_t rows = 1; rows <= 19; rows++) {
        compare_rows("arm", 4, 4, rows);
        compare_rows("free", 11, 10, rows);
    }
    compare_rows("arm", 4, 4, API_CHUNK + 5); /* one chunk of states and five more */
}

/* Every target of an arithmetic class must write the same bytes, and the answer's header must name the class. */
static void targets_agree(void **state)
{
    char *expected[2][2] = {{NULL}};
    for (size_t t = 0; dyn_kernels_at(t); t++) {
        char **of_class = expected[dyn_kernels_at(t)->fused];
        door_close();
        door_open_on(NULL, dyn_kernels_at(t)->target);
        for (int m = 0; m < 2; m++) {
            char *text = state_text(m ? 11 : 4, m ? 10 : 4, 0, 21),
                 *got  = answer_text(m ? "free/evaluate" : "arm/evaluate", text);
            if (!of_class[m]) of_class[m] = strdup(got);
            assert_string_equal(got, of_class[m]);
            free(got);
            free(text);
        }
        assert_string_equal(header_of(post("slider/bias", "{'q':[0]}"), "Arithmetic"),
                            dyn_kernels_arithmetic(dyn_kernels_at(t)));
    }
    for (int m = 0; m < 4; m++)
        free(expected[m / 2][m % 2]);
}

/* --- sizes of numbers and models -------------------------------------------------------------------------------- */

/* Fills an answer with the longest numbers: their computed bound must hold, or the answer would be an internal
 * error. */
static void long_numbers_fit_the_bound(void **state)
{
    char text[4000] = "{'q':[0],'qdd':[", *p = text + strlen(text);
    for (int i = 0; i < 100; i++)
        p += sprintf(p, "%s[-0.0000012345678901234567]", i > 0 ? "," : "");
    strcpy(p, "]}");
    const answer *a = post("slider/inverse-dynamics", text);
    assert_int_equal(a->status, 200);
    assert_int_equal(a->length, strlen("{\"tau\":[") + 100 * strlen("[-0.0000012345678901234567],") - 1 + strlen("]}"));
}

/* Evaluates the largest model in a memory budget that is a few times the size of its matrices. */
static void large_models_need_memory_for_their_own_states_only(void **state)
{
    enum { N = 512 };
    api_limits limits = door_limits;
    char      *text = malloc(N * 200 + 100), *p = text + sprintf(text, "{'links':[");
    limits.links  = N;
    limits.memory = 64 << 20;
    for (int i = 0; i < N; i++)
        p += sprintf(p,
                     "%s{'name':'l%d','parent':'%s%.0d','joint':{'name':'j%d','type':'revolute','axis':[%d,0,1],"
                     "'origin':{'xyz':[0,0,0.01]}},'inertial':{'mass':1,'inertia':{'xx':1,'yy':1,'zz':1}}}",
                     i > 0 ? "," : "", i + 1, i > 0 ? "l" : "base", i, i, i % 2);
    strcpy(p, "]}");
    door_close();
    door_open(&limits);
    assert_int_equal(ask("PUT", "/v1/models/long", text)->status, 201);
    p = text + sprintf(text, "{'outputs':['inverse'],'q':[0.1");
    for (int i = 1; i < N; i++)
        p += sprintf(p, ",0.1");
    strcpy(p, "]}");
    assert_int_equal(post("long/mass-matrix", text)->status, 200);
    assert_true(fabs(number_at("inverse/3/500") - number_at("inverse/500/3")) < 1e-9);
    free(text);
}

static void answers_name_the_revision(void **state)
{
    char revision[200];
    strcpy(revision, header_of(ask("GET", "/v1/models/arm", NULL), "Model-Revision"));
    assert_int_equal(strlen(revision), 32);
    assert_string_equal(header_of(post("arm/bias", "{" Q "}"), "Model-Revision"), revision);
}

/* A request must use the model that it began with, even if the model is replaced meanwhile. */
static void models_live_as_long_as_requests(void **state)
{
    static const char body[] = "{\"q\":[0],\"qdd\":[2]}";
    static const char two_kg[] =
        "{'gravity':[0,0,0],'links':[{'name':'carriage','parent':'base','joint':{'name':'rail',"
        "'type':'prismatic','axis':[0,0,1]},'inertial':{'mass':2}}]}";
    api_request head   = {.method = "POST", .target = "/v1/models/slider/inverse-dynamics"};
    api_worker *worker = api_worker_open();
    api_call   *before = api_begin(door_api(), &head);
    assert_int_equal(ask("PUT", "/v1/models/slider", two_kg)->status, 200);
    api_call *after = api_begin(door_api(), &head);
    assert_int_equal(ask("DELETE", "/v1/models/slider", NULL)->status, 204);
    api_run(before, worker, body, sizeof body - 1, NULL);
    api_run(after, worker, body, sizeof body - 1, NULL);
    assert_memory_equal(api_reply_of(before)->body, "{\"tau\":[2]}", 11);
    assert_memory_equal(api_reply_of(after)->body, "{\"tau\":[4]}", 11);
    api_end(before);
    api_end(after);
    api_worker_close(worker);
    assert_int_equal(post("slider/bias", "{'q':[0]}")->status, 404);
}

static void costs_grow_with_the_body(void **state)
{
    api_request head = {.method = "POST", .target = "/v1/models/arm/inverse-dynamics"};
    api_call   *call = api_begin(door_api(), &head);
    enum { LONG = 10000000 };
    char *body = calloc(1, LONG);
    assert_non_null(body);
    assert_true(api_estimate_cost(call, body, 100) > 1e-7 && api_estimate_cost(call, body, 100) < 1e-3);
    assert_true(api_estimate_cost(call, body, LONG) > 100 * api_estimate_cost(call, body, 1000));
    api_end(call);
    free(body);
}

static double cost_of_position(api_media media, const char *body, size_t length)
{
    api_request head = {.method       = "POST",
                        .target       = "/v1/models/linkage/inverse-dynamics",
                        .content_type = media == API_MEDIA_CBOR ? "application/cbor" : NULL};
    api_call   *call = api_begin(door_api(), &head);
    double      cost = api_estimate_cost(call, body, length);
    api_end(call);
    return cost;
}

/* The estimated cost must grow with the distance from the reference, along which loops are followed in steps. */
static void costs_grow_with_the_distance_of_loops(void **state)
{
    const char linkage[] =
        "{'links':[{'name':'l','parent':'base','joint':{'name':'l','type':'revolute','axis':[0,0,1],'home':0.5}},"
        "{'name':'m','parent':'l','joint':{'name':'m','type':'revolute','axis':[0,0,1],'actuated':false,'home':-0.5,"
        "'origin':{'xyz':[1,0,0]}}},{'name':'r','parent':'base','joint':{'name':'r','type':'revolute','axis':[0,0,1],"
        "'actuated':false,'home':0.5,'origin':{'xyz':[2,0,0]}}}],'frames':[{'name':'a','link':'m','xyz':[2,0,0]},"
        "{'name':'b','link':'r','xyz':[1,0,0]}],'loops':[{'name':'p','frame_a':'a','frame_b':'b','type':'spherical'}]}";
    assert_int_equal(ask("PUT", "/v1/models/linkage", linkage)->status, 201);
    const char near[] = "{\"q\":[ 1.0]}", far[] = "{\"q\":[1000]}", negative[] = "{\"q\":[[-1e3]]}";
    double     least = cost_of_position(API_MEDIA_JSON, near, sizeof near - 1);
    assert_true(cost_of_position(API_MEDIA_JSON, far, sizeof far - 1) > 100 * least);
    assert_true(cost_of_position(API_MEDIA_JSON, negative, sizeof negative - 1) > 100 * least);
    /* CBOR of {"q": [1000.0]}, with a plain and with a typed array */
    const char item[]  = "\xa1\x61q\x81\xfb\x40\x8f\x40\0\0\0\0\0";
    const char typed[] = "\xa1\x61q\xd8\x56\x48\0\0\0\0\0\x40\x8f\x40\0";
    assert_true(cost_of_position(API_MEDIA_CBOR, item, sizeof item - 1) > 100 * least);
    assert_true(cost_of_position(API_MEDIA_CBOR, typed, sizeof typed - 1) > 100 * least);
    assert_int_equal(ask("DELETE", "/v1/models/linkage", NULL)->status, 204);
}

static double cost_of_samples(const char *count)
{
    api_request head = {.method = "POST", .target = "/v1/models/arm/trajectory"};
    api_call   *call = api_begin(door_api(), &head);
    char        body[600];
    int         length = snprintf(body, sizeof body, "{\"samples\":%s", count);
    memset(body + length, ' ', sizeof body - (size_t)length);
    double cost = api_estimate_cost(call, body, sizeof body);
    api_end(call);
    return cost;
}

/* Requests that the limit of states will refuse must have a finite estimated cost, since the queue orders requests by
 * it. */
static void costs_end_at_the_limit_of_states(void **state)
{
    char digits[500];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    assert_true(cost_of_samples("2000") > 100 * cost_of_samples("2"));
    assert_true(cost_of_samples(digits) == cost_of_samples("1000000000"));
    assert_true(isfinite(cost_of_samples(digits)));
}

/* Returns the difference between the estimated costs of two operations for a body of this length, which cancels the
 * time to read it. */
static double cost_over(const char *dear, const char *cheap, const char *body, size_t length)
{
    const char *const targets[2] = {dear, cheap};
    double            cost[2];
    for (int i = 0; i < 2; i++) {
        api_request head = {.method = "POST", .target = targets[i]};
        api_call   *call = api_begin(door_api(), &head);
        cost[i]          = api_estimate_cost(call, body, length);
        api_end(call);
    }
    return cost[0] - cost[1];
}

/* The estimated cost must stop growing at the limit of rows of positions, however long the body is. */
static void costs_end_at_the_limit_of_rows(void **state)
{
    enum { LONG = 20000000 };
    static const char dear[] = "/v1/models/arm/sensitivity", cheap[] = "/v1/models/arm/inverse-dynamics";
    char             *body = calloc(1, LONG);
    assert_non_null(body);
    const double some = cost_over(dear, cheap, body, 1000), most = cost_over(dear, cheap, body, LONG / 4);
    assert_true(some > 0 && most > 10 * some);
    assert_true(fabs(cost_over(dear, cheap, body, LONG) - most) < 1e-9 * most);
    free(body);
}

/* Options that add work to a state add cost to a request: bodies of one length, in the order of their work. */
static void costs_grow_with_the_options(void **state)
{
    static const struct {
        const char *target, *options[3];
    } cases[] = {
        {"/v1/models/arm/step",
         {"\"integrator\":\"explicit_euler\"", "\"integrator\":\"rk4\"", "\"integrator\":\"implicit_euler\""}},
        {"/v1/models/arm/step", {"", "\"held\":[]", NULL}},
        {"/v1/models/arm/step",
         {"", "\"integrator\":\"rk4\"", "\"integrator\":\"rk4\",\"friction_at_rest\":\"stick\",\"held\":[]"}},
        {"/v1/models/arm/rollout", {"", "\"integrator\":\"rk4\"", "\"integrator\":\"rk4\",\"held\":[]"}},
        {"/v1/models/arm/forward-dynamics", {"", "\"friction_at_rest\":\"stick\"", NULL}},
        {"/v1/models/arm/forward-dynamics", {"", "\"held\":[]", "\"held\":[],\"friction_at_rest\":\"stick\""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const api_request head = {.method = "POST", .target = cases[i].target};
        double            last = 0;
        for (size_t k = 0; k < 3 && cases[i].options[k]; k++) {
            char      body[300];
            const int length = snprintf(body, sizeof body, "{%s", cases[i].options[k]);
            memset(body + length, ' ', sizeof body - (size_t)length);
            api_call    *call = api_begin(door_api(), &head);
            const double cost = api_estimate_cost(call, body, sizeof body);
            api_end(call);
            assert_true(cost > last);
            last = cost;
        }
    }
}

static double cost_of_simulation(api_media media, const char *body, size_t length)
{
    api_request head = {.method       = "POST",
                        .target       = "/v1/models/arm/simulate",
                        .content_type = media == API_MEDIA_CBOR ? "application/cbor" : "application/json"};
    api_call   *call = api_begin(door_api(), &head);
    double      cost = api_estimate_cost(call, body, length);
    api_end(call);
    return cost;
}

/* The estimated cost of a simulation must follow its number of steps, in either encoding. Invalid numbers cost nothing,
 * and no request costs more than the largest allowed number of steps. */
static void costs_of_simulations_are_their_steps(void **state)
{
    static const char *const texts[] = {
        "{\"q\":[1,2],\"duration\":10,\"step\":1e-2,\"samples\":2}",
        "{\"q\":[1,2],\"duration\":10,\"step\":1e-5,\"samples\":2}",
        "{\"q\":[1,2],\"duration\":1e9,\"step\":1e-3,\"samples\":2}",
        "{\"q\":[1,2],\"duration\":1e300,\"step\":1e-300,\"samples\":2}",
        "{\"q\":[1,2],\"duration\":1e999,\"step\":-1,\"samples\":2}",
    };
    double cost[5];
    for (int i = 0; i < 5; i++)
        cost[i] = cost_of_simulation(API_MEDIA_JSON, texts[i], strlen(texts[i]));
    assert_true(cost[1] > 20 * cost[0] && cost[2] > 5 * cost[1] && cost[3] < 1.1 * cost[2]);
    assert_true(cost[4] < cost[1] && isfinite(cost[3]));
    /* {"duration": 10, "step": 2^-10, "samples": 2} in CBOR, with doubles, 32-bit floats and integers */
    static const char coarse[] = "\xa3\x68"
                                 "duration\x0a\x64"
                                 "step\xfa\x3a\x80\0\0\x67"
                                 "samples\x02",
                      fine[]   = "\xa3\x68"
                                 "duration\x19\x03\xe8\x64"
                                 "step\xfb\x3f\x50\0\0\0\0\0\0\x67"
                                 "samples\xf9\x40\x00";
    double few                 = cost_of_simulation(API_MEDIA_CBOR, coarse, sizeof coarse - 1);
    double many                = cost_of_simulation(API_MEDIA_CBOR, fine, sizeof fine - 1);
    assert_true(many > 50 * few && many < 150 * few);
    for (size_t cut = 0; cut < sizeof fine; cut++)
        assert_true(isfinite(cost_of_simulation(API_MEDIA_CBOR, fine, cut)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_texts),
        cmocka_unit_test(equivalent_fields),
        cmocka_unit_test(friction_can_be_left_out),
        cmocka_unit_test(permuted_joints),
        cmocka_unit_test(rows_equal_single_states),
        cmocka_unit_test(targets_agree),
        cmocka_unit_test(long_numbers_fit_the_bound),
        cmocka_unit_test(large_models_need_memory_for_their_own_states_only),
        cmocka_unit_test(answers_name_the_revision),
        cmocka_unit_test(costs_grow_with_the_body),
        cmocka_unit_test(costs_grow_with_the_distance_of_loops),
        cmocka_unit_test(costs_end_at_the_limit_of_states),
        cmocka_unit_test(costs_end_at_the_limit_of_rows),
        cmocka_unit_test(costs_grow_with_the_options),
        cmocka_unit_test(costs_of_simulations_are_their_steps),
        cmocka_unit_test(models_live_as_long_as_requests),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
