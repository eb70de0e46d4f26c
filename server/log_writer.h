/* log_writer.h - write the lines of the log on a thread of its own. Private to log.c and log_writer.c. */
#pragma once
#include "log.h"

bool srv_log_start_writer(srv_log *log); /* false: no thread */

/* Counts lines that were not written. The caller holds the mutex. */
void srv_log_note_lost(srv_log *log, uint64_t lines);

/* Writes the line about refusals without lines; `arg` is the log. */
void srv_log_report_refusals(void *arg, const srv_refusal *refusal, double seconds);
