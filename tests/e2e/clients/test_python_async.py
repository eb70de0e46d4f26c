"""Tests the asyncio client of api/clients/python against a server: the answers of the blocking client, concurrent
calls, and cancelled calls."""
import asyncio
import time

import numpy as np
import tap
from harness import PATIENCE, ServerCase
from python_client import torqued
from samples import pendulum


class Asynchronous(ServerCase):
    arguments = ("--max-rows", "1000")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.q, cls.qd, cls.qdd, cls.qddd = np.random.default_rng(2).uniform(-1, 1, (4, 2500, 7))

    def run_with(self, work, **options):
        async def main():
            async with torqued.AsyncClient(self.server.url(), **{"timeout": PATIENCE, **options}) as client:
                return await work(client)
        return asyncio.run(main())

    def setUp(self):
        self.blocking = torqued.Client(self.server.url(), timeout=PATIENCE)
        self.addCleanup(self.blocking.close)

    def test_same_answers(self):
        async def work(client):
            panda = await client.model("panda")
            return await panda.torque_derivative(self.q[:900], qd=self.qd[:900], qdd=self.qdd[0], qddd=self.qddd[0])
        answer = self.run_with(work)
        expected = self.blocking.model("panda").torque_derivative(self.q[:900], qd=self.qd[:900], qdd=self.qdd[0],
                                                                  qddd=self.qddd[0])
        for name in expected:
            self.assertTrue((answer[name] == expected[name]).all() and answer[name].flags.aligned)

    def test_many_at_once(self):
        """More calls than connections; every call gets its own answer."""
        expected = self.blocking.model("panda").inverse_dynamics(self.q[:300]).tau

        async def work(client):
            panda = await client.model("panda")
            answers = await asyncio.gather(*(panda.inverse_dynamics(q) for q in self.q[:300]))
            return [answer.tau.tolist() for answer in answers], len(client._pool.idle)
        answers, idle = self.run_with(work, connections=4)
        self.assertEqual(answers, expected.tolist())
        self.assertLessEqual(idle, 4)

    def test_batch(self):
        async def work(client):
            panda = await client.model("panda")
            seen = []
            answer = await panda.batch(panda.inverse_dynamics, q=self.q, qd=self.qd, size=1600,
                                       progress=lambda done, total: seen.append(done))
            pieces = [rows async for rows, _ in panda.chunks(panda.inverse_dynamics, q=self.q, size=900, ahead=5)]
            return answer.tau, seen, pieces
        tau, seen, pieces = self.run_with(work)
        panda = self.blocking.model("panda")
        self.assertTrue((tau == panda.batch(panda.inverse_dynamics, q=self.q, qd=self.qd).tau).all())
        self.assertEqual(seen, [800, 1600, 2400, 2500])
        self.assertEqual(pieces, [slice(0, 900), slice(900, 1800), slice(1800, 2500)])

    def test_a_bad_row_of_a_batch(self):
        q = self.q.copy()
        q[2100, 4] = 1e9

        async def work(client):
            panda = await client.model("panda")
            await panda.batch(panda.inverse_dynamics, q=q, size=200, ahead=3)
        with self.assertRaises(torqued.Problem) as caught:
            self.run_with(work)
        self.assertEqual((caught.exception.row, caught.exception.pointer), (2100, "/q/2100/4"))

    def test_models_and_service(self):
        async def work(client):
            arm = await client.put("async-arm", pendulum(), if_absent=True)
            document = await arm.document()
            self.assertEqual(document, await client.document("async-arm"))
            with self.assertRaises(torqued.Problem):
                await client.put("async-arm", document, if_absent=True)
            pinned = await client.model("async-arm", pinned=True)
            await client.put("async-arm", {**document, "gravity": [0, 0, -1]}, if_match=arm.revision)
            with self.assertRaises(torqued.Problem) as caught:
                await pinned.inverse_dynamics([0.0])
            self.assertEqual(caught.exception.code, "precondition-failed")
            await (await client.model("async-arm")).delete()
            self.assertNotIn("async-arm", [entry["name"] for entry in await client.models()])
            self.assertEqual((await client.service())["version"], torqued.__version__)
            self.assertEqual((await client.readiness())["status"], "ready")
            self.assertIn("# TYPE torqued_connections gauge", await client.metrics())
            self.assertEqual((await client.contract())["info"]["title"], "torqued")
            self.assertEqual((await client.problem("bad-json"))["status"], 400)
            return await client.live() and await client.ready()
        self.assertTrue(self.run_with(work))

    def test_one_client_in_several_loops(self):
        client = torqued.AsyncClient(self.server.url())

        async def work():
            return (await (await client.model("panda")).inverse_dynamics(np.zeros(7))).tau[1]
        self.assertEqual(asyncio.run(work()), asyncio.run(work()))

    def test_nobody_there(self):
        async def work(client):
            return await client.live()
        self.assertFalse(asyncio.run(work(torqued.AsyncClient("http://127.0.0.1:1", retries=1))))
        self.assertFalse(asyncio.run(work(torqued.AsyncClient("unix:/nowhere/socket", retries=1))))


class Cancelled(ServerCase):
    """Tests cancelled calls on a separate server: after an expensive request its estimate makes it refuse work for some
    seconds."""

    def test_a_cancelled_call(self):
        """A cancelled call closes its connection, so that the server stops evaluating; the client stays usable."""
        async def work(client):
            panda = await client.model("panda")
            call = panda.simulate(np.zeros((400, 7)), duration=1000, step=1e-3, samples=2)
            started = time.monotonic()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(call, 0.2)
            self.assertLess(time.monotonic() - started, PATIENCE / 2)
            return (await panda.inverse_dynamics(np.zeros(7))).tau.shape
        self.assertEqual(asyncio.run(self.client_of(work)), (7,))

    async def client_of(self, work):
        async with torqued.AsyncClient(self.server.url(), timeout=PATIENCE, connections=1) as client:
            return await work(client)


if __name__ == "__main__":
    tap.main()
