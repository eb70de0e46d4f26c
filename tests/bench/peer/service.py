"""service.py PORT PROCESSES - serves inverse dynamics of models/panda.json by PyKDL behind FastAPI, the usual way without torqued.

Served by uvicorn on uvloop and httptools, in so many processes. Requests and answers are those of torqued for
POST /v1/models/panda/inverse-dynamics with q, qd, qdd, one state or a batch of rows, in JSON or in CBOR (RFC 8746
arrays). To its advantage it checks shapes only and has neither models of its fields nor gravity, payloads or names.
"""
import json
import multiprocessing
import os
import socket
import sys

import cbor2
import numpy
import PyKDL as kdl
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

MODEL = os.path.join(os.path.dirname(__file__), "..", "..", "..", "models", "panda.json")
FIELDS = ("q", "qd", "qdd")
CBOR = "application/cbor"


def frame(origin):
    return kdl.Frame(kdl.Rotation.RPY(*origin.get("rpy", (0, 0, 0))), kdl.Vector(*origin.get("xyz", (0, 0, 0))))


def segment(link):
    """As kdl_parser makes one of a URDF joint and the link it carries."""
    at, body = frame(link["joint"].get("origin", {})), link["inertial"]
    inertia = kdl.RotationalInertia(*(body["inertia"].get(key, 0) for key in ("xx", "yy", "zz", "xy", "xz", "yz")))
    joint = kdl.Joint(at.p, at.M * kdl.Vector(*link["joint"]["axis"]), kdl.Joint.JointType.RotAxis)
    return kdl.Segment(joint, at, kdl.RigidBodyInertia(body["mass"], kdl.Vector(*body["com"]), inertia))


class Arm:
    def __init__(self, path):
        with open(path) as file:
            document = json.load(file)
        self.chain = kdl.Chain()
        for link in document["links"]:
            self.chain.addSegment(segment(link))
        self.n = self.chain.getNrOfJoints()
        self.solver = kdl.ChainIdSolver_RNE(self.chain, kdl.Vector(*document["gravity"]))
        self.state = [kdl.JntArray(self.n) for _ in FIELDS]
        self.tau = kdl.JntArray(self.n)
        self.none = [kdl.Wrench() for _ in range(self.chain.getNrOfSegments())]

    def inverse_dynamics(self, *rows):
        joints = range(self.n)
        for array, row in zip(self.state, rows):
            for j in joints:
                array[j] = row[j]
        self.solver.CartToJnt(*self.state, self.none, self.tau)
        tau = self.tau
        return [tau[j] for j in joints]


arm = Arm(MODEL)
app = FastAPI()


def from_cbor(value):
    """The numbers of a plain array, a typed one (tag 86) or one with its dimensions (tag 40)."""
    if isinstance(value, cbor2.CBORTag) and value.tag == 40:
        shape, numbers = value.value
        return from_cbor(numbers).reshape(shape)
    if isinstance(value, cbor2.CBORTag) and value.tag == 86:
        return numpy.frombuffer(value.value, dtype="<f8")
    return numpy.array(value, dtype=float)


def to_cbor(array):
    numbers = cbor2.CBORTag(86, array.tobytes())
    return numbers if array.ndim == 1 else cbor2.CBORTag(40, [list(array.shape), numbers])


def is_rows(value):
    return isinstance(value, list) and value and isinstance(value[0], list)


@app.post("/v1/models/panda/inverse-dynamics")
async def inverse_dynamics(request: Request):
    try:
        body = await request.body()
    except ClientDisconnect:
        return Response(status_code=400)
    cbor = request.headers.get("content-type") == CBOR
    if cbor:
        fields = cbor2.loads(body)
        values = [from_cbor(fields[name]).tolist() for name in FIELDS]
    else:
        fields = json.loads(body)
        values = [fields[name] for name in FIELDS]
    batched = is_rows(values[0])
    rows = [value if batched else [value] for value in values]
    if any(len(row) != arm.n for value in rows for row in value) or len({len(value) for value in rows}) != 1:
        return Response(b'{"title":"wrong shape"}', 422, media_type="application/problem+json")
    tau = [arm.inverse_dynamics(*row) for row in zip(*rows)]
    tau = tau if batched else tau[0]
    if cbor:
        return Response(cbor2.dumps({"tau": to_cbor(numpy.array(tau))}), media_type=CBOR)
    return Response(json.dumps({"tau": tau}, separators=(",", ":")), media_type="application/json")


def serve(port):
    """With a listening socket of its own: on a common one the first of uvicorn's processes takes most connections."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    uvicorn.Server(uvicorn.Config(app, loop="uvloop", http="httptools", log_level="warning",
                                  access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    port, processes = map(int, sys.argv[1:])
    others = [multiprocessing.Process(target=serve, args=(port,)) for _ in range(processes - 1)]
    for process in others:
        process.start()
    try:
        serve(port)
    finally:
        for process in others:
            process.terminate()
            process.join()
