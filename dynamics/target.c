/* target.c - defines the table of kernels of one target. */
#include "dynamics/algorithms/kernels.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define X(name)                                                                                                        \
    bytes = LANE_NAME(name##_size)(m);                                                                                 \
    if (bytes > most) most = bytes;
static size_t workspace_size(const dyn_model *m)
{
    size_t most = 0, bytes;
    DYN_KERNELS(X)
    return most;
}

static size_t step_workspace_size(const dyn_model *m)
{
    size_t most = workspace_size(m), bytes;
    DYN_STEP_KERNELS(X)
    return most;
}
#undef X

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
    .step_workspace_size = step_workspace_size,
#define X(name) .name = LANE_NAME(name),
    DYN_KERNELS(X)
    DYN_STEP_KERNELS(X)
#undef X
#ifndef LANE_FOR_TESTS
    .from_rows      = LANE_NAME(from_rows),
    .to_rows        = LANE_NAME(to_rows),
    .bounded        = LANE_NAME(bounded),
#endif
};
/* clang-format on */
