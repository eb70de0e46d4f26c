/* fault.h - name the faults of a database: what /readyz, the log and torqued_store_fault say, and what to do.
 *
 * A fault follows from the SQLSTATE of the failed statement or connection (PostgreSQL 15 documentation, appendix A), or
 * from a wait that has ended without an answer. */
#pragma once
#include "api/metrics.h"

typedef api_store_fault_label srv_fault;

/* Returns the fault that a SQLSTATE stands for; API_STORE_FAULT_OTHER for a state of no known fault. `state` "": the
 * connection was lost or refused. */
srv_fault srv_fault_of_state(const char *state);

/* Finds the SQLSTATE in a verbose message of libpq, such as "FATAL:  28P01: password ...". "" if there is none. */
void srv_fault_find_state(const char *message, char state[6]);

const char *srv_fault_title(srv_fault fault);  /* a sentence without its point: "the database is away" */
const char *srv_fault_remedy(srv_fault fault); /* an imperative; "": the error says what to do */
