/* document_transmission.c - read "transmissions": motors that drive several joints at once, joint rates = matrix times
 * motor rates. dynamics/ (dyn_drive) takes the inverse: the rate of each motor as a combination of joint rates. */
#include "document.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORST_CONDITION 1e8 /* largest condition number of the matrix: the row sum norm of |inverse| |matrix| */

/* --- each by itself ----------------------------------------------------------------------------------------------- */

static bool read_joints(const api_entry *entry, api_document_transmission *t)
{
    const json_t *list = json_object_get(entry->input, "joints");
    if (!list) return api_entry_fail(entry, "joints", API_MISSING_FIELD, "\"joints\" is needed here but missing");
    if (!json_is_array(list))
        return api_entry_fail(entry, "joints", API_WRONG_TYPE, "expected an array of names, given %s",
                              api_json_kind(list));
    t->n = json_array_size(list);
    if (t->n == 0 || t->n > DYN_MAX_DRIVEN)
        return api_entry_fail(entry, "joints", API_BAD_VALUE, "a transmission has 1 to %d joints, given %zu",
                              DYN_MAX_DRIVEN, t->n);
    json_t *names = json_array();
    if (!api_entry_set_canonical(entry, "joints", names)) return false;
    for (size_t i = 0; i < t->n; i++) {
        const json_t *name  = json_array_get(list, i);
        api_entry     place = api_entry_location(entry, "joints", i);
        if (!json_is_string(name))
            return api_entry_fail(&place, NULL, API_WRONG_TYPE, "expected the name of a joint, given %s",
                                  api_json_kind(name));
        t->joint[i] = api_arena_text(entry->reader->arena, json_string_value(name));
        if (!t->joint[i] || json_array_append_new(names, json_string(t->joint[i])))
            return api_reader_no_memory(entry->reader);
    }
    return true;
}

/* Swaps rows a and b of an n x 2n matrix. */
static void swap_rows(double *A, size_t n, size_t a, size_t b)
{
    for (size_t c = 0; c < 2 * n; c++) {
        double kept      = A[a * 2 * n + c];
        A[a * 2 * n + c] = A[b * 2 * n + c];
        A[b * 2 * n + c] = kept;
    }
}

/* Inverts a matrix, n x n, by Gauss-Jordan elimination with row pivots. Returns false if a pivot is zero. */
static bool invert(size_t n, const double *matrix, double *inverse)
{
    double A[DYN_MAX_DRIVEN * 2 * DYN_MAX_DRIVEN] = {0};
    for (size_t i = 0; i < n; i++) {
        memcpy(A + i * 2 * n, matrix + i * n, n * sizeof *A);
        A[i * 2 * n + n + i] = 1;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(A[i * 2 * n + k]) > fabs(A[best * 2 * n + k])) best = i;
        double pivot = A[best * 2 * n + k];
        if (!(fabs(pivot) > 0)) return false;
        swap_rows(A, n, k, best);
        for (size_t c = 0; c < 2 * n; c++)
            A[k * 2 * n + c] /= pivot;
        for (size_t i = 0; i < n; i++) {
            double factor = A[i * 2 * n + k];
            for (size_t c = 0; i != k && c < 2 * n; c++)
                A[i * 2 * n + c] -= factor * A[k * 2 * n + c];
        }
    }
    for (size_t i = 0; i < n; i++)
        memcpy(inverse + i * n, A + i * 2 * n + n, n * sizeof *A);
    return true;
}

/* The condition number of the matrix, which scaling its rows does not change. */
static double condition_of(size_t n, const double *matrix, const double *inverse)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                sum += fabs(inverse[i * n + k]) * fabs(matrix[k * n + j]);
        if (!(sum <= worst)) worst = sum;
    }
    return worst;
}

static bool read_matrix(const api_entry *entry, api_document_transmission *t)
{
    const size_t shape[] = {t->n, t->n};
    if (!api_entry_numbers(entry, "matrix", API_REQUIRED, t->matrix, 2, shape)) return false;
    if (invert(t->n, t->matrix, t->inverse) && condition_of(t->n, t->matrix, t->inverse) <= WORST_CONDITION)
        return true;
    return api_entry_fail(entry, "matrix", API_BAD_VALUE,
                          "the matrix is singular or nearly so: motor rates do not follow from joint rates");
}

static bool read_motor_limits(const api_entry *motor, api_drive_limits *limits)
{
    static const char *const fields[] = {"velocity", "effort",       "effort_rate", "acceleration",
                                         "jerk",     "effort_speed", NULL};
    api_entry                entry;
    if (!api_entry_has(motor, "limits")) return true;
    if (!api_entry_open(&entry, motor, "limits", fields) || !api_document_read_drive_limits(&entry, limits))
        return false;
    api_entry_close(&entry, false);
    return true;
}

static bool read_motor(const api_entry *entry, size_t index, api_document_transmission *t)
{
    static const char *const fields[] = {"name", "rotor_inertia", "friction", "limits", NULL};
    api_entry                motor;
    return api_entry_item(&motor, entry, "motors", index, fields) &&
           api_entry_name(&motor, "name", API_REQUIRED, &t->motor[index].name) &&
           api_entry_not_negative(&motor, "rotor_inertia", API_OPTIONAL, &t->motor[index].rotor_inertia) &&
           read_motor_limits(&motor, &t->motor[index].limits) &&
           api_document_read_friction(&motor, &t->motor[index].friction) &&
           (t->motor[index].friction.load == 0 ||
            api_entry_fail(&motor, "friction", API_NOT_SUPPORTED,
                           "the friction of the motor of a transmission does not depend on its load"));
}

static bool read_motors(const api_entry *entry, api_document_transmission *t)
{
    size_t n;
    if (!api_entry_list(entry, "motors", API_REQUIRED, &n)) return false;
    if (n != t->n)
        return api_entry_fail(entry, "motors", API_WRONG_SHAPE,
                              "a transmission has as many motors as joints: expected %zu, given %zu", t->n, n);
    for (size_t i = 0; i < n; i++)
        if (!read_motor(entry, i, t)) return false;
    return true;
}

static bool read_transmission(const api_entry *root, size_t index, api_document_transmission *t)
{
    static const char *const fields[] = {"joints", "matrix", "motors", NULL};
    api_entry                entry;
    return api_entry_item(&entry, root, "transmissions", index, fields) && read_joints(&entry, t) &&
           read_matrix(&entry, t) && read_motors(&entry, t);
}

bool api_document_read_transmissions(const api_entry *root, api_document *document)
{
    size_t n;
    if (!api_entry_list(root, "transmissions", API_OPTIONAL, &n)) return false;
    if (n > document->n_links)
        return api_entry_fail(root, "transmissions", API_BAD_VALUE,
                              "%zu transmissions for %zu links: a joint is in one", n, document->n_links);
    document->n_transmissions = n;
    document->transmissions   = api_arena_take(root->reader->arena, n, sizeof *document->transmissions);
    if (!document->transmissions) return api_reader_no_memory(root->reader);
    for (size_t i = 0; i < n; i++)
        if (!read_transmission(root, i, &document->transmissions[i])) return false;
    return true;
}

/* --- in the tree -------------------------------------------------------------------------------------------------- */

/* The reason why a link's joint cannot be in a transmission, or NULL. */
static const char *refusal_of(const dyn_link *l)
{
    if (l->mimic) return "mimics another joint and has no coordinate of its own";
    if (dyn_joint_nv(l->joint) != 1) return "must have exactly one coordinate to be in a transmission";
    if (l->elastic) return "is elastic: its motor has a coordinate of its own";
    return l->motor.present ? "has an entry in motors already" : NULL;
}

static bool check_joint(const api_document *document, api_reader *reader, size_t i, size_t j, bool *taken)
{
    const api_document_transmission *t = &document->transmissions[i];
    char                             pointer[80];
    const char                      *refusal = refusal_of(&document->links[t->link[j]].dyn);
    snprintf(pointer, sizeof pointer, "/transmissions/%zu/joints/%zu", i, j);
    if (refusal)
        return api_fail(reader->problem, API_BAD_VALUE, pointer, "joint \"%.*s\" %s", api_text_shown(t->joint[j]),
                        t->joint[j], refusal);
    if (taken[t->link[j]])
        return api_fail(reader->problem, API_DUPLICATE_NAME, pointer, "joint \"%.*s\" is in a transmission already",
                        api_text_shown(t->joint[j]), t->joint[j]);
    return taken[t->link[j]] = true;
}

/* Enters the name of a motor into the set `names`, which has the names of joints. */
static bool enter_motor(const api_document *document, api_reader *reader, size_t i, size_t k, json_t *names)
{
    const char *name = document->transmissions[i].motor[k].name;
    char        pointer[80];
    snprintf(pointer, sizeof pointer, "/transmissions/%zu/motors/%zu/name", i, k);
    if (json_object_get(names, name))
        return api_fail(reader->problem, API_DUPLICATE_NAME, pointer,
                        "\"%.*s\" is the name of a joint or of another motor", api_text_shown(name), name);
    return json_object_set_new(names, name, json_true()) == 0 || api_reader_no_memory(reader);
}

static bool check_motor_names(const api_document *document, api_reader *reader)
{
    json_t *names = json_object();
    bool    ok    = names || api_reader_no_memory(reader);
    for (size_t i = 0; ok && i < document->n_links; i++)
        ok = json_object_set_new(names, document->links[i].joint, json_true()) == 0 || api_reader_no_memory(reader);
    for (size_t i = 0; ok && i < document->n_transmissions; i++)
        for (size_t k = 0; ok && k < document->transmissions[i].n; k++)
            ok = enter_motor(document, reader, i, k, names);
    json_decref(names);
    return ok;
}

bool api_document_check_transmissions(const api_document *document, api_reader *reader)
{
    if (document->n_transmissions == 0) return true;
    bool *taken = api_arena_take(reader->arena, document->n_links, sizeof *taken);
    if (!taken) return api_reader_no_memory(reader);
    for (size_t i = 0; i < document->n_transmissions; i++)
        for (size_t j = 0; j < document->transmissions[i].n; j++)
            if (!check_joint(document, reader, i, j, taken)) return false;
    return check_motor_names(document, reader);
}
