"""Reads one of the models of an SDF file by `?model=` and `--model`."""
import os
import subprocess
import tempfile
import urllib.parse

import tap
from harness import BINARY
from sdf import SdfCase

LINK = "<link name='{0}'><inertial><mass>{1}</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial></link>"
FIRST = "<model name='first'>" + LINK.format("a", 2) + "</model>"
STATIC = "<model name='floor'><static>1</static>" + LINK.format("f", 9) + "</model>"


def second(name="second"):
    return f"<model name='{name}'>" + LINK.format("b", 3) + "</model>"


def file(content):
    return f"<sdf version='1.9'>{content}</sdf>"


def world(content):
    return file(f"<world name='w'><gravity>0 0 -7.5</gravity>{content}</world>")


class Choice(SdfCase):
    def refused(self, text, query, status, code, *words):
        problem = self.assertProblem(self.put_sdf("m", text, query), status)
        self.assertEqual(problem["type"].rsplit("/", 1)[-1], code, problem)
        for word in words:
            self.assertIn(word, problem["detail"])
        return problem["detail"]

    def test_the_chosen_model_is_that_of_a_file_with_it_alone(self):
        """A model is found by its name wherever it is in the file, also with static models in the file and with unusual names."""
        for name in ("second", "two words & more", "zwo/é::x", "n" * 255):
            query = "?model=" + urllib.parse.quote(name, safe="")
            escaped = name.replace("&", "&amp;")
            for around in (file, world):
                alone = self.take_sdf("m", around(second(escaped)))
                for order in ((FIRST, STATIC, second(escaped)), (second(escaped), FIRST)):
                    chosen = self.take_sdf("m", around("".join(order)), query)
                    self.assertEqual(chosen["revision"], alone["revision"], name)
                    self.assertIn("this model is not read", " ".join(entry["text"] for entry in chosen["report"]))

    def test_the_only_model_may_be_named(self):
        self.assertEqual(self.take_sdf("m", file(FIRST), "?model=first")["revision"], self.take_sdf("m", file(FIRST))["revision"])

    def test_without_a_choice_the_names_are_listed(self):
        for around in (file, world):
            detail = self.refused(around(FIRST + STATIC + second()), "", 422, "bad-model", "?model=NAME", "--model NAME", '"first", "second"')
            self.assertNotIn("floor", detail)

    def test_a_long_list_is_cut_and_counted(self):
        many = "".join(f"<model name='robot_number_{i}'>{LINK.format('a', 1)}</model>" for i in range(50))
        detail = self.refused(file(many), "", 422, "bad-model", '"robot_number_0"', " more")
        self.assertEqual(detail.count('"robot_number') + int(detail.split(" and ")[-1].split()[0]), 50)

    def test_a_name_that_is_not_there(self):
        """A static model cannot be chosen; a name that is cut matches none."""
        for name in ("third", "floor", "second" * 60):
            self.refused(file(FIRST + STATIC + second()), f"?model={name}", 422, "unknown-name", '"first", "second"')
        self.refused(file(STATIC), "?model=floor", 422, "unknown-name", "there is none")

    def test_two_models_of_one_name(self):
        self.refused(file(FIRST + FIRST), "?model=first", 422, "duplicate-name", "line 1")

    def test_bad_values(self):
        self.refused(file(FIRST), "?model=", 422, "bad-value", "empty")
        self.refused(file(FIRST), "?model=a&model=b", 422, "unknown-parameter", "once")
        self.refused(file(FIRST), "?model=%f", 422, "bad-value", "escape")

    def test_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.sdf")
            with open(path, "w") as out:
                out.write(world(FIRST + second("zwo é &amp; drei")))
            done = subprocess.run([BINARY, "check", path], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--model NAME", done.stdout)
            done = subprocess.run([BINARY, "convert", "--model", "zwo é & drei", path], capture_output=True, text=True, check=True)
            self.assertIn('"mass":3', done.stdout.replace(" ", ""))
            self.assertNotIn('"mass":2', done.stdout.replace(" ", ""))


if __name__ == "__main__":
    tap.main()
