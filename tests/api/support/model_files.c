/* model_files.c - reads robots from files, whole and damaged (model_files.h). */
#include "model_files.h"
#include <stdlib.h>
#include <string.h>

api_model *file_read(file_reader *read, api_model_source source, api_problem *problem)
{
    api_problem_clear(problem);
    char *bytes = malloc(source.length + (source.length == 0));
    assert_non_null(bytes);
    if (source.length > 0) memcpy(bytes, source.text, source.length);
    source.text      = bytes;
    api_model *model = read(&source, problem);
    free(bytes);
    assert_true((model == NULL) == (problem->code != API_NO_PROBLEM));
    return model;
}

api_model_source file_source(const char *text, size_t length, const char *query)
{
    return (api_model_source){
        .text = text, .length = length, .name = "m", .query = query, .nesting = NESTING, .max_links = LINKS};
}

api_model *file_model(file_reader *read, const char *text, const char *query)
{
    api_problem problem;
    api_model  *model = file_read(read, file_source(text, strlen(text), query), &problem);
    if (!model) fail_msg("%s", problem.detail);
    return model;
}

void assert_file_refused(file_reader *read, const char *text, const char *code, const char *words)
{
    api_problem problem;
    assert_null(file_read(read, file_source(text, strlen(text), NULL), &problem));
    if (strcmp(api_problem_kind_of(problem.code)->code, code) != 0 || !strstr(problem.detail, words))
        fail_msg("%s: %s", api_problem_kind_of(problem.code)->code, problem.detail);
    assert_false(problem.has_pointer);
    assert_int_equal(problem.offset >= 0, api_problem_kind_of(problem.code)->status == 400);
}

void assert_cuts_refused(file_reader *read, const char *text, size_t length)
{
    for (size_t end = 0; end < length; end++) {
        api_problem problem;
        assert_null(file_read(read, file_source(text, end, NULL), &problem));
        assert_int_equal(api_problem_kind_of(problem.code)->status, 400);
        assert_true(problem.offset >= 0 && problem.offset <= (long long)end);
    }
}

void assert_bytes_may_change(file_reader *read, const char *text)
{
    static const char others[] = {'<', '>', '"', '\'', '&', '0', '\0', '\x80', ' ', '-'};
    const size_t      length   = strlen(text);
    char             *changed  = strdup(text);
    size_t            accepted = 0;
    assert_non_null(changed);
    for (size_t i = 0; i < length; i++) {
        for (size_t k = 0; k < sizeof others; k++) {
            api_problem problem;
            changed[i]        = others[k];
            api_model *model  = file_read(read, file_source(changed, length, NULL), &problem);
            unsigned   status = api_problem_kind_of(problem.code)->status;
            assert_true(model ? status == 0 : status == 400 || status == 422);
            accepted += model != NULL;
            api_model_release(model);
        }
        changed[i] = text[i];
    }
    assert_true(accepted > 100);
    free(changed);
}
