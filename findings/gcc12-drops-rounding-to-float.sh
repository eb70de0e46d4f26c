#!/bin/bash
# C: (double)(float)x rounds x to a 32-bit float. gcc 12.2 at -O2 drops the rounding of two neighbouring stores, which it joins into
# one vector of doubles; the third store keeps it. -fno-tree-slp-vectorize restores it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v gcc >gcc.log 2>&1 || { echo "no gcc here"; exit 77; }
[ "$(gcc -dumpfullversion)" = 12.2.0 ] && [ "$(uname -m)" = x86_64 ] || { echo "no gcc 12.2.0 for x86-64 here"; exit 77; }
cat >round.c <<'EOF'
void put(double *v, double x, double y, double z)
{
    v[0] = (double)(float)x + 0.0;
    v[1] = (double)(float)y + 0.0;
    v[2] = (double)(float)z + 0.0;
}
EOF
cat >main.c <<'EOF'
#include <stdio.h>
void put(double *v, double x, double y, double z);
int main(void)
{
    volatile double tenth = 0.1;
    double v[3];
    put(v, tenth, tenth, tenth);
    printf("%.17g %.17g %.17g\n", v[0], v[1], v[2]);
    return v[0] == tenth && v[1] == tenth && v[2] != tenth ? 0 : 1;
}
EOF
echo "gcc $(gcc -dumpfullversion)"
gcc -O2 -fno-tree-slp-vectorize round.c main.c -o rounded
echo "expected: $(./rounded || true)"
gcc -O2 round.c main.c -o program
echo -n "seen:     "
./program
