#!/bin/bash
# NetCDF classic: each record of a variable is padded to a multiple of four bytes (the file format's specification, on vsize). netcdfjs returns the padding as
# values: three 16-bit numbers per record, say the axes of an accelerometer, come as four, the last -32767. The number of values is no longer
# the product of the variable's dimensions, and whoever takes them in order mixes axes. A variable of doubles beside it is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts netcdfjs@4.0.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    netcdf-bin=1:4.9.0-3+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >log.cdl <<'FILE'
netcdf log {
dimensions:
    time = UNLIMITED;
    axis = 3;
variables:
    short acceleration(time, axis);
    byte status(time);
    double stamp(time);
data:
    acceleration = 1, 2, 3, 11, 12, 13, 21, 22, 23;
    status = 5, 6, 7;
    stamp = 0.5, 1.5, 2.5;
}
FILE
cat >finding.mjs <<'FILE'
import {readFileSync} from "node:fs";
import {NetCDFReader} from "netcdfjs";
const reader = new NetCDFReader(readFileSync("log.nc"));
console.log(`netcdfjs 4.0.0, a log of 3 records by ncgen 4.9.0 (${reader.version})`);
const expected = {acceleration: [[1, 2, 3], [11, 12, 13], [21, 22, 23]], status: [5, 6, 7], stamp: [0.5, 1.5, 2.5]};
const text = {};
for (const [name, values] of Object.entries(expected)) {
    text[name] = JSON.stringify(reader.getDataVariable(name));
    console.log(`${name}: expected ${JSON.stringify(values)}, seen ${text[name]}`);
}
const filled = JSON.stringify(expected.acceleration.map((record) => [...record, -32767]));
process.exit(text.acceleration === filled && text.stamp === JSON.stringify(expected.stamp) ? 0 : 1);
FILE
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/ncgen -k classic -o log.nc log.cdl
node finding.mjs
