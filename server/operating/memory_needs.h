/* memory_needs.h - state how much memory the process needs with its settings, and warn if its limit is lower.
 *
 * The need is the sum of: --memory; --model-memory; a quarter of --memory, which malloc keeps of what requests have
 * freed (memory_watch.h), or loses between them; for each loop 64 MiB, its spare body (spare_body.h); for each
 * connection 64 KiB, with TLS 128 KiB; for each worker 4 MiB; and 128 MiB for the rest. deploy/README.md has the sum
 * for the deployments of this tree. */
#pragma once
#include "server/config.h"
#include "server/log.h"

/* Returns the bytes that the process needs. The numbers of loops and workers must be set. */
unsigned long long srv_memory_needs(const srv_config *config);

/* Logs the bytes that the process needs, and a warning if the limit of its control group is lower. */
void srv_memory_needs_report(const srv_config *config, srv_log *log);
