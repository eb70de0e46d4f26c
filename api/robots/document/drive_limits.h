/* drive_limits.h - the limits of the drive of a joint, in terms of the joint's coordinate, or of a motor, in terms of
 * the motor's. */
#pragma once
#include <stdbool.h>

typedef struct api_drive_limits {
    bool   has_velocity, has_effort, has_effort_rate, has_acceleration, has_jerk, has_effort_speed;
    double velocity;     /* rad/s or m/s */
    double effort;       /* N m or N */
    double effort_rate;  /* N m/s or N/s */
    double acceleration; /* rad/s^2 or m/s^2 */
    double jerk;         /* rad/s^3 or m/s^3 */
    double stall_effort; /* N m or N: |effort| <= stall_effort - speed_slope |velocity| */
    double speed_slope;  /* N m s/rad or N s/m */
} api_drive_limits;
