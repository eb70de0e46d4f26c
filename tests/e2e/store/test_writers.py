"""Tests that a model which takes long to check delays no other change: neither one of the same client nor, when the client
sends several such models at once, one of another client."""
import json
import select
import threading

import tap
from harness import ServerCase
from peers import Client
from samples import pendulum

RUNGS = 160  # rungs of a ladder() for which the search of the reference takes a third of a second

def ladder(rungs):
    """Returns a document of two parallel chains whose links are joined by rungs. All its loops are one mechanism: the time
    to find its reference grows with the cube of their number."""
    links, frames, loops = [], [], []
    for side, x in (("left", 0), ("right", 0.7)):
        for k in range(rungs):
            links.append({"name": f"{side}{k}", "parent": f"{side}{k - 1}" if k else "ground", "inertial": {"mass": 1.3, "com": [0, 0.2, 0]},
                          "joint": {"name": f"{side}{k}", "type": "revolute", "axis": [0, 0, 1], "actuated": side == "left",
                                    "origin": {"xyz": [0 if k else x, 0.4 if k else 0, 0]}}})
    for k in range(rungs):
        links.append({"name": f"rung{k}", "parent": f"left{k}", "inertial": {"mass": 0.7, "com": [0.3, 0, 0]},
                      "joint": {"name": f"rung{k}", "type": "revolute", "axis": [0, 0, 1], "actuated": False, "origin": {"xyz": [0, 0.4, 0]}}})
        frames += [{"name": f"end{k}", "link": f"rung{k}", "xyz": [0.7, 0, 0]}, {"name": f"top{k}", "link": f"right{k}", "xyz": [0, 0.4, 0]}]
        loops.append({"name": f"pin{k}", "frame_a": f"end{k}", "frame_b": f"top{k}", "type": "revolute", "axis": [0, 0, 1]})
    return {"base": {"link": "ground"}, "links": links, "frames": frames, "loops": loops}


class Writers(ServerCase):
    arguments = ("--timeout", "60", "--queue", "100")

    def begin_slow(self, count):
        """Sends `count` slow PUTs, each on a connection of its own, and returns the sockets."""
        body = json.dumps(ladder(RUNGS)).encode()
        slow = [self.server.socket() for _ in range(count)]
        for i, peer in enumerate(slow):
            self.addCleanup(peer.sock.close)
            head = (f"PUT /v1/models/slow{i} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n")
            peer.sock.sendall(head.encode() + body)
        return [peer.sock for peer in slow]

    def change_quickly(self, client, prefix):
        for i in range(4):
            path = f"/v1/models/{prefix}{i}"
            self.assertEqual(client.put(path, pendulum()).status, 201)
            self.assertEqual(client.delete(path).status, 204)

    def assertUnfinished(self, slow):
        self.assertEqual(select.select(slow, [], [], 0)[0], [], "a slow PUT was answered before the quick ones")

    def test_of_one_client(self):
        slow = self.begin_slow(1)
        self.change_quickly(self.client, "quick")
        self.assertUnfinished(slow)

    def test_of_another_client(self):
        """There are more slow changes of one client than writer threads: changes of the other client are made between them."""
        slow = self.begin_slow(4)
        other = Client(self.server.port, 20, source="127.0.0.2")
        self.addCleanup(other.close)
        self.change_quickly(other, "other")
        self.assertUnfinished(slow)

    def test_changes_of_one_model_side_by_side(self):
        """Several clients change one model at once: each acknowledged revision was the model's revision at some time, and the last one
        remains."""
        revisions = []

        def change(k):
            client = Client(self.server.port, 20, source=f"127.0.0.{k + 3}")
            for mass in range(1, 16):
                revisions.append(client.put("/v1/models/shared", pendulum(mass + 100 * k)).json()["revision"])
            client.close()

        threads = [threading.Thread(target=change, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(revisions)), 60)
        model = self.ok(self.client.get("/v1/models/shared"))
        self.assertIn(model["revision"], revisions)
        self.ok(self.client.delete("/v1/models/shared"), 204)
        self.server.await_log('"method":"DELETE","target":"/v1/models/shared"')
        changes = [event for event in self.server.events() if event.get("event") == "change" and event.get("model") == "shared"]
        self.assertEqual(sorted(event["after"] for event in changes if event["after"]), sorted(revisions))
        self.assertEqual(len({event["before"] for event in changes}), 61, "two changes replaced the same revision")


if __name__ == "__main__":
    tap.main()
