/* handover_sync.c - excludes the changes of two servers on one folder, and makes each read the changes of the other. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "handover_sync.h"
#include "server/work/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NAME_SIZE = 80, NOTED_MOST = 65536, BATCH = 64 };

static const uint64_t longest_change = 10000000000; /* ns for which a change waits for one of the other server */
static const uint64_t longest_answer = 5000000000;  /* ns for which a change waits for its confirmation */

/* First byte of a message; the name of a model follows CHANGED. */
static const char CHANGED = 'c', CONFIRMED = 'k';

struct srv_handover_sync {
    int                      link, lock; /* lock: an open file description of this process alone; -1: none */
    srv_handover_sync_reader reader;
    pthread_t                thread;
    pthread_mutex_t          mutex;     /* guards the following */
    pthread_cond_t           confirmed; /* signalled at a confirmation and at the end of the other server */
    bool                     alive;     /* the other server is there */
    bool                     loads;     /* the other server loads the models */
    bool                     overflow;  /* more models have changed meanwhile than can be noted */
    bool                     holds;     /* a change of this server has the lock */
    size_t                   sent, answered;
    char (*noted)[NAME_SIZE]; /* [n_noted] names of the models that have changed while the other server loads */
    size_t n_noted;
};

/* --- the link ----------------------------------------------------------------------------------------------------- */

static bool send_message(const srv_handover_sync *t, char kind, const char *name)
{
    char   message[NAME_SIZE + 1];
    size_t length = strlen(name);
    if (length >= NAME_SIZE) return false;
    message[0] = kind;
    memcpy(message + 1, name, length);
    return send(t->link, message, length + 1, MSG_NOSIGNAL) >= 0;
}

static void note_confirmation(srv_handover_sync *t)
{
    pthread_mutex_lock(&t->mutex);
    t->answered++;
    pthread_cond_broadcast(&t->confirmed);
    pthread_mutex_unlock(&t->mutex);
}

static void note_end(srv_handover_sync *t)
{
    pthread_mutex_lock(&t->mutex);
    t->alive = false;
    pthread_cond_broadcast(&t->confirmed);
    pthread_mutex_unlock(&t->mutex);
}

/* Receives until the other server ends or this one closes the link. */
static void *receive_messages(void *arg)
{
    srv_handover_sync *t = arg;
    char               message[NAME_SIZE + 2];
    ssize_t            n;
    while ((n = read(t->link, message, sizeof message - 1)) > 0 || (n < 0 && errno == EINTR)) {
        if (n <= 0) continue;
        message[n] = '\0';
        if (*message == CONFIRMED) note_confirmation(t);
        if (*message != CHANGED) continue;
        t->reader.read(t->reader.arg, message + 1);
        if (!send_message(t, CONFIRMED, "")) break;
    }
    note_end(t);
    return NULL;
}

/* Waits until everything that was sent is confirmed. The caller holds the mutex. */
static bool await_confirmations(srv_handover_sync *t)
{
    uint64_t        end   = srv_now() + longest_answer;
    struct timespec until = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
    int             error = 0;
    while (t->alive && t->answered < t->sent && error == 0)
        error = pthread_cond_timedwait(&t->confirmed, &t->mutex, &until);
    return t->alive && t->answered >= t->sent;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static bool start_receiving(srv_handover_sync *t)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->confirmed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&t->thread, NULL, receive_messages, t) == 0) return true;
    pthread_cond_destroy(&t->confirmed);
    pthread_mutex_destroy(&t->mutex);
    return false;
}

srv_handover_sync *srv_handover_sync_open(int folder, int link, bool loads, const srv_handover_sync_reader *reader)
{
    srv_handover_sync *t = calloc(1, sizeof *t);
    if (t) {
        t->link   = link;
        t->lock   = folder >= 0 ? openat(folder, "lock", O_RDWR | O_CLOEXEC) : -1;
        t->reader = *reader;
        t->alive  = true;
        t->loads  = loads;
        if ((folder < 0 || t->lock >= 0) && start_receiving(t)) return t;
        if (t->lock >= 0) close(t->lock);
    }
    int error = errno;
    free(t);
    close(link);
    errno = error;
    return NULL;
}

void srv_handover_sync_close(srv_handover_sync *t)
{
    if (!t) return;
    shutdown(t->link, SHUT_RDWR); /* ends the thread */
    pthread_join(t->thread, NULL);
    close(t->link);
    if (t->lock >= 0) close(t->lock);
    pthread_cond_destroy(&t->confirmed);
    pthread_mutex_destroy(&t->mutex);
    free(t->noted);
    free(t);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static bool set_lock(const srv_handover_sync *t, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(t->lock, F_OFD_SETLK, &whole) == 0;
}

bool srv_handover_sync_is_alive(srv_handover_sync *t)
{
    if (!t) return false;
    pthread_mutex_lock(&t->mutex);
    bool alive = t->alive;
    pthread_mutex_unlock(&t->mutex);
    return alive;
}

bool srv_handover_sync_begin(srv_handover_sync *t, api_problem *problem)
{
    static const struct timespec pause = {.tv_nsec = 500000};
    uint64_t                     end   = srv_now() + longest_change;
    if (!t || t->lock < 0 || !srv_handover_sync_is_alive(t)) return true;
    while (!set_lock(t, F_WRLCK)) {
        bool again = errno == EAGAIN || errno == EACCES || errno == EINTR;
        if (!again || srv_now() > end)
            return api_fail(
                problem, API_STORE_FAILED, NULL,
                "the server that hands over to this one, or takes over from it, does not finish its change: "
                "%s; nothing has changed",
                strerror(errno));
        nanosleep(&pause, NULL);
    }
    t->holds = true;
    return true;
}

void srv_handover_sync_end(srv_handover_sync *t)
{
    if (!t || !t->holds) return;
    t->holds = false;
    set_lock(t, F_UNLCK);
}

/* Notes a model for the server that loads. The caller holds the mutex. */
static void note_name(srv_handover_sync *t, const char *name)
{
    char(*larger)[NAME_SIZE] = t->noted;
    if (t->n_noted % BATCH == 0 && t->n_noted < NOTED_MOST)
        larger = reallocarray(t->noted, t->n_noted + BATCH, sizeof *larger);
    t->overflow = t->overflow || !larger || t->n_noted == NOTED_MOST || strlen(name) >= NAME_SIZE;
    if (larger) t->noted = larger;
    if (!t->overflow) strcpy(t->noted[t->n_noted++], name);
}

bool srv_handover_sync_tell(srv_handover_sync *t, const char *name)
{
    bool late = false;
    if (!t) return true;
    pthread_mutex_lock(&t->mutex);
    if (t->alive && t->loads) {
        note_name(t, name);
    } else if (t->alive) {
        t->alive = send_message(t, CHANGED, name);
        t->sent++;
        late = !await_confirmations(t) && t->alive;
    }
    pthread_mutex_unlock(&t->mutex);
    return !late;
}

/* Sends the names that were noted, in parts: the link has a limited buffer. The caller holds the mutex. */
static bool send_noted(srv_handover_sync *t)
{
    bool good = t->alive && !t->overflow;
    for (size_t i = 0; good && i < t->n_noted; i++) {
        good = send_message(t, CHANGED, t->noted[i]);
        t->sent++;
        if (good && i % BATCH == BATCH - 1) good = await_confirmations(t);
    }
    return good && await_confirmations(t);
}

bool srv_handover_sync_loaded(srv_handover_sync *t)
{
    api_problem problem;
    api_problem_clear(&problem);
    if (!srv_handover_sync_begin(t, &problem)) return false; /* a change that has begun is noted */
    pthread_mutex_lock(&t->mutex);
    bool good  = send_noted(t);
    t->loads   = false;
    t->n_noted = 0;
    pthread_mutex_unlock(&t->mutex);
    srv_handover_sync_end(t);
    return good;
}
