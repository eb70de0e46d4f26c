"""Tests that torqued call sends rows that depend on each other in one request, and that for other batches, which are divided into parts, the
lists, warnings and pointers of the answers are joined as if there had been one request."""
import json

import numpy as np
import tap
from command_line import torqued
from harness import ServerCase

N = 11


class DependentRows(ServerCase):
    def call(self, made, *arguments, to="json"):
        """Runs torqued call with a file of states in CSV, in one part and in parts of four rows."""
        header = ",".join(f"{name}{i + 1}" for name, rows in made.items() for i in range(rows.shape[1]))
        given = "\n".join([header, *(",".join(map(repr, row)) for row in np.hstack(list(made.values())).tolist()), ""])
        answers = []
        for chunk in ((), ("--chunk", "4")):
            done = torqued("call", *chunk, "--from", "csv", "--to", to, *arguments, "-", url=self.server.url(), given=given)
            self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
            answers.append(done.stdout)
        return answers

    def states(self):
        q = np.random.default_rng(2).uniform(-0.5, 0.5, (N, 7))
        return q + [0, 0, 0, -1, 0, 1, 0]

    def test_answers_in_parts_are_those_of_one_request(self):
        q = self.states()
        goal = {"frame": "panda_flange", "position": [0.4, 0, 0.5]}
        for made, operation, *fields in (
                ({"q": q, "qd": q, "tau": q}, "external-wrench", "gain=20", "step=0.01"),
                ({"q": q}, "inverse-kinematics", "sequence=true", "tasks=" + json.dumps([goal]), 'outputs=["q","iterations"]'),
                ({"q": q}, "inverse-kinematics", 'frame="panda_flange"', "position=[0.4,0,0.5]", "tolerance=1e-6", 'outputs=["q","at_limits"]'),
                ({"q": q}, "configuration", "seed=3"), ({"q": q}, "configuration", 'outputs=["random"]'),
                ({"q": q}, "margins", 'outputs=["margins","least","least_gradients"]'),
                ({"q": q}, "evaluate", 'operations={"margins":{"outputs":["margins","least"]}}'),
                ({"q": q, "qd": q * np.sign(np.arange(N) - 3.5)[:, None]}, "evaluate", 'operations={"path":{"outputs":["jumps"]}}')):
            whole, parts = self.call(made, "panda", operation, *fields)
            self.assertEqual(json.loads(parts), json.loads(whole), (operation, fields))
        whole, parts = self.call({"q": q, "qd": q, "tau": q}, "panda", "external-wrench", "gain=20", "step=0.01", to="jsonl")
        self.assertEqual(parts, whole)

    def test_warnings_and_errors_of_all_parts(self):
        """Each warning is printed once, with the index of the row in the whole batch, and so are the pointers of errors."""
        q = self.states()
        q[2, 0] = q[7, 2] = 50
        q[9, 1] = 1e9
        whole, parts = map(json.loads, self.call({"q": q}, "panda", "inverse-dynamics", 'on_error="row"', "qd=[0,0,0,500,0,0,0]"))
        self.assertEqual([error["pointer"] for error in whole["errors"]], ["/q/9/1"])
        self.assertIn("/q/7/2", [warning["where"] for warning in parts["warnings"]])
        for name in ("tau", "errors"):
            self.assertEqual(parts[name], whole[name])
        self.assertEqual(len({json.dumps(one) for one in parts["warnings"]}), len(parts["warnings"]))

    def test_sums_in_evaluate_are_refused(self):
        done = torqued("call", "--from", "csv", "panda", "evaluate", "multipliers=[1,1,1,1,1,1,1]", 'operations={"gradient":{"outputs":["sum_parameters"]}}',
                       "-", url=self.server.url(), given="q1,q2,q3,q4,q5,q6,q7\n0,0,0,0,0,0,0\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"outputs sum_... are of all rows", done.stderr)


if __name__ == "__main__":
    tap.main()
