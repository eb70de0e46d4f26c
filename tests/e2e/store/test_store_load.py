"""Tests the store under load: acknowledged changes survive kill -9 at any moment, and models are replaced while
requests use them."""
import http.client
import json
import os
import random
import re
import threading
import time

import tap
from harness import SANITIZED, ServerCase
from postgres import await_state
from samples import chain, pendulum, slider
from stores import DatabaseCase, StoreCase
from threads import in_threads, meanwhile

KILLS = 1000 if "SOAK_SECONDS" in os.environ else 40 if SANITIZED else 200
REPLACEMENTS = 200 if SANITIZED else 1000


class KilledSuite:
    """Kills the server by SIGKILL while clients put and delete. Afterwards each model is in the last acknowledged state, or in the state that
    the request in flight at the kill asked for."""
    BUNDLED = ("ur5", "two_link", "stanford", "puma560")
    kills = KILLS

    def await_end(self):
        """Waits until the killed server can no longer change the store; for a folder at once."""

    def documents(self):
        """Returns the documents to put: from a few hundred bytes to a hundred thousand."""
        return [pendulum(1 + i) for i in range(4)] + [chain(n) for n in (10, 100, 250)]

    def client_loop(self, index, rng):
        """Puts and deletes this client's own names until the server is killed."""
        client = self.server.client()
        try:
            while True:
                name = rng.choice(self.mine[index])
                wanted = rng.choice([None, *range(len(self.revisions))])
                self.asked[name] = wanted
                if wanted is None:
                    answer = client.delete(f"/v1/models/{name}")
                    fine = answer.status == (204 if self.held[name] is not None else 404)
                else:
                    answer = client.put(f"/v1/models/{name}", self.bodies[wanted])
                    fine = answer.status == (201 if self.held[name] is None else 200)
                if not fine:
                    self.wrong.append((name, self.held[name], wanted, answer))
                self.held[name] = wanted
                del self.asked[name]
                self.acknowledged += 1
        except (OSError, http.client.HTTPException):
            pass  # the server was killed: the last request may have been executed
        except Exception as error:
            self.wrong.append(repr(error))
        finally:
            client.close()

    def verify(self):
        """Checks that each model is in an allowed state, and records the states found."""
        models = {m["name"]: m["revision"] for m in self.client.get("/v1/models").json()["models"]}
        for name in self.held:
            allowed = [self.held[name]] + ([self.asked[name]] if name in self.asked else [])
            found = self.revisions.index(models[name]) if name in models else None
            self.assertIn(found, allowed, name)
            self.unacknowledged += found != self.held[name]
            if found is not None and name in self.asked:
                self.assertEqual(self.client.get(f"/v1/models/{name}/document").json()["links"], self.links[found])
            self.held[name] = found
        self.assertEqual(set(models) - set(self.held), self.untouched)
        self.assertEqual(self.client.get("/readyz").json()["reasons"], [])
        self.in_flight += len(self.asked)
        self.asked.clear()

    def prepare(self):
        """Puts each bundled name once, so that later states come from this test's documents only."""
        self.start()
        bundled = self.names()
        documents = self.documents()
        self.bodies = [json.dumps(document) for document in documents]
        self.revisions, self.links = [], []
        for body in self.bodies:
            self.revisions.append(self.client.put("/v1/models/own0", body).json()["revision"])
            self.links.append(self.client.get("/v1/models/own0/document").json()["links"])
        self.held = {"own0": len(documents) - 1, "own1": None, "own2": None, "own3": None}
        for name in self.BUNDLED:
            self.put(name, self.bodies[0], 200)
            self.held[name] = 0
        self.mine = [list(self.held)[i::3] for i in range(3)]
        self.untouched = bundled - set(self.held)
        self.asked, self.wrong = {}, []
        self.acknowledged = self.in_flight = self.unacknowledged = 0

    def test_kill_at_random_moments(self):
        self.prepare()
        rng, starts = random.Random(int.from_bytes(os.urandom(4), "big")), []
        for _ in range(self.kills):
            threads = [threading.Thread(target=self.client_loop, args=(i, random.Random(rng.random())))
                       for i in range(len(self.mine))]
            for thread in threads:
                thread.start()
            goal = self.acknowledged + 2
            await_state(lambda: self.acknowledged >= goal or self.wrong, "changes are acknowledged")
            time.sleep(rng.random() * 0.12)
            self.server.process.kill()
            for thread in threads:
                thread.join()
            self.await_end()
            began = time.monotonic()
            self.start()
            starts.append(time.monotonic() - began)
            self.assertEqual(self.wrong, [])
            self.verify()
        print(f"# {self.kills} kills, {self.acknowledged} changes acknowledged, {self.in_flight} in flight when killed, "
              f"{self.unacknowledged} of them in effect; ready again after {1e3 * sorted(starts)[self.kills // 2]:.0f} ms, "
              f"at most {1e3 * max(starts):.0f} ms")
        self.assertGreater(self.acknowledged, self.kills)
        self.assertGreater(self.in_flight, self.kills // 2)
        self.stop()

class Killed(KilledSuite, StoreCase):
    def test_many_models_come_back_quickly(self):
        """Prints how long a server with 400 models takes to become ready; asserts no time, since the machine may be
        busy."""
        self.start()
        clients = [self.server.client() for _ in range(4)]

        def fill(index):
            for i in range(index, 400, 4):
                clients[index].put(f"/v1/models/m{i}", chain(6 + i % 25))

        self.assertEqual(in_threads(4, fill), [None] * 4)
        names = self.names()
        self.assertGreaterEqual(len(names), 400)
        self.server.process.kill()
        began = time.monotonic()
        self.start()
        print(f"# ready with {len(names)} models {1e3 * (time.monotonic() - began):.0f} ms after kill -9")
        self.assertEqual(self.names(), names)
        self.stop()


class KilledWithDatabase(KilledSuite, DatabaseCase):
    kills = KILLS // 10

    def await_end(self):
        await_state(lambda: self.database.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'torqued%'") == "0",
                    "the sessions of the killed server have ended")


class Replaced(ServerCase):
    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s*(\d+) kB", status.read()).group(1)) / 1024

    def test_replacing_under_load(self):
        """Every answer belongs to one of two revisions, named in Model-Revision; memory does not grow."""
        tau = {self.put_model("turning", slider(mass))["revision"]: mass * 3.0 for mass in (1, 2)}
        answers = dict.fromkeys(tau, 0)

        def asker(rows):
            client = self.server.client()
            self.addCleanup(client.close)

            def ask():
                answer = client.post("/v1/models/turning/inverse-dynamics", {"q": [[0]] * rows, "qdd": [3]})
                revision = answer.headers.get("Model-Revision")
                self.assertEqual(self.ok(answer)["tau"], [[tau[revision]]] * rows)
                answers[revision] += 1
            return ask

        with meanwhile([asker(rows) for rows in (1, 1, 300, 3000)]):
            for i in range(REPLACEMENTS):
                self.put_model("turning", slider(1 + i % 2))
                if i == REPLACEMENTS // 5:
                    before = self.resident()
            after = self.resident()
        print(f"# {REPLACEMENTS} replacements, answers by revision {sorted(answers.values())}, "
              f"resident {before:.1f} MB after a fifth of them, {after:.1f} MB at the end")
        self.assertTrue(all(answers.values()), answers)
        if not SANITIZED:
            self.assertLess(after, before + 8)


if __name__ == "__main__":
    tap.main()
