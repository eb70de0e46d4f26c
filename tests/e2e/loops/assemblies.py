"""Mechanisms with closed loops, and checks that the server keeps their assembly along the line from the published reference: the tests follow
the closed position by a continuation of their own (continuation.py) and compare the server's answers."""
import os
import time

import numpy as np
from closed import Closed, bundled
from continuation import CROSSED, REACHED, follow
from linkages import link, loop
from tree_kinematics import Mechanism

STATES = int(os.environ.get("ASSEMBLY_STATES", "20"))  # number of random states of each mechanism
# distance from a singularity, as a fraction of the line or as a relative singular value; closer than this, both a position and a refusal count
# as right
NEAR = 1e-6
# the server finds the fraction of a crossing to this accuracy: where two solution curves intersect, rounding moves positions by more than an ulp
FRACTION = 1e-5
Z = [0, 0, 1]


def slider_crank(rod):
    """A slider-crank: a crank of 0.1 m, a rod of length `rod`, and a block that slides along x, 0.04 m above the
    crank's axis in y."""
    return {"gravity": [0, -9.81, 0], "links": [
        link("crank", "base", "continuous", Z, {"solid": "box", "size": [0.1, 0.02, 0.02], "mass": 0.3, "xyz": [0.05, 0, 0]},
             True),
        link("rod", "crank", "revolute", Z, {"solid": "box", "size": [rod, 0.02, 0.02], "mass": 0.4, "xyz": [rod / 2, 0, 0]},
             origin={"xyz": [0.1, 0, 0]}),
        link("block", "base", "prismatic", [1, 0, 0], {"mass": 0.8}, origin={"xyz": [0, 0.04, 0]}, home=0.1 + rod)],
        "frames": [{"name": "rod_end", "link": "rod", "xyz": [rod, 0, 0]}],
        "loops": [loop("block", "rod_end", "revolute", Z)]}


def three_rrr():
    """A planar 3-RRR robot: three motors on a circle of 0.3 m turn arms of 0.2 m; rods of 0.22 m carry a platform whose
    joints lie on a circle of 0.08 m."""
    links, frames, loops = [], [], []
    for k in range(3):
        angle = np.pi / 2 + 2 * np.pi / 3 * k
        place = {"xyz": [0.3 * np.cos(angle), 0.3 * np.sin(angle), 0], "rpy": [0, 0, angle + np.pi]}
        bar = {"solid": "box", "size": [0.2, 0.02, 0.01], "mass": 0.3, "xyz": [0.1, 0, 0]}
        links += [link(f"arm{k}", "base", "revolute", Z, bar, True, origin=place, home=-1.01347214),
                  link(f"rod{k}", f"arm{k}", "revolute", Z, bar, origin={"xyz": [0.2, 0, 0]}, home=2.02847079)]
        if k == 0:
            links.append(link("platform", "rod0", "revolute", Z, {"solid": "cylinder", "size": [0.08, 0.01], "mass": 0.5},
                              origin={"xyz": [0.22, 0, 0]}, home=-1.23106178))
        else:  # joint k of the platform lies at 180 + 120 k degrees from the x axis of the platform's frame
            frames += [{"name": f"end{k}", "link": f"rod{k}", "xyz": [0.22, 0, 0]},
                       {"name": f"corner{k}", "link": "platform",
                        "xyz": [0.08 * (1 - np.cos(2 * np.pi / 3 * k)), -0.08 * np.sin(2 * np.pi / 3 * k), 0]}]
            loops.append({"name": f"pin{k}", "frame_a": f"corner{k}", "frame_b": f"end{k}", "type": "revolute", "axis": Z})
    frames.append({"name": "middle", "link": "platform", "xyz": [0.08, 0, 0]})
    return {"gravity": [0, 0, -9.81], "links": links, "frames": frames, "loops": loops}


def joystick():
    """A stick on a driven spherical joint in the base. A passive leg with a universal joint and a prismatic joint
    reaches the stick's tip."""
    return {"links": [
        {"name": "stick", "parent": "base", "joint": {"name": "ball", "type": "spherical"},
         "inertial": {"solid": "box", "size": [0.05, 0.05, 0.3], "mass": 1, "xyz": [0, 0, 0.15]}},
        link("cross", "base", "revolute", [1, 0, 0], origin={"xyz": [0.4, 0.1, -0.1]}),
        link("cylinder", "cross", "revolute", [0, 1, 0], {"solid": "box", "size": [0.05, 0.05, 0.2], "mass": 0.5}, home=-0.7),
        link("rod", "cylinder", "prismatic", [0, 0, 1], {"mass": 0.3}, home=0.55)],
        "frames": [{"name": "tip", "link": "stick", "xyz": [0, 0, 0.3]}],
        "loops": [loop("tip", "rod", "spherical")]}


# For each mechanism: the document, and the range from which actuated coordinates are drawn. The range exceeds the
# workspace, and whole turns where a crank can make these.
MECHANISMS = {
    "delta": (lambda: bundled("delta"), -1.8, 2.8),
    "five_bar": (lambda: bundled("five_bar"), -7, 7),
    "four_bar": (lambda: bundled("four_bar"), -12, 12),
    "stewart": (lambda: bundled("stewart"), 0.6, 1.4),
    "slider_crank": (lambda: slider_crank(0.25), -12, 12),
    "short_slider_crank": (lambda: slider_crank(0.12), -4, 4),
    "three_rrr": (three_rrr, -2.5, 1),
    "joystick": (joystick, None, None)}


class Assemblies(Closed):
    """Puts each mechanism on the server, follows its loops by continuation, and compares the server's answers."""

    def mechanism(self, name):
        document, low, high = MECHANISMS[name]
        document = document()
        self.put_model(name, document)
        m = Mechanism(document)
        about = self.ok(self.client.get(f"/v1/models/{name}"))
        m.reference, m.passive_q = np.zeros(m.nq), np.setdiff1d(np.arange(m.nq), m.active_q)
        m.reference[m.active_q], m.reference[m.passive_q] = about["reference"]["q"], about["reference"]["passive"]
        self.assertLess(np.abs(m.open_by(m.reference[None])[0]).max(), 1e-12, f"{name}: the published reference is open")
        m.name, m.low, m.high = name, low, high
        return m

    def draw(self, m, states=STATES, seed=1):
        """Draws random actuated coordinates into rows of the tree's coordinates; the passive ones are those of the
        reference."""
        goals = np.repeat(m.reference[None], states, 0)
        goals[:, m.active_q] = np.random.default_rng(seed).uniform(m.low, m.high, (states, len(m.active_q)))
        return goals

    def followed(self, problem):
        """Follows the problem (a line, see continuation.py) by long steps and by short steps, and checks that the results agree."""
        coarse, fine = follow(problem), follow(problem, 0.15, 0.05, 0.01)
        self.assertEqual(coarse.outcome.tolist(), fine.outcome.tolist())
        reached, crossed = fine.outcome == REACHED, fine.outcome == CROSSED
        self.assertLess(np.abs(coarse.q - fine.q)[reached].max(initial=0), 1e-8)
        self.assertLess(np.abs(coarse.fraction - fine.fraction)[crossed].max(initial=0), FRACTION / 2)
        return fine

    def request(self, name, request):
        answer = self.client.post(f"/v1/models/{name}/inverse-dynamics", {**request, "outputs": ["full"]})
        if answer.status != 200:
            self.refused(answer, "loop-crossing")
        return answer

    def off(self, m, full, expected):
        """Returns the largest difference of coordinates; q and -q are the same quaternion."""
        given = np.array(full["q"])
        for joint in m.joints:
            part = joint.quaternion()
            if part is not None and given[part] @ expected[part] < 0:
                given[part] *= -1
        return np.abs(given - expected).max()

    def compare(self, m, problem, requests):
        """Sends each row as a request of its own and compares the answer with continuation: the position that is reached, or the fraction of the
        line at which a singularity is crossed. Closer than NEAR to a singularity either answer is right. Returns the expected results, the rows
        that both continuation and server reach, and the server's answers to these."""
        expected = self.followed(problem)
        began = time.monotonic()
        answers = [self.request(m.name, request) for request in requests]
        took, reached, disputed, wrong = time.monotonic() - began, [], [], []
        for r, answer in enumerate(answers):
            where = (m.name, r, requests[r])
            if (answer.status == 200) != (expected.outcome[r] == REACHED):
                disputed.append(r)
            elif answer.status == 200:
                full, reached = answer.json()["full"], [*reached, r]
                off = self.off(m, full, expected.q[r])
                if not (off < 1e-9 / max(expected.least[r], 1e-3) and full["residual"] < 1e-12):
                    wrong.append((*where, f"off by {off:.3g}, open by {full['residual']:.3g}", full["q"], expected.q[r].tolist()))
            elif not abs(answer.json()["fraction"] - expected.fraction[r]) <= FRACTION:
                wrong.append((*where, answer.json()["fraction"], expected.fraction[r]))
        if disputed:
            beyond = follow(problem, end=1 + NEAR)
        for r in disputed:
            if not (expected.least[r] < NEAR or expected.fraction[r] > 1 - NEAR or beyond.outcome[r] == CROSSED):
                wrong.append((m.name, r, requests[r], answers[r], expected.outcome[r], expected.fraction[r], expected.least[r]))
        print(f"#   {m.name}: {len(requests)} states, {len(reached)} reached, {len(disputed)} at a singularity, the others "
              f"across one; {1e3 * took / len(requests):.2f} ms a request", flush=True)
        self.assertFalse(wrong, f"{len(wrong)} of {len(requests)}, the first: {wrong[:3]}")
        return expected, reached, [answers[r].texts() for r in reached]

    def check_bits(self, m, requests, alone):
        """Checks that a batch has the same bits as requests of one state each."""
        batch = {name: [request[name] for request in requests] for name in requests[0]}
        together = self.ask_texts(m.name, "inverse-dynamics", {**batch, "outputs": ["full"]})["full"]
        for name in ("q", "G", "residual"):
            self.assertEqual(together[name], [answer["full"][name] for answer in alone])
