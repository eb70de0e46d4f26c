"""Steps of mechanisms with closed loops, whose Jacobians are compared with extrapolated differences."""
import numpy as np
from closed import Closed
from lagrange import differences

INTEGRATORS = ("explicit_euler", "semi_implicit_euler", "rk4", "implicit_euler")
MATRICES = ["q_after", "qd_after", "state_matrix", "input_matrix"]
DRIVEN = ("q", "qd", "tau")
H = 0.004


class LoopSteps(Closed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.put_floating_five_bar()

    def after(self, model, request):
        """Returns a function from a batch of states to the states after one step."""
        def answer(rows):
            batch = self.ask(model, "step", {**request, **rows, "outputs": MATRICES[:2]})
            return np.concatenate([batch["q_after"], batch["qd_after"]], axis=-1)
        return answer

    def check_jacobians(self, model, s, request, what):
        """Compares the Jacobians of a step with differences. The mechanisms have no quaternions, so coordinates can be
        shifted by addition."""
        answer = self.ask(model, "step", {**s, **request, "outputs": MATRICES})
        for matrix, names in (("state_matrix", ("q", "qd")), ("input_matrix", ("tau",))):
            expected = np.hstack([differences(self.after(model, request), s, name) for name in names])
            self.near(answer[matrix], expected, 1e-8, f"{what} {matrix}")
