/* urdf.h - read a robot in the Unified Robot Description Format (https://wiki.ros.org/urdf/XML) into a model
 * document, and build the model from that document. A PUT of that document gives a model with the same revision and
 * the same bits.
 *
 *     xml/xml.h: bytes to elements -> urdf.c: links and joints to a tree -> urdf_joint.c, urdf_inertial.c,
 * urdf_origin.c: values urdf_transmission.c: rotors -> urdf_schema.c: report of what the dynamics do not use
 *
 * Values are taken unchanged, with one exception: the inertia tensor of an `inertial` that is rotated against its
 * link is converted to link axes, as documents require. Numbers are decimal: also "+1", ".5", "1.", but no
 * hexadecimal, "inf" or "nan". -0 becomes 0, because many JSON clients lose the sign of zero. The model's report
 * lists what was merged, dropped, assumed or is suspicious. */
#pragma once
#include "api/robots/document/document.h"
#include "api/robots/formats.h"
#include "api/robots/model/model.h"

typedef enum api_urdf_mimic {
    API_MIMIC_INDEPENDENT, /* a mimic joint gets a coordinate of its own */
    API_MIMIC_COUPLED,     /* a mimic joint follows the coordinate of the joint that it mimics */
    API_MIMIC_REFUSE       /* a model with a mimic joint is refused */
} api_urdf_mimic;

typedef enum api_urdf_inertia {
    API_URDF_STATED,    /* links have the inertias that the file states */
    API_URDF_COLLISION, /* a link without <inertial> has that of its collisions */
    API_URDF_ACCEPT     /* stated inertias may be indefinite */
} api_urdf_inertia;

/* Options of reading a URDF file. */
typedef struct api_urdf_options {
    bool             floating; /* base=floating: the root link moves freely */
    api_urdf_mimic   mimic;
    api_urdf_inertia inertia;
    double           density;        /* kg/m^3, of collisions, with inertia=collision */
    bool             no_zero_limits; /* zero_limits=none: limits of 0 count as none */
} api_urdf_options;

/* Reads a query such as "base=floating&mimic=coupled" (NULL: the defaults). False with a problem for anything else. */
bool api_urdf_options_read(const char *query, api_urdf_options *options, api_problem *problem);

/* Builds a model from a URDF file, with the options in the query of the source. NULL with a problem; unless it is
 * one of XML syntax, it names the line and the link or joint. */
api_model *api_model_from_urdf(const api_model_source *source, api_problem *problem);

/* Writes a document as the text of a URDF file, which the caller frees; adds what it cannot hold to the reader's
 * report. NULL with a problem. */
char *api_urdf_write(const api_document *document, const api_model_heading *heading, api_reader *reader,
                     size_t *length);
