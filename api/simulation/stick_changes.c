/* stick_changes.c - see stick_changes.h. */
#include "stick_changes.h"
#include "plant_stick.h"
#include <math.h>

/* What friction has to give to those that stick, into the balance. */
static void weigh(api_plant *p, double t, const double *y)
{
    api_plant_rate(p, t, y, p->slope[0]);
}

static double needed(const api_plant *p, const api_stick_joint *j)
{
    return p->stick->balance[j->v * p->W];
}

/* How far friction is from its limit; less than 0: it is beyond. */
static double left(const api_plant *p, const api_stick_joint *j)
{
    return fmin(j->with - needed(p, j), j->against + needed(p, j));
}

static void set(api_plant *p, api_stick_joint *j, int side)
{
    j->side                = side;
    p->stick->driven[j->v] = side == 0;
}

static void let_go(api_plant *p, api_stick_joint *j)
{
    set(p, j, needed(p, j) > 0 ? 1 : -1);
}

void api_stick_review(api_plant *p, double t)
{
    api_stick *s = p->stick;
    for (size_t turn = 0; turn < s->n; turn++) {
        api_stick_joint *worst = NULL;
        weigh(p, t, p->y);
        for (size_t k = 0; k < s->n; k++) {
            api_stick_joint *j = &s->joint[k];
            if (j->side == 0 && left(p, j) < 0 && (!worst || left(p, j) < left(p, worst))) worst = j;
        }
        if (!worst) return;
        let_go(p, worst);
    }
}

void api_stick_begin(api_plant *p)
{
    const double *qd = p->y + p->e->model->nq * p->W;
    for (size_t k = 0; k < p->stick->n; k++) {
        api_stick_joint *j    = &p->stick->joint[k];
        double           rate = qd[j->v * p->W];
        set(p, j, rate > 0 ? 1 : rate < 0 ? -1 : 0);
    }
    api_stick_review(p, 0);
}

void api_stick_margins(api_plant *p, double t, const double *y, double *margins)
{
    const api_stick *s = p->stick;
    if (api_stick_any(s)) weigh(p, t, y);
    for (size_t k = 0; k < s->n; k++) {
        const api_stick_joint *j = &s->joint[k];
        margins[k]               = j->side == 0 ? left(p, j) : y[(p->e->model->nq + j->v) * p->W];
    }
}

/* Who slid comes to rest; who stuck is let go, whatever rounding says of its limit. */
void api_stick_change(api_plant *p, double t)
{
    api_stick *s  = p->stick;
    size_t     nq = p->e->model->nq;
    weigh(p, t, p->y);
    for (size_t k = 0; k < s->n; k++) {
        api_stick_joint *j = &s->joint[k];
        if (s->roots[k] == 0) continue;
        if (j->side == 0) {
            let_go(p, j);
            continue;
        }
        set(p, j, 0);
        for (size_t l = 0; l < p->W; l++)
            p->y[(nq + j->v) * p->W + l] = 0;
    }
    api_stick_review(p, t);
}
