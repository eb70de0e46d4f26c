#!/bin/bash
# 3MF: each item of the build has a transform, which places its part (3MF core specification, on item), and Assimp's 3MF reader heeds it. Assimp's WRITER of 3MF writes
# none and does not move the vertices either: each part of an assembly lies at the origin, unturned and unscaled, in the units of the
# source. The same Collada file written as OBJ, STL or PLY is right. The command succeeds.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    assimp-utils=5.2.5~ds0-1+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
part() { echo "<node id=\"$1\"><translate>$2 0 0</translate><scale>$3 $3 $3</scale><instance_geometry url=\"#g\"/></node>"; }
cat >robot.dae <<FILE
<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01</created><modified>2020-01-01</modified><unit meter="1" name="meter"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>
</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="4">
<input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">$(part base 0 1)$(part arm 10 2)$(part hand 20 1)</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
FILE
export LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu
convert() { root/usr/bin/assimp export "$1" "$2" >assimp.log 2>&1 || { tail -n 3 assimp.log; exit 1; }; }
# The largest x of the vertices of an ASCII STL file, and how many different ones there are
extent() { awk '$1 == "vertex" {if ($2 > most) most = $2; if (!($2 in seen)) {seen[$2]; n++}} END {print most " m, " n " different x"}' "$1"; }
convert robot.dae direct.stl
convert robot.dae robot.obj
convert robot.obj obj.stl
convert robot.dae robot.3mf
convert robot.3mf 3mf.stl
echo "Assimp 5.2.5: three parts at x = 0, 10 and 20 m, the second of twice the size; largest x expected 21 m, 6 different x"
echo "Collada to STL: $(extent direct.stl); by way of OBJ: $(extent obj.stl); by way of 3MF: $(extent 3mf.stl)"
[ "$(extent direct.stl)" = "21 m, 6 different x" ] && [ "$(extent obj.stl)" = "21 m, 6 different x" ] && [ "$(extent 3mf.stl)" = "1 m, 2 different x" ]
