"""The node `torques`: from robot_description and joint_states to ~/gravity and ~/inverse_dynamics."""
import rclpy
import torqued
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from .joint_dynamics import JointDynamics

QUIET = 5.0     # s between two equal complaints


def read_token(path):
    if not path:
        return None
    with open(path) as file:
        return file.read().strip()


class TorquesNode(Node):
    """Parameters: url, token_file, model (name on the server; default: the node's own), acceleration (zero or difference)."""

    def __init__(self):
        super().__init__("torques")
        url = self.declare_parameter("url", "http://127.0.0.1:8088").value
        token = read_token(self.declare_parameter("token_file", "").value)
        default_name = self.get_fully_qualified_name().strip("/").replace("/", "-")
        model = self.declare_parameter("model", default_name).value
        acceleration = self.declare_parameter("acceleration", "zero").value
        # A late answer is worth less than the next state: no repetition, and a short wait.
        self._dynamics = JointDynamics(torqued.Client(url, token=token, retries=0, timeout=1.0), model, acceleration)
        self._gravity = self.create_publisher(JointState, "~/gravity", qos_profile_sensor_data)
        self._inverse_dynamics = self.create_publisher(JointState, "~/inverse_dynamics", qos_profile_sensor_data)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(String, "robot_description", self._describe, latched)
        newest = QoSProfile(depth=1, reliability=qos_profile_sensor_data.reliability)
        self.create_subscription(JointState, "joint_states", self._evaluate, newest)

    def _describe(self, message):
        try:
            for remark in self._dynamics.describe(message.data):
                self.get_logger().warning(remark)
            self.get_logger().info(f"robot with the joints {', '.join(self._dynamics.joints)}")
        except (torqued.Error, ValueError) as error:
            self.get_logger().error(f"robot_description: {error}")

    def _evaluate(self, message):
        stamp = message.header.stamp
        try:
            torques = self._dynamics.update(stamp.sec + 1e-9 * stamp.nanosec, message.name, message.position, message.velocity)
        except (torqued.Error, ValueError) as error:
            self.get_logger().error(f"joint_states: {error}", throttle_duration_sec=QUIET)
            return
        if torques is None:
            self.get_logger().info("waiting for a robot and for the positions of all its joints", throttle_duration_sec=QUIET)
            return
        for publisher, efforts in ((self._gravity, torques.gravity), (self._inverse_dynamics, torques.inverse_dynamics)):
            if efforts is not None:
                answer = JointState()
                answer.header = message.header
                answer.name, answer.effort = torques.names, efforts
                publisher.publish(answer)


def main():
    rclpy.init()
    node = TorquesNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
