/* target.c - defines the table of kernels of one target. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/algorithms/frame_workspace.h"
#include "dynamics/algorithms/step_size.h"

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

static size_t workspace_size(const dyn_model *m)
{
    arena  frames = {0};
    size_t most = LANE_NAME(step_size)(m), bytes = LANE_NAME(friction_map_size)(m);
    place_frame(&frames, m);
    if (frames.used > most) most = frames.used;
    if (bytes > most) most = bytes;
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
