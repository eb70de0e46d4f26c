"""Tests that a model which takes long to check delays no other change: neither one of the same client nor, when the client
sends several such models at once, one of another client."""
import json
import os
import select
import threading

import tap
from harness import ROOT, ServerCase
from peers import Client
from samples import pendulum

with open(os.path.join(ROOT, "models", "five_bar.json"), encoding="utf-8") as file:
    FIVE_BAR = json.load(file)


def five_bars(count):
    """Returns a document of that many five-bar robots on one base. The time to find
    the reference grows with the cube of the count."""
    links, frames, loops = [], [], []
    for k in range(count):
        for link in FIVE_BAR["links"]:
            parent = link["parent"] + (f"_{k}" if link["parent"] != "ground" else "")
            links.append({**link, "name": f"{link['name']}_{k}", "parent": parent,
                          "joint": {**link["joint"], "name": f"{link['joint']['name']}_{k}"}})
        frames += [{**frame, "name": f"{frame['name']}_{k}", "link": f"{frame['link']}_{k}"} for frame in FIVE_BAR["frames"]]
        loops += [{**loop, **{key: f"{loop[key]}_{k}" for key in ("name", "frame_a", "frame_b")}} for loop in FIVE_BAR["loops"]]
    return {**FIVE_BAR, "links": links, "frames": frames, "loops": loops}


class Writers(ServerCase):
    arguments = ("--timeout", "60", "--queue", "100")

    def begin_slow(self, count):
        """Sends `count` slow PUTs, each on a connection of its own, and returns the sockets."""
        body = json.dumps(five_bars(128)).encode()
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
        """There are more slow changes than writers: the other client's take turns with them."""
        slow = self.begin_slow(4)
        other = Client(self.server.port, 20, source="127.0.0.2")
        self.addCleanup(other.close)
        self.change_quickly(other, "other")
        self.assertUnfinished(slow)

    def test_changes_of_one_model_side_by_side(self):
        """Several clients change one model at once: each acknowledged revision was the model's, and the last one stays."""
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
