#!/bin/bash
# Octave: the option Mass of odeset is a constant matrix or a function (help odeset): M y' = f(t, y). ode45 and ode23 accept a constant matrix and
# ignore it, in silence. A function that returns the same matrix works; ode23s heeds the constant one. A robot's pendulum swings at a wrong
# rate. (The tests of ode45 pass the identity.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ "$(dpkg-query -W -f '${Version}' octave 2>dpkg.log)" = 7.3.0-2 ] || { echo "no octave 7.3.0-2 of Debian here"; exit 77; }
cat >finding.m <<'FILE'
% 2 x' = 2 v, 4 v' = -4 x: x = cos t
M = [2, 0; 0, 4];
f = @(t, y) [2 * y(2); -4 * y(1)];
printf("Octave %s: 2 x' = 2 v, 4 v' = -4 x; expected x(3) = cos 3 = %.4f\n", version(), cos(3));
function x = last(solver, f, varargin)
    [t, y] = feval(solver, f, [0, 3], [1; 0], odeset("RelTol", 1e-8, "AbsTol", 1e-10, varargin{:}));
    x = y(end, 1);
end
good = true;
for solver = {"ode45", "ode23", "ode23s"}
    x = last(solver{1}, f, "Mass", M);
    if strcmp(solver{1}, "ode23s")
        printf("%-6s: Mass as a matrix %.4f\n", solver{1}, x);
        good = good && abs(x - cos(3)) < 1e-4;
    else
        handle = last(solver{1}, f, "Mass", @(t) M, "MStateDependence", "none");
        none = last(solver{1}, f);
        printf("%-6s: Mass as a matrix %.4f, as a function %.4f, without Mass %.4f\n", solver{1}, x, handle, none);
        good = good && x == none && abs(x - cos(3)) > 0.3 && abs(handle - cos(3)) < 1e-4;
    end
end
exit(! good);
FILE
octave --no-gui --norc --quiet finding.m
