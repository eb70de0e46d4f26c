/* cost_feedback.c - see cost_feedback.h. */
#include "cost_feedback.h"

static const float step = 1.05F, max_factor = 16, min_factor = 1 / 16.F;

/* Returns the row of an operation in the table, from its number; operations beyond the table share the last row. */
static size_t operation_row(size_t operation)
{
    return operation < API_COST_OPERATIONS ? operation : API_COST_OPERATIONS - 1;
}

/* Returns the class of an estimate: up to 0.1 ms, 1 ms, 10 ms, and longer. Overhead dominates small requests and
 * computation large ones, so each class has a correction factor of its own. */
static size_t time_class(double estimated)
{
    return estimated < 1e-4 ? 0 : estimated < 1e-3 ? 1 : estimated < 1e-2 ? 2 : 3;
}

void api_cost_feedback_init(api_cost_feedback *c)
{
    _Atomic float *factor = &c->factor[0][0][0];
    for (size_t i = 0; i < sizeof c->factor / sizeof *factor; i++)
        atomic_init(&factor[i], 1);
}

double api_cost_feedback_apply(const api_cost_feedback *c, size_t operation, size_t format, double estimated)
{
    return estimated * (double)atomic_load_explicit(&c->factor[operation_row(operation)][format][time_class(estimated)],
                                                    memory_order_relaxed);
}

void api_cost_feedback_update(api_cost_feedback *c, size_t operation, size_t format, double estimated, double took)
{
    _Atomic float *factor = &c->factor[operation_row(operation)][format][time_class(estimated)];
    float          now    = atomic_load_explicit(factor, memory_order_relaxed);
    now                   = took > estimated * (double)now ? now * step : now / step;
    if (now > max_factor) now = max_factor;
    if (now < min_factor) now = min_factor;
    atomic_store_explicit(factor, now, memory_order_relaxed);
}
