"""Torques of a robot for ROS 2, computed by a torqued server."""
