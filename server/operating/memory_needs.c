/* memory_needs.c - adds up the memory that the settings need and compares the sum with the limit of the process. */
#include "memory_needs.h"
#include "server/work/cores.h"

static const unsigned long long KIB = 1 << 10, MIB = 1 << 20;

/* Bytes that do not follow from --memory. */
static unsigned long long fixed_needs(const srv_config *c)
{
    unsigned long long connection = c->tls_certificate ? 128 * KIB : 64 * KIB;
    return c->model_memory + c->loops * 64 * MIB + c->connections * connection + c->workers * 4 * MIB + 128 * MIB;
}

unsigned long long srv_memory_needs(const srv_config *c)
{
    return c->memory + c->memory / 4 + fixed_needs(c);
}

/* Returns the bytes in MiB, rounded up. */
static unsigned long long in_mib(unsigned long long bytes)
{
    return (bytes + MIB - 1) / MIB;
}

static void warn_of_limit(const srv_config *c, srv_log *log, unsigned long long limit)
{
    unsigned long long fixed      = fixed_needs(c);
    char               other[100] = "";
    if (limit > fixed + 5 * MIB) snprintf(other, sizeof other, ", or --memory to %lluM", (limit - fixed) / 5 * 4 / MIB);
    srv_log_message(
        log, SRV_WARNING, "memory-limit",
        "the control group of the server may have %llu MiB, but with --memory %lluM, --model-memory %lluM, %zu "
        "connections, %zu loops and %zu workers it needs %llu MiB: the kernel may end it; set memory.max "
        "(MemoryMax= of systemd, the memory limit of the container) to %lluM%s",
        limit / MIB, in_mib(c->memory), in_mib(c->model_memory), c->connections, c->loops, c->workers,
        in_mib(srv_memory_needs(c)), in_mib(srv_memory_needs(c)), other);
}

void srv_memory_needs_report(const srv_config *c, srv_log *log)
{
    unsigned long long needs = srv_memory_needs(c), limit = srv_memory_limit(SRV_CGROUP_LIST, SRV_CGROUPS);
    srv_line           line;
    srv_log_begin(&line, log, SRV_INFO, "memory");
    srv_log_count(&line, "needs", needs);
    if (limit > 0) srv_log_count(&line, "limit", limit);
    srv_log_end(&line);
    if (limit > 0 && limit < needs) warn_of_limit(c, log, limit);
}
