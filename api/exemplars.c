/* exemplars.c - keeps the last request of each bucket of durations (exemplars.h). */
#include "exemplars.h"
#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
#define X(LABEL, name, values) VALUES_OF_##LABEL = (values),
    API_LABELS(X)
#undef X
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static api_exemplar    exemplars[VALUES_OF_OPERATION][API_BOUNDS + 1]; /* guarded by the mutex */

static double seconds_since_1970(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t bucket_for(double seconds)
{
    size_t i = 0;
    while (i < API_BOUNDS && seconds > api_metric_bound(API_METRIC_REQUEST_SECONDS, i))
        i++;
    return i;
}

void api_exemplar_note(unsigned operation, uint64_t ns, const char *trace, const char *request_id)
{
    api_exemplar e  = {.is_trace = trace != NULL, .seconds = 1e-9 * (double)ns, .time = seconds_since_1970()};
    const char  *id = trace ? trace : request_id;
    if (!id || strlen(id) >= sizeof e.id) return;
    strcpy(e.id, id);
    size_t bucket = bucket_for(e.seconds);
    pthread_mutex_lock(&mutex);
    exemplars[operation < VALUES_OF_OPERATION ? operation : 0][bucket] = e;
    pthread_mutex_unlock(&mutex);
}

api_exemplar api_exemplar_of(unsigned operation, size_t i)
{
    pthread_mutex_lock(&mutex);
    api_exemplar e = exemplars[operation < VALUES_OF_OPERATION ? operation : 0][i];
    pthread_mutex_unlock(&mutex);
    return e;
}
