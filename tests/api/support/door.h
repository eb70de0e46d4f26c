/* door.h - opens the service under test and sends it requests through api.h as a server does, without sockets. */
#pragma once
#include "api/api.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Opens the service with three robots: `arm` (revolute, revolute, prismatic, revolute: nq = nv = 4, friction, a spring,
 * a frame `tool`, a merged link `grip`); `free`, the same on a floating base; `slider`, a prismatic joint with 1 kg and
 * no gravity (tau = qdd to the bit). `limits` may be NULL. door_close closes the service. */
void                    door_open(const api_limits *limits);
void                    door_open_on(const api_limits *limits, const char *target);
void                    door_close(void);
int                     door_setup(void **state); /* setup of a group of tests */
int                     door_teardown(void **state);
api                    *door_api(void);
extern const api_limits door_limits; /* the limits that NULL stands for */

/* Reads a saved record and restores its model. */
bool door_restore(const char *name, const char *record, size_t length, api_problem *problem);

/* Holds an answer. In all texts that tests pass to these functions, ' stands for ". */
typedef struct answer {
    unsigned status;
    char    *text; /* the body, NUL-terminated; NULL: no body */
    size_t   length;
    json_t  *json; /* NULL if there is no body, or a body that is not plain JSON */
    char     header[16][400], header_name[16][40];
    size_t   n_headers;
} answer;

const answer *ask(const char *method, const char *target, const char *body); /* valid until the next request */
const answer *ask_with(const api_request *head, const char *body, size_t length, const api_deadline *deadline);
const answer *post(const char *model_and_operation, const char *body); /* target below /v1/models/ */
/* Returns the status of POST {"q":[0]} to slider/bias with that head, or to the head's own target with its own
 * method. */
unsigned    status_with(api_request head);
const char *header_of(const answer *a, const char *name); /* NULL: no such header */

/* The text of the answer, whose status must be 200; the caller frees it. */
char *answer_text(const char *model_and_operation, const char *body);
char *evaluated(const char *operation, const char *model, const char *body);
/* Asserts that the answer is `expected`, byte by byte. */
void assert_answer(const char *model_and_operation, const char *body, const char *expected);
/* Asserts that both requests have the same answer, byte by byte. */
void assert_same_answers(const char *target_a, const char *a, const char *target_b, const char *b);

/* Returns the number at a path like "mass_matrix/0/3" of the last answer. */
double number_at(const char *path);

/* Asserts that the last answer is a complete problem with these members; pointer NULL or row -1: the problem has no
 * such member. */
void assert_problem(unsigned status, const char *code, const char *pointer, long long row);
/* Asserts that the detail of the last problem contains `words`. */
void assert_detail(const char *words);
