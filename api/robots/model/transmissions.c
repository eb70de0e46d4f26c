/* transmissions.c - see transmissions.h. */
#include "transmissions.h"
#include <math.h>
#include <string.h>

bool api_transmissions_list_drives(const api_document *document, api_arena *arena, dyn_description *description)
{
    for (size_t i = 0; i < document->n_transmissions; i++)
        description->n_drives += document->transmissions[i].n;
    dyn_drive *drives   = api_arena_take(arena, description->n_drives, sizeof *drives);
    description->drives = drives;
    for (size_t i = 0; drives && i < document->n_transmissions; i++) {
        const api_document_transmission *t = &document->transmissions[i];
        for (size_t k = 0; k < t->n; k++, drives++) {
            *drives =
                (dyn_drive){.n = t->n, .rotor_inertia = t->motor[k].rotor_inertia, .friction = t->motor[k].friction};
            for (size_t j = 0; j < t->n; j++) {
                drives->joint[j]  = document->links[t->link[j]].core_index;
                drives->weight[j] = t->inverse[k * t->n + j];
            }
        }
    }
    return description->drives != NULL;
}

bool api_transmissions_check_drives(const dyn_model *dyn, api_problem *problem)
{
    for (size_t k = 0; k < dyn->n_drives; k++) {
        const dyn_drive *d    = &dyn->drive[k];
        double           most = 0;
        for (size_t j = 0; j < d->n; j++)
            most += fabs(d->weight[j]);
        const double effort = most * most * (d->rotor_inertia + fabs(d->friction.viscous)) +
                              most * d->friction.positive + most * d->friction.negative +
                              most * (d->friction.breakaway_positive + d->friction.breakaway_negative);
        if (!isfinite(effort))
            return api_fail(problem, API_NON_FINITE, "/transmissions",
                            "the values of a transmission are so large that they overflow");
    }
    return true;
}

/* Copies a coupled transmission and names its motors; the first is drive `drive`. */
static bool name_transmission(api_model *model, const api_document_transmission *from, size_t drive,
                              api_transmission *to)
{
    *to = (api_transmission){.n = from->n, .drive = drive};
    memcpy(to->matrix, from->matrix, from->n * from->n * sizeof *to->matrix);
    for (size_t k = 0; k < from->n; k++) {
        api_coupled_motor *motor = &model->coupled_motors[drive + k];
        *motor                   = (api_coupled_motor){.name   = api_arena_text(&model->arena, from->motor[k].name),
                                                       .drive  = &model->dyn->drive[drive + k],
                                                       .limits = from->motor[k].limits};
        for (size_t j = 0; j < from->n; j++)
            motor->effort[j] = from->matrix[j * from->n + k];
        to->joint[k] = api_arena_text(&model->arena, from->joint[k]);
        if (!motor->name || !to->joint[k]) return false;
        model->mover_names[dyn_drive_mover(model->dyn, drive + k)] = motor->name;
    }
    return true;
}

bool api_transmissions_name(api_model *model, const api_document *document)
{
    size_t drive = 0;
    for (size_t i = 0; i < document->n_transmissions; i++) {
        if (!name_transmission(model, &document->transmissions[i], drive, &model->transmissions[i])) return false;
        drive += document->transmissions[i].n;
    }
    return true;
}
