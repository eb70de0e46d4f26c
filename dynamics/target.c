/* target.c - defines the table of kernels of one target. */
#include "dynamics/algorithms/kernels.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

static size_t workspace_size(const dyn_model *m)
{
    size_t most = 0, bytes;
#define X(name)                                                                                                        \
    bytes = LANE_NAME(name##_size)(m);                                                                                 \
    if (bytes > most) most = bytes;
    DYN_KERNELS(X)
#undef X
    return most;
}

/* clang-format off */
extern const dyn_kernels LANE_NAME(kernels);
const dyn_kernels        LANE_NAME(kernels) = {
    .target         = TEXT(TARGET),
    .lanes          = LANES,
#ifdef DYN_UNFUSED
    .fused          = false,
#else
    .fused          = true,
#endif
    .workspace_size = workspace_size,
#define X(name) .name = LANE_NAME(name),
    DYN_KERNELS(X)
#undef X
#ifndef LANE_FOR_TESTS
    .from_rows      = LANE_NAME(from_rows),
    .to_rows        = LANE_NAME(to_rows),
    .bounded        = LANE_NAME(bounded),
#endif
};
/* clang-format on */
