#!/bin/bash
# Modbus (PLCs, drives, sensors): libmodbus has a pair of functions for each order of the four bytes of a float in two registers, named abcd, dcba, badc and
# cdab. As amd64 of Debian 12 has them, no pair fits together: what modbus_set_float_abcd writes, modbus_get_float_abcd reads as another number, and
# so do the other three. "abcd", the big-endian order of Modbus, is what the functions of badc write and those of abcd read.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v gcc >gcc.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no gcc for x86-64 here"; exit 77; }
apt-get download libmodbus-dev=3.1.6-2.1+deb12u1 libmodbus5=3.1.6-2.1+deb12u1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.c <<'FILE'
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <modbus.h>

typedef void set(float, uint16_t *);
typedef float get(const uint16_t *);

int main(void)
{
    static const struct { const char *name; set *set; get *get; int order[4]; } kinds[] = {
        {"abcd", modbus_set_float_abcd, modbus_get_float_abcd, {0, 1, 2, 3}}, {"dcba", modbus_set_float_dcba, modbus_get_float_dcba, {3, 2, 1, 0}},
        {"badc", modbus_set_float_badc, modbus_get_float_badc, {1, 0, 3, 2}}, {"cdab", modbus_set_float_cdab, modbus_get_float_cdab, {2, 3, 0, 1}}};
    const float value = 123456; /* 47f12000 */
    int         strange = 0;
    uint32_t    bits;
    memcpy(&bits, &value, sizeof bits);
    printf("libmodbus %s: %g is %08x, bytes a to d\n", LIBMODBUS_VERSION_STRING, value, bits);
    for (size_t i = 0; i < 4; i++) {
        uint16_t found[2], expected[2];
        uint8_t  byte[4];
        for (int k = 0; k < 4; k++)
            byte[k] = (uint8_t)(bits >> (24 - 8 * kinds[i].order[k]));
        expected[0] = (uint16_t)(byte[0] << 8 | byte[1]);
        expected[1] = (uint16_t)(byte[2] << 8 | byte[3]);
        kinds[i].set(value, found);
        printf("%s: set expected %04x %04x, found %04x %04x; get of what set wrote: %g\n", kinds[i].name, expected[0], expected[1], found[0], found[1],
               kinds[i].get(found));
        strange += memcmp(found, expected, sizeof found) != 0 && kinds[i].get(found) != value && kinds[i].get(expected) == value;
    }
    return strange == 4 ? 0 : 1;
}
FILE
gcc -w -O1 -I root/usr/include/modbus finding.c -o finding -L root/usr/lib/x86_64-linux-gnu -l:libmodbus.so.5
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
