"""Client of torqued, a server that computes the dynamics of robots.

    import torqued

    with torqued.Client("http://127.0.0.1:8088") as server:
        arm = server.put("arm", "arm.urdf")
        tau = arm.inverse_dynamics([0.1, 0.2], qd=[1, 0]).tau

A model has one method for each operation of the API, with its fields as arguments; api/OPERATIONS.md and help() describe
them. Arrays of NumPy go in and come out. AsyncClient is the same under asyncio, serve() starts a private server.
"""
from .aio import AsyncClient, AsyncModel
from .answers import Answer, Array, Coordinates, Head, SuspiciousFigures
from .client import Client, Model
from .contract.version import VERSION as __version__
from .errors import BadAnswer, ConnectionFailed, DeadlinePassed, Error, MixedArithmetic, Problem, TimedOut
from .local_server import LocalServer, ServerFailed, serve
from .replicas import Replicas

__all__ = ["Answer", "Array", "AsyncClient", "AsyncModel", "BadAnswer", "Client", "ConnectionFailed", "Coordinates",
           "DeadlinePassed", "Error", "Head", "LocalServer", "MixedArithmetic", "Model", "Problem", "Replicas",
           "ServerFailed", "SuspiciousFigures", "TimedOut", "__version__", "serve"]
