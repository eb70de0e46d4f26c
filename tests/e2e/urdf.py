"""What tests of URDF files share: texts of files, the robots beside the checkout, where they lie, and how a file is put."""
import os

from harness import ROOT, ServerCase

ROBOTS = os.path.join(os.path.dirname(ROOT), "shared", "robots")
FILES = sorted(name[:-5] for name in os.listdir(ROBOTS) if name.endswith(".urdf")) if os.path.isdir(ROBOTS) else []


def read(name):
    with open(os.path.join(ROBOTS, name + ".urdf"), "rb") as file:
        return file.read()


class UrdfCase(ServerCase):
    def put_urdf(self, name, text, query=""):
        return self.client.put(f"/v1/models/{name}{query}", text.encode() if isinstance(text, str) else text,
                               Content_Type="application/xml")

    def take(self, name, text, query=""):
        answer = self.put_urdf(name, text, query)
        self.assertIn(answer.status, (200, 201), answer)
        return answer.json()

    def refuse(self, text, status, code, *words, query=""):
        problem = self.assertProblem(self.put_urdf("refused", text, query), status)
        self.assertEqual(problem["code"], code, problem)
        for word in words:
            self.assertIn(word, problem["detail"])
        self.assertNotIn("pointer", problem)     # there is no JSON to point into
        return problem


def robot(*parts, name="r"):
    return f'<robot name="{name}">' + "".join(parts) + "</robot>"


def link(name, inside=""):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, inside="", kind="revolute"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


INERTIAL = ('<inertial><origin xyz="0 0 .1"/><mass value="1."/>'
            '<inertia ixx="+1e-1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="01e-1"/></inertial>')
ARM = (link("a"), link("b", INERTIAL), joint("j", "a", "b", '<axis xyz="0 0 1"/>'))
