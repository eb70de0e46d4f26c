#!/bin/bash
# C: (double)(float)x rounds x to a 32-bit float. gcc 12.2 at -O2 drops the rounding of two neighbouring stores, which it joins into
# one vector of doubles; the third store keeps it. -fno-tree-slp-vectorize restores it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ "$(uname -m)" = x86_64 ] || { echo "no x86-64 here"; exit 77; }
apt-get download gcc-12=12.2.0-14+deb12u1 cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libgcc-s1=12.2.0-14+deb12u1 \
    binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf0=2.40-2 libctf-nobfd0=2.40-2 libjansson4=2.14-2 libmpc3=1.3.1-1 libmpfr6=4.2.0-1 \
    libgmp10=2:6.2.1+dfsg1-1.1 libisl23=0.25-1.1 libzstd1=1.5.4+dfsg2-5 libc6 libc6-dev >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >round.c <<'EOF'
void put(double *v, double x, double y, double z)
{
    v[0] = (double)(float)x + 0.0;
    v[1] = (double)(float)y + 0.0;
    v[2] = (double)(float)z + 0.0;
}
EOF
cat >main.c <<'EOF'
int printf(const char *format, ...);
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
ln -s x86_64-linux-gnu-as root/usr/bin/as
ln -s x86_64-linux-gnu-ld root/usr/bin/ld
compile() { LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PATH="$folder/root/usr/bin:$PATH" root/usr/bin/x86_64-linux-gnu-gcc-12 --sysroot=root "$@"; }
echo "gcc $(compile -dumpfullversion)"
compile -O2 -fno-tree-slp-vectorize round.c main.c -o rounded
echo "expected: $(./rounded || true)"
compile -O2 round.c main.c -o program
echo -n "seen:     "
./program
