/* urdf.h - robots in the Unified Robot Description Format (https://wiki.ros.org/urdf/XML), read into a model document
 * and made into a model from that: putting the document of such a model gives the same revision and bits.
 *
 *     xml.h: bytes to elements -> urdf.c: links and joints to a tree -> urdf_joint.c, urdf_inertial.c: figures
 *     urdf_unused.c: what was there and has no part in the dynamics
 *
 * Figures are taken as they stand; but for the inertia of an `inertial` that is turned against its link, which a
 * document states in link axes, nothing is computed. Numbers are decimal: also "+1", ".5", "1.", no hexadecimal, no
 * "inf", no "nan"; -0 becomes 0, since many a client's JSON would lose the sign of a document's. What is merged,
 * dropped, assumed or suspicious is in the model's report. */
#pragma once
#include "api/model/model.h"

typedef enum api_urdf_mimic {
    API_MIMIC_INDEPENDENT, /* a mimic joint gets a coordinate of its own */
    API_MIMIC_COUPLED,     /* it shares the other joint's */
    API_MIMIC_REFUSE       /* a model that has one is refused */
} api_urdf_mimic;

/* All zeros is the default. */
typedef struct api_urdf_options {
    bool           floating; /* base=floating: the root link moves freely */
    api_urdf_mimic mimic;
} api_urdf_options;

/* Reads "base=floating&mimic=coupled" (NULL: nothing); a problem for anything else. */
bool api_urdf_options_read(const char *query, api_urdf_options *options, api_problem *problem);

/* False with a problem unless api_urdf_options_read takes the query. */
bool api_urdf_check_query(const char *query, api_problem *problem);

/* Reads a URDF file; the query of the source gives the options. NULL and a problem, as api_model_from_text; a problem
 * other than one of syntax names the line and the link or joint. */
api_model *api_model_from_urdf(const api_model_source *source, api_problem *problem);

/* Bytes that reading such a text takes at most, about: what it costs is known before it is read. */
size_t api_urdf_estimate_memory(const char *text, size_t length);

/* Whether a text, behind white space and a byte order mark, starts as XML does: then it is no document. */
bool api_urdf_likely(const char *text, size_t length);
