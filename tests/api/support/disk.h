/* disk.h - keeps a model store in memory for the service under test: it can refuse changes, and servers can start again
 * on it. */
#pragma once
#include "door.h"

/* The text of a model document with one revolute joint and a rod of the given mass in kg. */
#define HINGE(mass)                                                                                                    \
    "{'links':[{'name':'rod','parent':'base','joint':{'name':'hinge','type':'revolute','axis':[0,1,0]},"               \
    "'inertial':{'mass':" mass ",'com':[0,0,-0.5]}}]}"

enum { RECORDS = 16 };

typedef struct disk_state {
    struct {
        char name[65], *record; /* record NULL: no model of that name */
    } records[RECORDS];
    int      saves, erases;
    api_code refuses;  /* code with which the store refuses changes; API_NO_PROBLEM: the store accepts changes */
    int      after;    /* number of changes that the store accepts before it refuses */
    bool     looks;    /* true: the store looks the model up in the service while it saves it, and fills `seen` */
    char     seen[40]; /* revision that this lookup finds; "": no model */
    /* A store that several servers share numbers changes. The store finds the next `others` changes outdated by a
     * change of another server, which stores the record `other` (NULL: none). */
    bool        shared;
    int         others;
    const char *other;
    uint64_t    number, base; /* number of the last change; the change on which the server's last request to store was
                                 based */
} disk_state;

extern disk_state disk;

/* Fixtures of a group of tests: make and remove a folder with one bundled model, `hinge` of 1 kg. */
int disk_make(void **state);
int disk_drop(void **state);

void disk_wipe(void);                      /* removes all records; from then on the store accepts all changes */
void disk_start(const api_limits *limits); /* opens the service: bundled models, then the records; changes are stored */
void disk_restart(void);

/* Returns the status of a request for /v1/models/{name}. */
unsigned disk_request(const char *method, const char *name, const char *body);

/* Returns the body of GET for a model; NULL if there is none. The caller frees it. */
char *disk_model(const char *name);
void  assert_model(const char *name, const char *expected); /* compares with the text of disk_model */
