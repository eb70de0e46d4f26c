/* hessian_products.h - reads "directions" of the operations gradient and forward-gradient, and lays out their outputs:
 * rates of gradients along several directions of each state. */
#pragma once
#include "directions.h"

/* The outputs, from the first one on. `rates` are those of the values whose gradient the operation answers. */
enum { API_PRODUCTS_Q, API_PRODUCTS_QD, API_PRODUCTS_LAST, API_PRODUCT_RATES, API_PRODUCT_OUTPUTS };

/* The rows of the outputs, from output `first` on; `last` is the name of the last product. */
#define API_PRODUCT_OUTPUT_ROWS(first, last)                                                                           \
    [(first) + API_PRODUCTS_Q]               = {"hessian_products_q", false, {API_GIVEN_DIRECTIONS, API_NV}},          \
               [(first) + API_PRODUCTS_QD]   = {"hessian_products_qd", false, {API_GIVEN_DIRECTIONS, API_NV}},         \
               [(first) + API_PRODUCTS_LAST] = {last, false, {API_GIVEN_DIRECTIONS, API_NV}},                          \
               [(first) + API_PRODUCT_RATES] = {"rates", false, {API_GIVEN_DIRECTIONS, API_NV}}

/* The options of the products, a part of the operation's options. */
typedef struct api_products {
    size_t         first;   /* index of the operation's first output among API_PRODUCTS_Q and those after it */
    bool           present; /* the request has directions */
    api_directions directions;
} api_products;

/* The lanes of one block: directions, and rates of the gradient. */
typedef struct api_product_lanes {
    api_direction_lanes along;
    double             *q, *qd, *last, *rates;
} api_product_lanes;

/* Reads the shapes. With directions and without "outputs" the products are selected. Refuses these outputs without
 * directions, and directions that no output reads. `last` is the name of the third part. False with a problem. */
bool api_products_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                       const char *last, api_products *products);

/* Reads the numbers of the directions. Call it after "joints" is read. False with a problem. */
bool api_products_load(const api_query *q, api_products *products);

/* True if an output of the products is selected. */
bool api_products_are_selected(const api_selection *selected, const api_products *products);

/* Estimates the seconds of the products, each of which costs `weight` times inverse dynamics. */
double api_products_seconds(const api_query *q, const api_products *products, double weight);

/* Returns the scratch numbers of a state: directions, and outputs that are not selected. */
size_t api_products_spare(const api_model *model, const api_selection *selected, const api_products *products);

/* Copies the directions of a block to lanes at *next, and moves *next past them and the lanes of outputs that are not
 * selected. */
api_product_lanes api_products_lanes(const api_evaluation *e, const api_selection *selected,
                                     const api_products *products, size_t block, double **next);
