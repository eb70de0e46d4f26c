/* door.h - asking the product through api.h as a server does, without sockets. */
#pragma once
#include "api/api.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* An api with a robot `arm` (revolute, revolute, prismatic, revolute: nq = nv = 4, friction, a spring, a frame
 * `tool`, a merged link `grip`), the same on a floating base as `free`, and a slider of 1 kg without gravity
 * as `slider` (tau = qdd to the bit). `limits` may be NULL. Closed by door_close. */
void                    door_open(const api_limits *limits);
void                    door_open_on(const api_limits *limits, const char *target);
void                    door_close(void);
int                     door_setup(void **state); /* of a group of tests */
int                     door_teardown(void **state);
api                    *door_api(void);
extern const api_limits door_limits; /* what NULL means */

/* Reads and restores a saved record. */
bool door_restore(const char *name, const char *record, size_t length, api_problem *problem);

/* What came back. In all texts handed in, ' stands for ". */
typedef struct answer {
    unsigned status;
    char    *text; /* the body, NUL-terminated; NULL: none */
    size_t   length;
    json_t  *json; /* NULL when there is no body, or one that is not JSON as it is */
    char     header[16][400], header_name[16][40];
    size_t   n_headers;
} answer;

const answer *ask(const char *method, const char *target, const char *body); /* valid until the next question */
const answer *ask_with(const api_request *head, const char *body, size_t length, const api_deadline *deadline);
const answer *post(const char *model_and_operation, const char *body); /* below /v1/models/ */
/* The status of POST {"q":[0]} to slider/bias with that head, or of its own method and target. */
unsigned    status_with(api_request head);
const char *header_of(const answer *a, const char *name); /* NULL: absent */

/* The text of the answer, whose status must be 200; the caller frees it. */
char *answer_text(const char *model_and_operation, const char *body);
char *evaluated(const char *operation, const char *model, const char *body);
/* Asserts that the answer is `expected`, byte by byte. */
void assert_answer(const char *model_and_operation, const char *body, const char *expected);
/* Asserts that both requests have the same answer, byte by byte. */
void assert_same_answers(const char *target_a, const char *a, const char *target_b, const char *b);

/* The number at a path like "mass_matrix/0/3" of the last answer. */
double number_at(const char *path);

/* Asserts that the last answer is a complete problem. pointer NULL or row -1: there must be none. */
void assert_problem(unsigned status, const char *code, const char *pointer, long long row);
/* ... and that its detail holds `words`. */
void assert_detail(const char *words);
