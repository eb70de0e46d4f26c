/* drive_limits.h - the limits of what drives a joint, in terms of the joint, or of a motor. */
#pragma once
#include <stdbool.h>

typedef struct api_drive_limits {
    bool   has_velocity, has_effort, has_effort_rate;
    double velocity;    /* rad/s or m/s */
    double effort;      /* N m or N */
    double effort_rate; /* N m/s or N/s */
} api_drive_limits;
