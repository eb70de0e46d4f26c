#!/bin/bash
# SymPy: Quaternion.from_rotation_matrix returns the quaternion equivalent to a matrix, of length 1 if the matrix is orthogonal with determinant 1 (its
# docstring). For every half turn, about any axis, it returns 0: x, y and z are multiplied by the signs of differences of off-diagonal entries, and
# these differences are 0 there. The way back, to_rotation_matrix, makes NaN of it. A quarter turn comes back exactly.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -x /usr/bin/python3 ] || { echo "no python3 here"; exit 77; }
apt-get download python3-sympy=1.11.1-1 python3-mpmath=1.2.1-2 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.py <<'FILE'
import sys
import sympy
from sympy.algebras.quaternion import Quaternion


def parts(quaternion):
    return tuple(sympy.nsimplify(part) for part in (quaternion.a, quaternion.b, quaternion.c, quaternion.d))


print("SymPy", sympy.__version__)
seen = True
for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, -2, 2)):
    for name, angle in (("half", sympy.pi), ("quarter", sympy.pi / 2)):
        turn = Quaternion.from_axis_angle(axis, angle)
        matrix = turn.to_rotation_matrix()
        assert matrix.T * matrix == sympy.eye(3) and matrix.det() == 1
        back = Quaternion.from_rotation_matrix(matrix)
        print(f"{name} turn about {axis}: expected {parts(turn)} or its negative, seen {parts(back)}")
        right = sympy.simplify(back.to_rotation_matrix() - matrix) == sympy.zeros(3, 3)
        seen = seen and (parts(back) == (0, 0, 0, 0) if name == "half" else right)
sys.exit(0 if seen else 1)
FILE
PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 finding.py
