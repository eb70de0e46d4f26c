#!/usr/bin/python3
"""rooms.py [--calls BUILD] - checks that the folders of the product include and call each other in one order.

A room is a folder with sources; ORDER lists the rooms from the lowest layer up. A file includes headers of its own room and of rooms listed
before it. With --calls the same holds for calls: by the symbols of the objects under BUILD that are newer than their sources. Headers of the
room itself are included by their bare names, all others by their path from the root.
"""
import argparse
import os
import re
import subprocess
import sys

# Folders joined by | may include each other. A file that is listed by itself is in a lower layer than its folder.
ORDER = """
dynamics/memory/memory.h dynamics/model/joint_types.h dynamics/model/model.h dynamics/math dynamics/model dynamics/dynamics.h dynamics/held_directions.h dynamics/step.h dynamics/constraint.h dynamics/closure_kernels.h dynamics/friction_map.h dynamics/hessian.h dynamics/gradient.h dynamics/directional.h dynamics/hessian_product.h dynamics/friction_gradient.h dynamics/riccati.h dynamics/centroidal.h dynamics/energy_regressor.h dynamics/frame_sensitivity.h dynamics/torque_series.h dynamics/joint
dynamics/recursion dynamics/algorithms dynamics/adjoint dynamics/constraints dynamics/momentum dynamics dynamics/memory dynamics/loops dynamics/loop_reference dynamics/inverse_kinematics dynamics/wrench_estimation dynamics/contact dynamics/joint_stiction dynamics/held dynamics/motion dynamics/inverse_kinematics_tasks dynamics/path_timing dynamics/trajectory_gradients dynamics/control dynamics/integration dynamics/simulation|dynamics/rigid_contact dynamics/identification dynamics/samples
api/problem_codes.h api/problem api/metrics api/client_metrics api/exemplars api/large_block api/robots/files api/api.h api/base/memory api/robot_files.h api/base/work api/codec/negotiate api/robots/registry/preconditions api/codec/compress
api/codec/coding api/codec/decimal api/codec/misread_bodies api/codec|api/codec/nodes|api/codec/cbor|api/codec/msgpack api/archive api/robots/document api/robots/mesh_inertia api/robots/report_order api/robots/model api/robots/registry api/robots/locked_joints api/robots/formats.h api/robots/xml api/robots/inertia_bounds api/robots/loop_actuation api/robots/linked_files api/robots/link_shapes api/robots/mjcf_schema api/robots/mjcf_write api/robots/sdf_write api/robots/urdf api/robots/mjcf|api/robots/mjcf_shapes|api/robots/mjcf_tree api/robots/sdf api/robots/main_file|api/robots/archive_formats|api/robots/formats
api/service/http/route api/requests/cost/calibration api/requests/cost/cost_feedback
api/service/http/call.h api/requests/fields api/requests/operations/operation_list.h api/requests/lanes api/requests/scene api/requests/cost/peek api/requests/answer api/requests/evaluate api/requests/inverse_kinematics api/requests/motion api/requests/identification api/requests/contact api/requests/held api/requests/configuration api/requests/sensing
api/requests/control api/requests/feed_forward api/requests/simulation api/requests/step api/requests/rollout_cost api/requests/operations|api/requests/gradient|api/requests/path_timing api/requests/cost api/service/http api/robots api/service/resources api
server/config.h server/default_folders server/console server/framing server/work server/memory server/audit server/log|server/log_writer server/slow_log server/operating/wall_clock server/operating/build_id server/handover server/store/checksum server/store/handover_sync server/store/postgres server/store server/access server/net server/settings|server/config|server/config_checks|server/config_text|server/config_file|server/config_names server/cli/options server/operating server/cli/files server/cli/client server/cli/top server/cli server/process server
""".split()
RANK = {room: place for place, rooms in enumerate(ORDER) for room in rooms.split("|")}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def room_of(path):
    """Returns the folder (room) of a file, or the file itself if RANK lists it, with or without its ending."""
    return next((name for name in (path, os.path.splitext(path)[0]) if name in RANK), os.path.dirname(path))


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "dynamics/*.[ch]",
                             "api/*.[ch]", "server/*.[ch]", ":!api/clients/*"], check=True, capture_output=True, text=True)
    return [path for path in listed.stdout.split() if os.path.exists(path)]


def includes(paths):
    """Yields (file, header) of all includes of the tree's own headers."""
    for path in paths:
        with open(path, encoding="utf-8") as source:
            for name in INCLUDE.findall(source.read()):
                near = os.path.join(os.path.dirname(path), name)
                yield path, near if os.path.exists(near) else name


def calls(build, paths):
    """Yields (caller, file that defines the symbol), from the symbol tables of the objects."""
    defined, wanted = {}, []
    for path in paths:
        place = os.path.join(build, os.path.splitext(path)[0] + ".o")
        for one in [place, place.replace("/dynamics/", "/dynamics/scalar/")]:
            if path.endswith(".h") or not os.path.exists(one) or os.path.getmtime(one) < os.path.getmtime(path):
                continue
            listed = subprocess.run(["nm", "-g", one], check=True, capture_output=True, text=True).stdout
            for line in listed.splitlines():
                kind, name = line.split()[-2:]
                if kind == "U":
                    wanted.append((path, name))
                else:
                    defined[name] = path
    return [(path, defined[name]) for path, name in wanted if name in defined]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", metavar="BUILD")
    asked = parser.parse_args()
    paths = sources()
    bad = [f"{path}: {room_of(path)} has no place in the order of tests/rooms.py"
           for path in paths if room_of(path) not in RANK]
    pairs = [(path, header, "includes") for path, header in includes(paths)]
    if asked.calls:
        pairs += [(path, other, "calls") for path, other in calls(asked.calls, paths)]
    for path, other, verb in sorted(set(pairs)):
        if RANK.get(room_of(other), 0) > RANK.get(room_of(path), 0):
            bad.append(f"{path} {verb} {other}: {room_of(path)} knows no {room_of(other)}")
    if bad:
        print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
