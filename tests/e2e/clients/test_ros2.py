"""Tests the ROS 2 package of api/clients/ros2: its logic against a server, and the node and its launch file with
substitutes for ROS."""
import importlib.util
import math
import os
import subprocess
import sys
import types
import unittest
import xml.etree.ElementTree

import tap
from harness import ROOT, Server, ServerCase
from python_client import torqued

FOLDER = os.path.join(ROOT, "api", "clients", "ros2")
sys.path.insert(0, FOLDER)

from torqued_ros.joint_dynamics import JointDynamics  # noqa: E402  (the path is set first)

LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/>{3}</joint>"""


def urdf(mimic=False, floating=False):
    parts = [LINK.format(name) for name in "abcd"] + ['<link name="world"/>']
    parts += [JOINT.format("elbow", "b", "c", ""), JOINT.format("shoulder", "a", "b", ""),
              JOINT.format("finger", "c", "d", '<mimic joint="elbow" multiplier="2"/>' if mimic else "")]
    parts.append('<joint name="base" type="{}"><parent link="world"/><child link="a"/></joint>'.format("floating" if floating else "fixed"))
    return f'<robot name="r">{"".join(parts)}</robot>'


class Logic(ServerCase):
    def setUp(self):
        self.torqued = torqued.Client(self.server.url())
        self.addCleanup(self.torqued.close)
        self.dynamics = JointDynamics(self.torqued, "ros")

    def expected(self, names, q, qd=None, qdd=None):
        """Sends a JSON request with coordinates by name, and returns the torques in the order of `names`."""
        request = {"q": dict(zip(names, q))}
        for field, values in (("qd", qd), ("qdd", qdd)):
            if values is not None:
                request[field] = dict(zip(names, values))
        tau = self.ask("ros", "inverse-dynamics", request)["tau"]
        by_name = dict(zip(self.ok(self.client.get("/v1/models/ros"))["velocity_names"], tau))
        return [by_name[name] for name in names]

    def test_order_by_name(self):
        self.assertEqual(self.dynamics.describe(urdf()), [])
        self.assertEqual(set(self.dynamics.joints), {"shoulder", "elbow", "finger"})
        names, q, qd = ["finger", "other", "elbow", "shoulder"], [0.3, 99, 0.2, 0.1], [3, 99, 2, 1]
        torques = self.dynamics.update(1.0, names, q, qd)
        mine = [0, 2, 3]
        names, q, qd = ([values[i] for i in mine] for values in (names, q, qd))
        def order(efforts):
            return [dict(zip(torques.names, efforts))[name] for name in names]
        self.assertEqual(order(torques.gravity), self.expected(names, q))
        self.assertEqual(order(torques.inverse_dynamics), self.expected(names, q, qd))
        self.assertNotEqual(torques.gravity, torques.inverse_dynamics)

    def test_parts_of_the_state(self):
        self.assertIsNone(self.dynamics.update(0, ["elbow"], [1]), "there is no robot yet")
        self.dynamics.describe(urdf())
        self.assertIsNone(self.dynamics.update(0, ["elbow", "finger"], [0.2, 0.3]))
        self.assertEqual(self.dynamics.missing(), ["shoulder"])
        self.assertIsNone(self.dynamics.update(0, ["shoulder"], [math.nan]))
        torques = self.dynamics.update(0, ["shoulder"], [0.1], [1])
        self.assertEqual(torques.gravity, self.expected(torques.names, [0.1, 0.2, 0.3]))
        self.assertIsNone(torques.inverse_dynamics, "two velocities are unknown")
        torques = self.dynamics.update(0, ["elbow", "finger"], [0.2, math.inf], [2, 3])
        self.assertEqual(torques.inverse_dynamics, self.expected(torques.names, [0.1, 0.2, 0.3], [1, 2, 3]))
        for arrays in ((["elbow"], []), (["elbow"], [1], [1, 2]), ([], [1])):
            with self.assertRaises(ValueError):
                self.dynamics.update(0, *arrays)

    def test_accelerations(self):
        dynamics = JointDynamics(self.torqued, "ros", "difference")
        dynamics.describe(urdf())
        names = dynamics.joints
        self.assertIsNone(dynamics.update(5.0, names, [0.1, 0.2, 0.3], [0, 0, 0]).inverse_dynamics)
        torques = dynamics.update(5.25, names, [0.1, 0.2, 0.3], [1, 2, 3])
        self.assertEqual(torques.inverse_dynamics, self.expected(names, [0.1, 0.2, 0.3], [1, 2, 3], [4, 8, 12]))
        for stamp in (5.25, 4.0, 9.0):  # time stamps with which no rate can be computed: equal to the last one, before it, and long after it
            self.assertIsNone(dynamics.update(stamp, names, [0.1, 0.2, 0.3], [1, 2, 3]).inverse_dynamics)
        with self.assertRaises(ValueError):
            JointDynamics(self.torqued, "ros", "guess")

    def test_mimic(self):
        self.dynamics.describe(urdf(mimic=True))
        self.assertEqual(self.dynamics.joints, ["shoulder", "elbow"])
        torques = self.dynamics.update(0, ["finger", "elbow", "shoulder"], [0.4, 0.2, 0.1])
        self.assertEqual(torques.gravity, self.expected(torques.names, [0.1, 0.2]))

    def test_robots_that_are_refused(self):
        self.dynamics.describe(urdf(mimic=True))
        for bad in ("", "<robot", "{}"):
            with self.assertRaises(torqued.Problem):
                self.dynamics.describe(bad)
        self.assertIsNotNone(self.dynamics.update(0, ["shoulder", "elbow"], [0.1, 0.2]))
        with self.assertRaisesRegex(ValueError, "base.qw"):
            self.dynamics.describe(urdf(floating=True))
        self.assertIsNone(self.dynamics.update(0, ["shoulder", "elbow"], [0.1, 0.2]))

    def test_another_program_takes_the_name(self):
        self.dynamics.describe(urdf())
        self.torqued.put("ros", urdf().replace('mass value="2"', 'mass value="3"'))
        with self.assertRaises(torqued.Problem) as caught:
            self.dynamics.update(0, ["shoulder", "elbow", "finger"], [0.1, 0.2, 0.3])
        self.assertEqual(caught.exception.code, "precondition-failed")

    def test_a_server_without_its_store(self):
        self.dynamics.describe(urdf())
        before = self.dynamics.update(0, ["shoulder", "elbow", "finger"], [0.1, 0.2, 0.3])
        self.torqued.delete("ros")
        self.assertEqual(self.dynamics.update(0, [], []), before)


class Stand:
    """Substitutes for modules of ROS: every attribute exists and every call is ignored."""

    def __init__(self, *arguments, **named):
        self.arguments = arguments
        self.__dict__.update(named)


class StandNode:
    """Substitutes for rclpy's Node: parameters, publishers, subscriptions, log."""
    parameters = {}

    def __init__(self, name):
        self.name, self.published, self.subscriptions, self.logged = name, [], {}, []

    def declare_parameter(self, name, default):
        return Stand(value=self.parameters.get(name, default))

    def get_fully_qualified_name(self):
        return "/robots/left/" + self.name

    def create_publisher(self, kind, topic, qos):
        return Stand(publish=lambda message: self.published.append((topic, message)))

    def create_subscription(self, kind, topic, callback, qos):
        self.subscriptions[topic] = callback

    def get_logger(self):
        return types.SimpleNamespace(**{level: lambda text, level=level, **_: self.logged.append((level, text))
                                        for level in ("info", "warning", "error")})


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


def stand_in():
    module("rclpy", init=None, spin=None, try_shutdown=None)
    module("rclpy.node", Node=StandNode)
    module("rclpy.qos", DurabilityPolicy=Stand(TRANSIENT_LOCAL=1), QoSProfile=Stand, qos_profile_sensor_data=Stand(reliability=2))
    module("sensor_msgs")
    module("sensor_msgs.msg", JointState=Stand)
    module("std_msgs")
    module("std_msgs.msg", String=Stand)
    module("launch", LaunchDescription=Stand)
    module("launch.actions", DeclareLaunchArgument=Stand)
    module("launch.substitutions", LaunchConfiguration=Stand)
    module("launch_ros")
    module("launch_ros.actions", Node=Stand)


def state(names, positions, velocities):
    return Stand(header=Stand(stamp=Stand(sec=1, nanosec=500_000_000)), name=names, position=positions, velocity=velocities)


class Node(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stand_in()
        from torqued_ros import node
        cls.module = node
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def node(self, **parameters):
        StandNode.parameters = {"url": self.server.url(), **parameters}
        return self.module.TorquesNode()

    def test_from_description_to_torques(self):
        node = self.node()
        self.assertEqual(set(node.subscriptions), {"robot_description", "joint_states"})
        node.subscriptions["joint_states"](state(["shoulder"], [0.1], []))
        self.assertEqual(node.published, [])
        node.subscriptions["robot_description"](Stand(data=urdf()))
        node.subscriptions["joint_states"](state(["elbow", "finger", "shoulder"], [0.2, 0.3, 0.1], [2.0, 3.0, 1.0]))
        self.assertEqual([topic for topic, _ in node.published], ["~/gravity", "~/inverse_dynamics"])
        gravity, motion = (message for _, message in node.published)
        self.assertEqual(gravity.name, ["shoulder", "elbow", "finger"])
        self.assertEqual(gravity.header.stamp.sec, 1)
        model = torqued.Client(self.server.url()).model("robots-left-torques")
        self.assertEqual(gravity.effort, model.inverse_dynamics([0.1, 0.2, 0.3]).tau.tolist())
        self.assertEqual(motion.effort, model.inverse_dynamics([0.1, 0.2, 0.3], qd=[1, 2, 3]).tau.tolist())

    def test_errors_are_logged(self):
        node = self.node(model="logged")
        node.subscriptions["robot_description"](Stand(data="<robot/>"))
        node.subscriptions["robot_description"](Stand(data=urdf()))
        node.subscriptions["joint_states"](state(["shoulder", "elbow"], [0.1], []))
        torqued.Client(self.server.url()).put("logged", urdf(floating=True))
        node.subscriptions["joint_states"](state(["shoulder", "elbow", "finger"], [0.1, 0.2, 0.3], []))
        self.assertEqual([level for level, _ in node.logged], ["error", "info", "error", "error"])
        self.assertEqual(node.published, [])
        self.assertEqual(self.node(url="http://127.0.0.1:1").logged, [], "no server yet")

    def test_a_token_from_a_file(self):
        path = os.path.join(self.server.folder, "token")
        with open(path, "w") as file:
            file.write("secret\n")
        self.assertEqual(self.module.read_token(path), "secret")
        self.assertIsNone(self.module.read_token(""))

    def test_launch_file(self):
        spec = importlib.util.spec_from_file_location("launched", os.path.join(FOLDER, "launch", "torques.launch.py"))
        launched = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(launched)
        *arguments, node = launched.generate_launch_description().arguments[0]
        self.assertEqual([argument.arguments[0] for argument in arguments], ["url", "token_file", "acceleration"])
        self.assertEqual((node.package, node.executable), ("torqued_ros", "torques"))
        declared = {"url", "token_file", "model", "acceleration"}
        self.assertLessEqual(set(node.parameters[0]), declared)


class Package(unittest.TestCase):
    def test_names_agree(self):
        package = xml.etree.ElementTree.parse(os.path.join(FOLDER, "package.xml")).getroot()
        self.assertEqual(package.findtext("name"), "torqued_ros")
        told = subprocess.run([sys.executable, "setup.py", "--name", "--version"], cwd=FOLDER, capture_output=True, text=True,
                              check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(told.stdout.split()[-2:], ["torqued_ros", package.findtext("version")])


if __name__ == "__main__":
    tap.main()
