"""Starts the node `torques` beside a robot_state_publisher: ros2 launch torqued_ros torques.launch.py url:=http://127.0.0.1:8088"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

ARGUMENTS = {
    "url": ("http://127.0.0.1:8088", "address of the server, or unix:PATH"),
    "token_file": ("", "file with a bearer token"),
    "acceleration": ("zero", "zero, or difference: from the change of the velocities"),
}


def generate_launch_description():
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, (value, text) in ARGUMENTS.items()]
    node = Node(package="torqued_ros", executable="torques", name="torques", output="screen",
                parameters=[{name: LaunchConfiguration(name) for name in ARGUMENTS}])
    return LaunchDescription([*declared, node])
