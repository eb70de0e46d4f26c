/* models.h - makes models from documents and evaluates the kernels for them, one state at a time. */
#pragma once
#include "api/robots/model/model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Parses JSON text as documents are parsed: all numbers real. In tests ' stands for ". Asserts that the text is
 * JSON. */
json_t *json_of(const char *text);

/* Builds a model and asserts that its document is accepted. The caller releases the model. */
api_model *model_of(const char *text);
api_model *model_of_json(const json_t *document);
/* Builds a second model from the document that a model holds; asserts that both have the same document and revision. */
api_model *model_again(const api_model *model);
/* Builds the model of models/NAME.json in this source tree. */
api_model *bundled_model(const char *name);

/* Asserts that the document is refused with that code, pointer, and a detail that contains `words`. */
void assert_refused(const char *text, const char *code, const char *pointer, const char *words);

/* Asserts that the model's report has an entry with that code and pointer; count_reports counts the entries with a
 * code. */
void   assert_reported(const api_model *model, const char *code, const char *where);
size_t count_reports(const api_model *model, const char *code);

/* Evaluate one state in one lane, with the model's own gravity and all terms. NULL means zeros. */
void inverse_dynamics(const api_model *model, const double *q, const double *qd, const double *qdd, double *tau);
void joint_wrenches(const api_model *model, const double *q, const double *qd, const double *qdd, double *wrenches);
void mass_matrix(const api_model *model, const double *q, double *M);
/* Computes the pose of a link or frame in the world: position and quaternion x y z w. */
void frame_pose(const api_model *model, const char *frame, const double *q, double position[3], double orientation[4]);

/* Asserts |a - b| <= tolerance * largest |b| for all entries. */
void assert_close(const double *a, const double *b, size_t n, double tolerance);
