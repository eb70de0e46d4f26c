#!/bin/bash
# libfaketime: FAKETIME_DONT_FAKE_MONOTONIC=1 leaves the monotonic clock alone (README of libfaketime), so that a test can set the clock
# of dates and nothing else. A thread that waits for a second on a condition variable of the MONOTONIC clock then times out at once: a
# program that waits again in a loop takes a whole core, while it does what it should. The clock itself is right, and so are waits on
# the clock of dates. FAKETIME_FORCE_MONOTONIC_FIX=0, which the README names for programs that hang, lets it wait.
set -eu
command -v gcc >/dev/null || { echo "gcc is needed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    --reinstall libfaketime=0.9.10-2.1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >wait.c <<'FILE'
#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* Waits for one second on a condition variable of a clock. Prints the time that passed, in tenths of a second. */
int main(int argc, char **argv)
{
    (void)argv;
    clockid_t          clock = argc > 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    pthread_mutex_t    mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t     never;
    pthread_condattr_t attributes;
    struct timespec    begin, until, end;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock);
    pthread_cond_init(&never, &attributes);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    clock_gettime(clock, &until);
    until.tv_sec++;
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &until);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.1f s", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
}
FILE
gcc -o wait wait.c -pthread
library=$(echo root/usr/lib/*/faketime/libfaketimeMT.so.1)
fake() { env LD_PRELOAD="./$library" FAKETIME=+1d FAKETIME_DONT_FAKE_MONOTONIC=1 "$@"; }
plain=$(./wait) dates=$(fake ./wait dates) monotonic=$(fake ./wait) mended=$(fake FAKETIME_FORCE_MONOTONIC_FIX=0 ./wait)
echo "libfaketime 0.9.10, a wait of one second; expected 1.0 s each time"
echo "without libfaketime $plain; clock of dates $dates; monotonic clock $monotonic; with FAKETIME_FORCE_MONOTONIC_FIX=0 $mended"
[ "$plain" = "1.0 s" ] && [ "$dates" = "1.0 s" ] && [ "$monotonic" = "0.0 s" ] && [ "$mended" = "1.0 s" ]
