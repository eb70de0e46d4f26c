/* mjcf_joint_types.h - types of joints in MJCF files. */
#pragma once

typedef enum api_mjcf_joint_type {
    API_MJCF_FREE,
    API_MJCF_BALL,
    API_MJCF_SLIDE,
    API_MJCF_HINGE,
    API_MJCF_JOINT_TYPES
} api_mjcf_joint_type;

/* Names of the types in an MJCF file, ended by NULL. */
extern const char *const api_mjcf_joint_names[API_MJCF_JOINT_TYPES + 1];
