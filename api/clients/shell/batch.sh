#!/bin/sh
# batch.sh - plots the torques of a Panda along a motion of 10 000 states, and prints them as CSV.
set -e
states=$(mktemp)
trap 'rm -f "$states"' EXIT
awk 'BEGIN {
    n = split("0 -0.5 0 -2 0 1.5 0.5", from); split("1 0.5 -0.5 -1 0.5 2 -0.5", to) # rad
    print "t,q1,q2,q3,q4,q5,q6,q7,qd1,qd2,qd3,qd4,qd5,qd6,qd7,qdd1,qdd2,qdd3,qdd4,qdd5,qdd6,qdd7"
    for (i = 0; i < 10000; i++) { # from rest to rest in 2 s, the jerk as small as possible
        s = i / 9999
        printf "%.17g", s * 2
        for (j = 1; j <= n; j++) printf ",%.17g", from[j] + (to[j] - from[j]) * (s * s * s * (10 + s * (6 * s - 15)))
        for (j = 1; j <= n; j++) printf ",%.17g", (to[j] - from[j]) * (30 * s * s * (1 - s) * (1 - s) / 2)
        for (j = 1; j <= n; j++) printf ",%.17g", (to[j] - from[j]) * (60 * s * (1 - s) * (1 - 2 * s) / 4)
        print ""
    }
}' >"$states"
echo t,tau1,tau2,tau3,tau4,tau5,tau6,tau7
torqued call panda inverse-dynamics --from csv --fields q,qd,qdd <"$states" | paste -d , "$states" - | cut -d , -f 1,23-29 | tail -n +2
[ -z "$TORQUED_PLOT" ] || torqued plot panda inverse-dynamics --from csv --fields q,qd,qdd --output "$TORQUED_PLOT" <"$states"
