/* hessian_products.c - reads the directions of Hessian-vector products: see hessian_products.h. */
#include "hessian_products.h"

static api_set product_outputs(const api_products *p)
{
    return (API_BIT(API_PRODUCT_OUTPUTS) - 1) << p->first;
}

bool api_products_are_selected(const api_selection *selected, const api_products *p)
{
    return (selected->outputs & product_outputs(p)) != 0;
}

/* Refuses outputs that need directions. */
static bool check_without_directions(const api_query *q, const api_selection *selected, const api_node *request,
                                     const api_place *up, const api_products *p)
{
    for (size_t i = 0; i < API_PRODUCT_OUTPUTS; i++)
        if (selected->outputs & API_BIT(p->first + i))
            return api_fail_output(q, selected, p->first + i, request, up,
                                   "the output is a rate along directions: give the field directions, as in the "
                                   "operation directional");
    return true;
}

bool api_products_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                       const char *last, api_products *p)
{
    p->present = api_node_get(request, "directions") != NULL;
    if (!p->present) return check_without_directions(q, selected, request, up, p);
    if (!api_node_get(request, "outputs"))
        selected->outputs |= product_outputs(p) & ~API_BIT(p->first + API_PRODUCT_RATES);
    const api_place pointer = api_place_key(up, "directions");
    if (!api_products_are_selected(selected, p))
        return api_fail_at(q->problem, &pointer, API_BAD_VALUE,
                           "directions are for the outputs hessian_products_q, hessian_products_qd, "
                           "hessian_products_%s and rates: name one of them in outputs, or leave directions out",
                           last);
    selected->one_by_one = true;
    return api_directions_read(q, selected, request, up, last, &p->directions);
}

bool api_products_load(const api_query *q, api_products *p)
{
    return !p->present || api_directions_load(q, &p->directions);
}

double api_products_seconds(const api_query *q, const api_products *p, double weight)
{
    return p->present ? api_directions_seconds(q, &p->directions, weight) : 0;
}

size_t api_products_spare(const api_model *model, const api_selection *selected, const api_products *p)
{
    if (!p->present) return 0;
    return api_directions_entries(model, &p->directions) +
           api_missing_entries(model, selected, p->first, p->first + API_PRODUCT_RATES);
}

api_product_lanes api_products_lanes(const api_evaluation *e, const api_selection *selected, const api_products *p,
                                     size_t block, double **next)
{
    const size_t      first = p->first;
    api_product_lanes x;
    x.along = api_directions_gather(e, &p->directions, block, next);
    x.q     = api_result_or_spare(e, selected, first + API_PRODUCTS_Q, block, next);
    x.qd    = api_result_or_spare(e, selected, first + API_PRODUCTS_QD, block, next);
    x.last  = api_result_or_spare(e, selected, first + API_PRODUCTS_LAST, block, next);
    x.rates = api_result_or_spare(e, selected, first + API_PRODUCT_RATES, block, next);
    return x;
}
