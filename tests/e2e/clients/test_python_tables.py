"""Tests that the Python client accepts tables by the names of their columns, and refuses those with missing numbers."""
import asyncio
import unittest

import numpy as np
import tap
from harness import PATIENCE, ServerCase
from python_client import torqued
from samples import pendulum

try:
    import pandas
except ImportError:
    pandas = None

ROWS = 20
with_pandas = unittest.skipUnless(pandas, "no pandas here")


class Labelled:
    """An array with named axes in the style of xarray; the axis "joint" need not be the last."""

    def __init__(self, array, dims, names):
        self.array, self.dims, self.coords = array, dims, {"joint": np.array(names)}
        self.dtype, self.shape = array.dtype, array.shape

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


class Tables(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torqued = torqued.Client(cls.server.url(), timeout=PATIENCE)
        cls.addClassCleanup(cls.torqued.close)
        cls.panda = cls.torqued.model("panda")
        cls.names = cls.panda.position_names
        cls.q, cls.qd = np.random.default_rng(3).uniform(-1, 1, (2, ROWS, 7))
        cls.tau = cls.panda.inverse_dynamics(cls.q, qd=cls.qd).tau
        cls.order = [4, 2, 6, 0, 1, 5, 3]  # order of the table's columns, unlike the model's

    def shuffled(self, array):
        """Returns a table with the columns of the array in another order, with their names."""
        return pandas.DataFrame(array[:, self.order], columns=[self.names[i] for i in self.order])

    def structured(self, array, kind=float):
        made = np.zeros(len(array), [(self.names[i], kind) for i in self.order])
        for i in self.order:
            made[self.names[i]] = array[:, i]
        return made

    def assertSame(self, answer, expected=None):
        self.assertEqual(answer.tau.tobytes(), (self.tau if expected is None else expected).tobytes())

    # --- by name

    @with_pandas
    def test_table(self):
        q, qd = self.shuffled(self.q), self.shuffled(self.qd)
        self.assertSame(self.panda.inverse_dynamics(q, qd=qd))
        self.assertSame(self.panda.inverse_dynamics(q, qd=self.qd))
        self.assertSame(self.panda.inverse_dynamics(q.astype(object), qd=qd.astype(object)))
        self.assertSame(self.panda.inverse_dynamics(q.astype("Float64"), qd=qd))
        single = np.float32(self.q)
        self.assertSame(self.panda.inverse_dynamics(self.shuffled(single), qd=qd),
                        self.panda.inverse_dynamics(single, qd=self.qd).tau)
        # without names the columns are in the model's order
        self.assertSame(self.panda.inverse_dynamics(pandas.DataFrame(self.q), qd=self.qd))
        answer = self.panda.evaluate(q, qd=qd, operations={"inverse-dynamics": {}})
        self.assertSame(answer["inverse-dynamics"])

    @with_pandas
    def test_one_state(self):
        q, qd = self.shuffled(self.q).iloc[3], self.shuffled(self.qd).iloc[3]
        self.assertSame(self.panda.inverse_dynamics(q, qd=qd), self.tau[3])
        self.assertSame(self.panda.inverse_dynamics(pandas.Series(self.q[3]), qd=self.qd[3]), self.tau[3])
        rows = [self.shuffled(self.q).iloc[i] for i in (3, 5)]
        self.assertSame(self.panda.inverse_dynamics([rows[0], rows[1][::-1]], qd=self.qd[[3, 5]]), self.tau[[3, 5]])

    def test_structured_array(self):
        self.assertSame(self.panda.inverse_dynamics(self.structured(self.q), qd=self.structured(self.qd).view(np.recarray)))
        self.assertSame(self.panda.inverse_dynamics(self.structured(self.q)[4], qd=self.qd[4]), self.tau[4])
        self.assertSame(self.panda.inverse_dynamics(list(self.structured(self.q)), qd=self.qd))
        self.assertSame(self.panda.batch(self.panda.inverse_dynamics, q=self.structured(self.q), qd=self.qd, size=7))

    def test_named_axes(self):
        names = [self.names[i] for i in self.order]
        by_row = Labelled(self.q[:, self.order], ("time", "joint"), names)
        self.assertSame(self.panda.inverse_dynamics(by_row, qd=self.qd))
        square = self.q[:7]  # the transpose of a square matrix would have the right shape, too
        by_column = Labelled(square[:, self.order].T, ("joint", "time"), names)
        self.assertSame(self.panda.inverse_dynamics(by_column, qd=self.qd[:7]), self.tau[:7])

    @with_pandas
    def test_pieces(self):
        q, qd = self.shuffled(self.q), self.shuffled(self.qd)
        self.assertSame(self.panda.batch(self.panda.inverse_dynamics, q=q, qd=qd, size=6))
        with torqued.Replicas([self.server.url()]) as servers:
            self.assertSame(servers.batch("panda", torqued.Model.inverse_dynamics, q=q, qd=qd, size=6))

        async def main():
            async with torqued.AsyncClient(self.server.url(), timeout=PATIENCE) as client:
                panda = await client.model("panda")
                self.assertSame(await panda.inverse_dynamics(q, qd=qd))
                self.assertSame(await panda.batch(panda.inverse_dynamics, q=q, qd=qd, size=6))
        asyncio.run(main())

    @with_pandas
    def test_order_of_the_request(self):
        """With the field `joints`, the client puts columns into its order, and the answer has this order."""
        joints = [self.names[i] for i in self.order]
        answer = self.panda.inverse_dynamics(self.shuffled(self.q), joints=joints,
                                             qd=pandas.DataFrame(self.qd, columns=self.names))
        self.assertSame(answer, np.ascontiguousarray(self.tau[:, self.order]))

    @with_pandas
    def test_floating_base(self):
        robot = self.torqued.model("solo12")
        q = np.zeros((3, robot.nq))
        q[:, 6], q[:, 7:] = 1, np.random.default_rng(4).uniform(-1, 1, (3, 12))
        qd = np.random.default_rng(5).uniform(-1, 1, (3, robot.nv))
        mixed = pandas.DataFrame(q, columns=robot.position_names).iloc[:, ::-1]
        rates = pandas.DataFrame(qd, columns=robot.velocity_names).iloc[:, ::-1]
        self.assertSame(robot.inverse_dynamics(mixed, qd=rates), robot.inverse_dynamics(q, qd=qd).tau)
        with self.assertRaisesRegex(KeyError, "qd: unknown columns .*base.qw"):
            robot.inverse_dynamics(mixed, qd=mixed)

    @with_pandas
    def test_motions(self):
        points = np.random.default_rng(6).uniform(-1, 1, (6, 7))
        fields = {"degree": 3, "duration": 1.0, "samples": 5}
        expected = self.panda.trajectory(control_points=points, **fields).tau
        self.assertSame(self.panda.trajectory(control_points=self.shuffled(points), **fields), expected)
        higher = {"qd": self.qd, "qdddd": self.q, "higher_derivatives": [self.qd, self.q[0]]}
        hua = self.torqued.model("hua")
        state = {name: value[..., :4] if isinstance(value, np.ndarray) else [v[..., :4] for v in value] for name, value in higher.items()}
        named = {**state, "higher_derivatives": [pandas.DataFrame(self.qd[:, 3::-1], columns=hua.velocity_names[::-1]), self.q[0, :4]]}
        self.assertSame(hua.feed_forward(self.q[:, :4], **named), hua.feed_forward(self.q[:, :4], **state).tau)

    # --- refusals

    def refused(self, kind, said, call, *arguments, **fields):
        before = self.posts()
        with self.assertRaisesRegex(kind, said):
            call(*arguments, **fields)
        self.assertEqual(self.posts(), before)  # no request was sent

    def posts(self):
        """Returns the number of evaluations that the server has counted."""
        text = self.torqued.metrics()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("torqued_requests_total") and 'operation="none"' not in line)

    @with_pandas
    def test_other_names(self):
        table = self.shuffled(self.q)
        for wrong, said in ((table.rename(columns={self.names[0]: "elbow"}), f"q: unknown columns elbow; missing columns {self.names[0]}"),
                            (table.drop(columns=self.names[2]), f"missing columns {self.names[2]}"),
                            (table.assign(time=0.0), "unknown columns time")):
            self.refused(KeyError, said, self.panda.inverse_dynamics, wrong)
            self.refused(KeyError, said, self.panda.batch, self.panda.inverse_dynamics, q=wrong)
        twice = pandas.concat([table, table[[self.names[1]]]], axis=1)
        self.refused(ValueError, f"several columns have the name {self.names[1]}", self.panda.inverse_dynamics, twice)
        several = pandas.concat({"q": table, "qd": table}, axis=1)  # columns whose names are pairs, as torqued.tables makes them
        self.refused(TypeError, "label .'q', .*expected names of coordinates", self.panda.inverse_dynamics, several)
        self.refused(TypeError, "label 1", self.panda.inverse_dynamics, pandas.DataFrame(self.q, columns=range(1, 8)))
        along = pandas.Series({"z": -9.81, "y": 0.0, "x": 0.0})
        self.refused(TypeError, "gravity is no field of coordinates", self.panda.inverse_dynamics, self.q, gravity=along)
        self.refused(TypeError, "only fields of coordinates", self.panda.inverse_dynamics, self.q, wrenches=[{"link": "panda_link5", "force": along}])
        self.refused(TypeError, "multipliers is no field of coordinates", self.panda.hessian, self.q[0],
                     multipliers=self.shuffled(self.q).iloc[0])

    def test_masked(self):
        masked = np.ma.masked_array(self.q, mask=self.q > 0.5)
        for wrong in (masked, list(masked), [[masked[0]]], masked.astype(int), np.ma.masked_array(self.structured(self.q),
                      mask=[(True,) + (False,) * 6] * ROWS)):
            self.refused(ValueError, "masked entries", self.panda.inverse_dynamics, wrong)
        self.refused(ValueError, "masked entries", self.panda.batch, self.panda.inverse_dynamics, q=masked)
        self.refused(ValueError, "masked entries", self.panda.inverse_dynamics, self.q, gravity=np.ma.masked_array([0, 0, 1], [1, 0, 0]))
        wrenches = [{"link": "panda_link5", "force": np.ma.masked_array(np.ones((ROWS, 3)), np.eye(ROWS, 3))}]
        self.refused(ValueError, "masked entries", self.panda.inverse_dynamics, self.q, wrenches=wrenches)
        self.refused(ValueError, "masked entries", self.panda.batch, self.panda.inverse_dynamics, q=self.q, wrenches=wrenches)
        self.refused(ValueError, "masked entries", self.panda.positions, {self.names[0]: masked[:, 0]}, default=0)
        # a masked array without masked entries
        self.assertSame(self.panda.inverse_dynamics(np.ma.masked_array(self.q, mask=False), qd=self.qd))

    def test_no_numbers(self):
        for wrong, said in ((self.q.astype(complex), "dtype complex128"), (self.q.astype(str), "dtype <U"), (self.q > 0, "dtype bool"),
                            (self.q.astype("m8[s]"), r"dtype timedelta64\[s\]"), (self.q.astype("M8[s]"), r"dtype datetime64\[s\]"),
                            (self.q.astype("S8"), r"dtype \|S8"), (np.array([[0.5, "0.5"]], object), r"dtype object, and its entry \[0, 1\] is '0.5'"),
                            (np.array([0.5, None], object), r"dtype object, and its entry \[1\] is None of the type NoneType")):
            for call in (self.panda.inverse_dynamics, lambda q: self.panda.batch(self.panda.inverse_dynamics, q=q)):
                self.refused(TypeError, "q has the " + said, call, wrong)
        for wrong in (b"1234567", {0.5}, [np.timedelta64(1, "s")] * 7):
            self.refused(TypeError, "", self.panda.inverse_dynamics, wrong)
        self.refused(TypeError, "dtype complex128", self.panda.inverse_dynamics, self.q, gravity=np.zeros(3, complex))
        for wrong in ([[0.0] * 7, [0.0] * 6], [None] * 7, ["0.5"] * 7):  # the server's problem names the entry
            with self.assertRaises(torqued.Problem) as caught:
                self.panda.inverse_dynamics(wrong)
            self.assertTrue(caught.exception.pointer.startswith("/q"), caught.exception)

    @with_pandas
    def test_tables_of_objects(self):
        table = self.shuffled(self.q).astype(object)
        for wrong, said in (("0.5", "is '0.5' of the type str"), (None, "is None of the type NoneType"), (True, "is True of the type bool"),
                            (1 + 2j, "complex"), (pandas.NA, "is <NA>")):
            table.loc[4, self.names[2]] = wrong
            self.refused(TypeError, rf"q, column {self.names[2]} has the dtype object, and its entry \[4\] .*{said}", self.panda.inverse_dynamics, table)
        self.refused(TypeError, r"column panda_joint5 has the dtype timedelta64\[ns\]", self.panda.inverse_dynamics,
                     self.shuffled(self.q).astype("m8[s]"))

    @with_pandas
    def test_a_table_of_another_model(self):
        """Column names belong to the revision that was read; after a change of the model they are refused."""
        model = self.torqued.put("renamed", pendulum())
        table = pandas.DataFrame({model.position_names[0]: [0.1, 0.2]})
        model.inverse_dynamics(table)
        self.torqued.put("renamed", pendulum(3))
        with self.assertRaises(torqued.Problem) as caught:
            model.inverse_dynamics(table)
        self.assertEqual(caught.exception.status, 412)
        model.inverse_dynamics(table.to_numpy())


class Replaced(ServerCase):
    """Another client replaces the model between two pieces of a batch."""

    def setUp(self):
        self.client_, self.other = (torqued.Client(self.server.url(), timeout=PATIENCE) for _ in range(2))
        self.addCleanup(self.client_.close)
        self.addCleanup(self.other.close)
        self.model = self.client_.put("bob", pendulum())
        self.q = np.full((50, 1), 0.5)

    def replace(self, done, total):
        if done == 20:
            self.other.put("bob", pendulum(3))

    def assertReplaced(self, caught):
        self.assertEqual((caught.exception.status, caught.exception.code), (412, "precondition-failed"))
        self.assertIn("the model has been replaced amid the batch, whose first piece had the revision " + self.model.revision, str(caught.exception))

    def test_batch(self):
        with self.assertRaises(torqued.Problem) as caught:
            self.model.batch(self.model.inverse_dynamics, q=self.q, size=10, progress=self.replace)
        self.assertReplaced(caught)
        # the second attempt evaluates all rows with the new model
        self.assertEqual(self.model.batch(self.model.inverse_dynamics, q=self.q, size=10).tau.shape, (50, 1))

    def test_chunks(self):
        rows = []
        with self.assertRaises(torqued.Problem) as caught:
            for part, answer in self.model.chunks(self.model.inverse_dynamics, q=self.q, size=10):
                rows.append((part.stop, answer.head.revision))
                self.replace(part.stop, 50)
        self.assertReplaced(caught)
        self.assertEqual(rows, [(10, self.model.revision), (20, self.model.revision)])

    def test_a_function_of_ones_own(self):
        """Requests that a user's own function sends cannot demand a revision (If-Match), but the client checks the revision in their answers."""
        with self.assertRaises(torqued.Problem) as caught:
            self.model.batch(lambda **fields: self.model.inverse_dynamics(**fields), q=self.q, size=10, progress=self.replace)
        self.assertReplaced(caught)

    def test_asyncio(self):
        async def main(pieces):
            async with torqued.AsyncClient(self.server.url(), timeout=PATIENCE) as client:
                model = await client.model("bob")
                if not pieces:
                    return await model.batch(model.inverse_dynamics, q=self.q, size=10, ahead=3, progress=self.replace)
                async for part, _ in model.chunks(model.inverse_dynamics, q=self.q, size=10, ahead=1):
                    self.replace(part.stop, 50)
        for pieces in (False, True):
            self.other.put("bob", pendulum())
            with self.assertRaises(torqued.Problem) as caught:
                asyncio.run(main(pieces))
            self.assertReplaced(caught)

    def test_the_same_document_again(self):
        """A PUT of the same document keeps the revision: the batch succeeds."""
        whole = self.model.batch(self.model.inverse_dynamics, q=self.q, size=10,
                                 progress=lambda done, total: self.other.put("bob", pendulum()))
        self.assertEqual(len(set(whole.tau[:, 0].tolist())), 1)


if __name__ == "__main__":
    tap.main()
