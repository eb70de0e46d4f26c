/* exchange_body.c - receive the body of a request within the memory budget. */
#include "exchange_private.h"
#include "server/memory/disposal.h"
#include <stdlib.h>
#include <string.h>

/* FIRST_CLAIM: bytes that are claimed from the memory budget for the start of a body; later claims are in proportion to
 * the bytes received, since a head alone must not occupy the budget. MAX_PREALLOCATED: bytes of an announced body that
 * are allocated at once. */
enum { FIRST_CLAIM = UNHURRIED, MAX_PREALLOCATED = 32 << 20 };

/* LARGE: bytes of a body whose pages are worth a system call. BURST: part of --memory beyond which requests in flight
 * are a burst, after which freed memory would not be used again soon. */
enum { LARGE = 1 << 20, BURST = 8 };

enum { RESTED_PER_TURN = 8 }; /* paused bodies that are resumed in one turn of the loop */

static bool is_burst(const srv_server *server)
{
    return api_memory_used(server->api) > server->config->memory / BURST;
}

void srv_exchange_free_body(srv_exchange *x)
{
    const bool returns_pages = x->capacity >= LARGE && x->capacity < SRV_MAPPED_BYTES && is_burst(x->loop->server);
    if (x->claimed > 0) api_release(x->job.call, x->claimed);
    if (returns_pages)
        srv_dispose_pages(x->body);
    else
        srv_spare_body_give(&x->loop->spare, x->body, x->capacity, x->loop->connections.now);
    x->body     = NULL;
    x->job.body = NULL;
    x->capacity = x->claimed = x->job.length = 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Allocates space for `bytes` bytes of body. False: the reply is complete. An announced length is allocated at once, up
 * to MAX_PREALLOCATED, because copying a growing body delays other requests on this thread. */
static bool allocate_body(srv_exchange *x, size_t bytes)
{
    size_t at_once = smaller(x->announced_length, MAX_PREALLOCATED), room = bytes > at_once ? bytes : at_once;
    if (!x->body) x->body = srv_spare_body_take(&x->loop->spare, room, &x->capacity);
    if (room <= x->capacity) return true;
    char *body = realloc(x->body, room);
    if (!body) {
        api_refuse(x->job.call, API_MEMORY_FULL, "There is no memory for a body of %zu bytes.", room);
        return false;
    }
    x->body     = body;
    x->capacity = room;
    return true;
}

/* Claims and allocates space for `bytes` bytes of body. False: the reply is complete. */
static bool grow_body(srv_exchange *x, size_t bytes)
{
    if (bytes <= x->claimed) return true;
    if (!api_reserve(x->job.call, bytes - x->claimed)) return false;
    x->claimed = bytes;
    if (x->progress.end == 0 && bytes > UNHURRIED) srv_exchange_watch_progress(x, x->received);
    return bytes <= x->capacity || allocate_body(x, bytes);
}

bool srv_exchange_begin_body(srv_exchange *x)
{
    return grow_body(x, smaller(x->announced_length, FIRST_CLAIM));
}

void srv_exchange_refuse_body(srv_exchange *x)
{
    api_refuse(x->job.call, API_BODY_TOO_LARGE, "The body is larger than %zu bytes, the limit of this server.",
               x->loop->server->config->max_body);
}

void srv_exchange_want_memory(const srv_exchange *x)
{
    const srv_server *server = x->loop->server;
    if (x->account && atomic_load(&x->account->memory.wanted) > 0)
        srv_account_want_memory(server->accounts, x->account, server->config->memory, x->loop->connections.now);
}

void srv_exchange_answer_directly(srv_exchange *x)
{
    x->stage                             = ANSWERED;
    x->connection->needs_lingering_close = true;
    srv_exchange_free_body(x);
    srv_exchange_want_memory(x);
    srv_response_send_directly(x->connection, x->job.call);
}

/* Appends received data to the body. False if the body is too large or memory is short; then the reply is complete. */
static bool append_body(srv_exchange *x, const char *data, size_t length)
{
    if (length > x->max_length - x->job.length) {
        srv_exchange_refuse_body(x);
        return false;
    }
    size_t needed = x->job.length + length;
    if (needed > x->claimed && !grow_body(x, smaller(2 * needed, x->max_length))) return false;
    memcpy(x->body + x->job.length, data, length);
    x->job.length = needed;
    return true;
}

/* Pauses the reading of a large body when the turn of the loop is full, until other connections have been served.
 * Otherwise each turn would read from each of 500 bodies that arrive at the same time, and light requests would wait
 * for 5 ms. */
static void rest_if_turn_is_full(srv_exchange *x)
{
    srv_loop       *loop       = x->loop;
    srv_connection *connection = x->connection;
    if (x->received <= UNHURRIED || connection->rests || srv_now() < loop->turn_began + SRV_FULL_TURN) return;
    connection->rests                                      = true;
    connection->next_resting                               = NULL;
    *(loop->resting ? loop->last_resting : &loop->resting) = connection;
    loop->last_resting                                     = &connection->next_resting;
    MHD_suspend_connection(connection->mhd);
    srv_loop_turn_soon(loop);
}

void srv_exchanges_go_on(srv_loop *loop)
{
    for (int i = 0; i < RESTED_PER_TURN && loop->resting; i++) {
        srv_connection *connection = loop->resting;
        loop->resting              = connection->next_resting;
        connection->rests          = false;
        MHD_resume_connection(connection->mhd);
    }
    if (loop->resting) srv_loop_turn_soon(loop);
}

enum MHD_Result srv_exchange_receive(srv_exchange *x, const char *data, size_t length)
{
    x->received += length;
    if (x->stage == ANSWERED) return MHD_NO; /* the deadline passed, so the request is already answered */
    bool goes_on = x->stage == RECEIVING ? append_body(x, data, length) : x->received <= MAX_DISCARDED;
    if (goes_on) {
        rest_if_turn_is_full(x);
        return MHD_YES;
    }
    srv_exchange_answer_directly(x);
    return MHD_NO;
}
