/* fields.c - read small values of a request, and the fields gravity, friction and normalise: see fields.h. */
#include "fields.h"
#include "operation.h"
#include "dynamics/loops/loops.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define FIELD_NAME(constant, name) [constant] = name,

const char *const api_field_names[API_FIELD_COUNT] = {API_STATE_FIELD_LIST(FIELD_NAME) API_SHARED_FIELD_LIST(FIELD_NAME)
                                                          API_OPTION_FIELD_LIST(FIELD_NAME)};

/* --- small values ----------------------------------------------------------------------------------------------- */

bool api_fail_at(api_problem *problem, const api_place *at, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_pointer pointer = api_place_pointer(at);
    api_failv(problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

bool api_read_number(const api_query *q, const api_node *value, const api_place *at, double *number)
{
    if (!api_node_is(value, API_NUMBER))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, a number expected%s", api_node_kind_text(value),
                           api_node_remedy(value));
    *number = api_node_number(value);
    return true;
}

bool api_read_flag(const api_query *q, const api_node *value, const api_place *at, bool *flag)
{
    if (!value) return true;
    *flag = api_node_is(value, API_TRUE);
    return *flag || api_node_is(value, API_FALSE) ||
           api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, true or false expected%s", api_node_kind_text(value),
                       api_node_remedy(value));
}

bool api_check_list(const api_query *q, const api_node *value, const api_place *at, const char *of)
{
    bool list = api_node_is(value, API_ARRAY);
    return (list && api_node_size(value) > 0) || api_fail_at(q->problem, at, list ? API_WRONG_SHAPE : API_WRONG_TYPE,
                                                             "%s given, an array of at least one %s expected",
                                                             list ? "an empty array" : api_node_kind_text(value), of);
}

bool api_check_names(const api_query *q, const api_node *value, const api_place *place, const char *entry)
{
    return api_node_is(value, API_STRING) || api_check_list(q, value, place, entry);
}

size_t api_count_names(const api_node *list)
{
    return api_node_is(list, API_STRING) ? 1 : api_node_size(list);
}

api_place api_take_name(const api_node *list, const api_place *place, size_t i, api_node *name)
{
    const bool alone = api_node_is(list, API_STRING);
    if (alone || !api_node_item(list, i, name)) *name = *list;
    return alone ? *place : api_place_index(place, i);
}

const char *api_comma_remedy(const api_node *numbers, size_t expected)
{
    size_t   n     = api_node_size(numbers);
    bool     whole = n > expected && n <= 2 * expected;
    api_node entry;
    for (size_t i = 0; whole && api_node_item(numbers, i, &entry); i++)
        whole = api_node_is(&entry, API_NUMBER) && api_node_number(&entry) == trunc(api_node_number(&entry));
    return whole ? "; if the numbers have a decimal comma, write a decimal point: 0.5, not 0,5" : "";
}

const char *api_coordinates_remedy(const api_query *q, const api_node *numbers, bool positions)
{
    const api_model *m = q->model, *full = q->call->model;
    const size_t     count = api_node_size(numbers), expected = positions ? m->nq : m->nv;
    if (q->reduced && count == (positions ? full->nq : full->nv)) return "; leave out the entries of locked joints";
    if (count == expected || count != (positions ? m->nv : m->nq)) return api_comma_remedy(numbers, expected);
    return positions ? "; a rotation has four positions, its quaternion [x, y, z, w], but three rates"
                     : "; a rotation has three numbers here, but four positions in q, its quaternion";
}

bool api_read_numbers(const api_query *q, const api_node *value, const api_place *at, size_t n, double *numbers)
{
    if (!api_node_is(value, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected%s",
                           api_node_kind_text(value), n, api_node_remedy(value));
    size_t given = api_node_size(value);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(value, i, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(q->problem, &entry_at, API_WRONG_TYPE, "%s given, a number expected%s",
                               api_node_kind_text(&entry), api_node_remedy(&entry));
        if (i < n) numbers[i] = api_node_number(&entry);
    }
    return given == n || api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu entries given, %zu expected%s", given, n,
                                     api_comma_remedy(value, n));
}

double *api_take_numbers(api_query *q, const api_node *value, const api_place *at, size_t n)
{
    double *numbers = api_take(q->pool, n * sizeof *numbers);
    return numbers && api_read_numbers(q, value, at, n, numbers) ? numbers : NULL;
}

bool api_fail_unknown(const api_query *q, const api_place *at, api_code code, const char *given, const char *of,
                      const api_names *known)
{
    char list[API_NAMES_TEXT];
    api_names_write(known, given, list);
    return api_fail_at(q->problem, at, code, "\"%.64s\" is not known to %s%s", given, of, list);
}

bool api_fail_no_such(const api_query *q, const api_place *at, const char *what, const char *given,
                      const api_names *known)
{
    char list[API_NAMES_TEXT];
    api_names_write(known, given, list);
    return api_fail_at(q->problem, at, API_UNKNOWN_NAME, "%s has no %s \"%.64s\"%s", q->model->name, what, given, list);
}

bool api_check_keys(const api_query *q, const api_node *object, const api_place *at, const char *const *names,
                    const char *of)
{
    if (!api_node_is(object, API_OBJECT))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an object expected%s", api_node_kind_text(object),
                           !at && api_node_is(object, API_ARRAY) ? API_ROWS_REMEDY : "");
    for (size_t member = 0; member < api_node_size(object); member++) {
        const char *key = api_node_key(object, member);
        size_t      i   = 0;
        while (names[i] && strcmp(names[i], key) != 0)
            i++;
        if (names[i]) continue;
        api_place key_at = api_place_key(at, key);
        api_names known  = api_names_from_array(names, i);
        return api_fail_unknown(q, &key_at, API_UNKNOWN_FIELD, key, of, &known);
    }
    return true;
}

const char *api_read_string(const api_query *q, const api_node *value, const api_place *at)
{
    if (api_node_is(value, API_STRING)) return api_node_string(value, NULL);
    api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, a string expected%s", api_node_kind_text(value),
                api_node_remedy(value));
    return NULL;
}

int api_read_choice(const api_query *q, const api_node *value, const api_place *at, const char *of,
                    const api_names *known)
{
    char        list[API_NAMES_TEXT];
    const char *name = api_read_string(q, value, at);
    for (size_t i = 0; name && i < known->n; i++)
        if (strcmp(known->name(known->list, i), name) == 0) return (int)i;
    if (!name) return -1;
    api_names_write(known, name, list);
    api_fail_at(q->problem, at, API_UNKNOWN_NAME, "\"%.64s\" is not %s%s", name, of, list);
    return -1;
}

int api_read_frame(const api_query *q, const api_node *value, const api_place *at)
{
    const char *name = api_read_string(q, value, at);
    if (!name) return -1;
    int       i     = api_model_frame(q->model, name, strlen(name));
    api_names known = api_model_frames(q->model);
    if (i < 0) api_fail_no_such(q, at, "link or frame", name, &known);
    return i;
}

int api_read_coordinate(const api_query *q, const api_node *value, const api_place *at)
{
    const char *name = api_read_string(q, value, at);
    for (size_t i = 0; name && i < q->model->nv; i++)
        if (strcmp(q->model->velocity_names[i], name) == 0) return (int)i;
    api_names known = api_names_from_array(q->model->velocity_names, q->model->nv);
    if (name) api_fail_no_such(q, at, "velocity coordinate", name, &known);
    return -1;
}

/* --- friction that depends on the load --------------------------------------------------------------------------- */

bool api_has_load(const api_query *q)
{
    const bool loaded = q->model->loops ? q->model->loops->loaded != NULL : q->scene.model->has_load;
    return loaded && (q->scene.terms & DYN_FRICTION);
}

bool api_fail_load(const api_query *q, const char *what)
{
    return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "%s has friction that depends on the load (\"load\"), which %s does not take", q->model->name,
                    what);
}

/* --- compensation of gravity ------------------------------------------------------------------------------------ */

bool api_check_compensation(const api_query *q, const dyn_compensation *compensation, const api_place *where)
{
    static const char text[] = "links of one body differ in \"gravity_compensation\": its weight is no function of the "
                               "body's parameters; give the links that fixed joints connect the same";
    if (!compensation->mixed) return true;
    return where ? api_fail_at(q->problem, where, API_NOT_SUPPORTED, "%s", text)
                 : api_fail(q->problem, API_NOT_SUPPORTED, NULL, "%s", text);
}

/* --- surroundings ----------------------------------------------------------------------------------------------- */

bool api_decode_surroundings(api_query *q)
{
    api_place       at       = api_place_key(NULL, "friction");
    const api_node *friction = q->field[API_FRICTION];
    bool            rubs     = true;
    if (!api_read_flag(q, friction, &at, &rubs)) return false;
    at = api_place_key(NULL, "normalise");
    if (!api_read_flag(q, q->field[API_NORMALISE], &at, &q->normalise)) return false;
    q->scene.terms = rubs ? DYN_ALL_TERMS : DYN_ALL_TERMS & ~DYN_FRICTION;
    for (size_t i = 0; q->model->loops && i < q->n_selected; i++)
        if (q->selected[i].operation->load_in_trees && api_has_load(q))
            return api_fail_load(q, q->selected[i].operation->name);
    return true;
}
