/* mjcf_tendon.h - tendons of a file: their figures, and what the forces of fixed ones do at the joints. */
#pragma once
#include "mjcf_reader.h"

/* A tendon. The length of a fixed one is the sum of coefficient times position over its joints. */
typedef struct api_mjcf_tendon {
    const xmlNode *element;
    api_mjcf_item  item;
    const char    *name; /* NULL: none */
    bool           fixed;
    size_t         n; /* joints of a fixed tendon */
    int           *joint;
    double        *coefficient;                    /* [n] */
    double stiffness, damping, armature, friction; /* armature and damping include those of the tendon's actuators */
    bool   limited;
    bool   drives; /* true: a fixed tendon that exerts forces of its own */
    double rest;   /* length at which its spring has no force; NAN: it has none within an interval */
} api_mjcf_tendon;

/* Reads <tendon>; after bodies. */
bool api_mjcf_read_tendons(api_mjcf *m);
/* Finds the tendon that an attribute of an element names; *t is NULL if the attribute is absent, or names what
 * <composite> or <flexcomp> may make. */
bool api_mjcf_find_tendon(api_mjcf *m, const xmlNode *element, const char *attribute, int need, api_mjcf_tendon **t);
/* Adds the forces of fixed tendons to joints or to transmissions of the document, and reports all others; after
 * equalities and actuators, before api_mjcf_choose_driven. */
bool api_mjcf_write_tendons(api_mjcf *m);
