"""Installs the package with colcon: colcon build --packages-select torqued_ros"""
from glob import glob

from setuptools import setup

NAME = "torqued_ros"

setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/" + NAME]),
        ("share/" + NAME, ["package.xml"]),
        ("share/" + NAME + "/launch", glob("launch/*.launch.py")),
    ],
    install_requires=["setuptools", "torqued"],
    zip_safe=True,
    maintainer="The authors of torqued",
    maintainer_email="torqued@example.org",
    description="Torques of a robot, computed by a torqued server",
    license="MIT",
    entry_points={"console_scripts": ["torques = torqued_ros.node:main"]},
)
