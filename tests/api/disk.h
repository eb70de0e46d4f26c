/* disk.h - a store in memory for the door, which can be told to refuse, and servers that come and go on it. */
#pragma once
#include "door.h"

/* A model document of one revolute joint and so many kilograms, as text. */
#define HINGE(mass)                                                                                                    \
    "{'links':[{'name':'rod','parent':'base','joint':{'name':'hinge','type':'revolute','axis':[0,1,0]},"               \
    "'inertial':{'mass':" mass ",'com':[0,0,-0.5]}}]}"

enum { RECORDS = 16 };

typedef struct disk_state {
    struct {
        char name[65], *record; /* record NULL: none of that name */
    } records[RECORDS];
    int      saves, erases;
    api_code refuses;  /* API_NO_PROBLEM: nothing */
    int      after;    /* so many changes more it takes before it refuses */
    bool     looks;    /* asks for the model while it is being saved, and notes in `seen` ... */
    char     seen[40]; /* ... which revision a reader gets then; "": none */
    /* A store that several servers share: it numbers changes, and finds that many (`others`) changes outdated by one of
     * another server, which stores the record `other` (NULL: none). */
    bool        shared;
    int         others;
    const char *other;
    uint64_t    number, base; /* the last change; the base of the last one that was asked for */
} disk_state;

extern disk_state disk;

/* Group fixtures: a folder with one bundled model, `hinge` of 1 kg. */
int disk_make(void **state);
int disk_drop(void **state);

void disk_wipe(void);                      /* no records, no refusals */
void disk_start(const api_limits *limits); /* opens the door: bundled models, then the records; changes are kept */
void disk_restart(void);

/* Status of a request for /v1/models/{name}. */
unsigned disk_request(const char *method, const char *name, const char *body);

/* GET of a model; NULL when there is none. The caller frees. */
char *disk_model(const char *name);
void  assert_model(const char *name, const char *expected); /* what disk_model gives */
