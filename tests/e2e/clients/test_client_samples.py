"""Tests the page of api/clients: its commands build and run the samples of every language against a server, and the
samples print the server's torques bit for bit; its counts of lines are right. A language without a toolchain on this
machine is skipped. TypeScript is tested in test_typescript.py, TLS in test_client_tls.py."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
from access import Tokens
from client_samples import CLIENTS, SampleCase
from harness import BINARY, PATIENCE, Server
from test_c_client import warnings

ADDRESS = "http://127.0.0.1:8088"
BLOCK = r"^## {}\n.*?^```console\n(.*?)^```"


def page():
    with open(os.path.join(CLIENTS, "README.md")) as file:
        return file.read()


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"no {program} here")


class Commands(SampleCase):
    """Runs the commands of each language exactly as the page gives them. Samples that take a token from the environment
    also run against a server with access control."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.tokens = Tokens(folder)
        cls.guarded = Server("--tokens", cls.tokens.path)
        cls.addClassCleanup(cls.guarded.kill)

    def check(self, language, takes_token=True):
        lines = re.search(BLOCK.format(re.escape(language)), page(), re.DOTALL | re.MULTILINE)[1].splitlines()
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        shown = [line for line in lines if not line.startswith("$ ")]
        self.assertRegex(commands[-1], r" > torques\.csv$")
        self.assertEqual(len(shown), 1)
        self.assertTrue(all(ADDRESS in command for command in commands[-2:]))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(CLIENTS, os.path.join(folder, "api", "clients"), ignore=shutil.ignore_patterns("typescript"))
            offline = {"GOCACHE": os.path.join(folder, "cache"), "GOPROXY": "off", "GOTOOLCHAIN": "local", "CFLAGS": "",
                       "PATH": os.path.dirname(BINARY) + ":" + os.environ["PATH"]}
            script = "set -e\n" + "\n".join(commands).replace(ADDRESS, self.server.url()) + "\nmv torques.csv ../../.."
            printed = self.output("bash", "-c", script, cwd=folder, environment=offline)
            self.assertEqual(printed.strip(), shown[0])
            self.check_one(printed)
            with open(os.path.join(folder, "torques.csv")) as file:
                self.check_batch(file.read())
            if takes_token:
                # the program is built; run it again without the build commands
                program = "\n".join([*commands[:-2], commands[-2].split(" && ")[-1]])
                self.check_token(program.replace(ADDRESS, self.guarded.url()), folder, offline)

    def check_token(self, program, folder, environment):
        self.check_one(self.output("bash", "-c", program, cwd=folder,
                                   environment={**environment, "TORQUED_TOKEN": self.tokens.token["planner"]}))
        for refused in ({}, {"TORQUED_TOKEN": self.tokens.token["expired"]}):
            done = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True, timeout=6 * PATIENCE,
                                  env={**os.environ, **environment, **refused})
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout + done.stderr, "credential|token")

    def test_python(self):
        self.check("Python", takes_token=False)

    def test_shell(self):
        self.check("Shell", takes_token=False)

    def test_c(self):
        self.check("C", takes_token=False)

    def test_cpp(self):
        self.check("C++", takes_token=False)

    @needs("go")
    def test_go(self):
        self.check("Go")

    @needs("rustc")
    def test_rust(self):
        self.check("Rust")

    @needs("javac")
    def test_java(self):
        self.check("Java")

    @needs("octave")
    def test_octave(self):
        self.check("MATLAB and Octave")

    @needs("julia")
    def test_julia(self):
        self.check("Julia")


class Idle(SampleCase):
    """Sends a second request after the server has closed the idle connection of the first."""
    arguments = ("--idle-timeout", "1")
    RUST = """mod torqued;
use torqued::{Client, Value};
fn main() -> std::io::Result<()> {
    let mut client = Client::new(&std::env::args().nth(1).unwrap())?;
    for _ in 0..2 {
        let answer = client.evaluate("two_link", "bias", &Value::map([("q", Value::state(&[0.1, 0.2]))]))?;
        println!("{}", answer.numbers("bias").len());
        std::thread::sleep(std::time::Duration::from_millis(2500));
    }
    Ok(())
}
"""
    GO = """package main

import ("fmt"; "log"; "os"; "time"; "torqued")

func main() {
	client := torqued.New(os.Args[1])
	for i := 0; i < 2; i++ {
		var answer struct{ Bias []float64 }
		if err := client.Evaluate("two_link", "bias", map[string]any{"q": []float64{0.1, 0.2}}, &answer); err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(answer.Bias))
		time.Sleep(2500 * time.Millisecond)
	}
}
"""
    JAVA = """import java.util.Map;
public final class Twice {
    public static void main(String[] arguments) throws Exception {
        var client = new Torqued(arguments[0]);
        for (int i = 0; i < 2; i++) {
            var answer = client.evaluate("two_link", "bias", Map.of("q", new double[] {0.1, 0.2}));
            System.out.println(((Torqued.Array) answer.get("bias")).numbers().length);
            Thread.sleep(2500);
        }
    }
}
"""

    def check(self, language, name, text, build, *command):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, language)
            shutil.copytree(os.path.join(CLIENTS, language), copy)
            os.makedirs(os.path.dirname(os.path.join(copy, name)), exist_ok=True)
            with open(os.path.join(copy, name), "w") as file:
                file.write(text)
            offline = {"GOCACHE": os.path.join(folder, "cache"), "GOPROXY": "off", "GOTOOLCHAIN": "local"}
            self.output(*build, cwd=copy, environment=offline)
            self.assertEqual(self.output(*command, self.server.url(), cwd=copy).split(), ["2", "2"])

    @needs("rustc")
    def test_rust(self):
        self.check("rust", "twice.rs", self.RUST, ["rustc", "--edition", "2021", "twice.rs"], "./twice")

    @needs("go")
    def test_go(self):
        self.check("go", "twice/main.go", self.GO, ["go", "build", "-o", "program", "./twice"], "./program")

    @needs("javac")
    def test_java(self):
        self.check("java", "Twice.java", self.JAVA, ["javac", "Torqued.java", "Twice.java"], "java", "Twice")


class Page(unittest.TestCase):
    def test_lines_of_the_samples(self):
        """The page counts lines that are neither blank nor comments."""
        checked = 0
        for line in re.findall(r"^\| .*\]\(.*\) \| [0-9]+ \| [0-9]+ \|.*", page(), re.MULTILINE):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            folder = re.match(r"\[(\w+)/\]", cells[1])[1]
            for name, count in (("one", cells[2]), ("batch", cells[3])):
                source, = [path for pattern in (f"{name}.*", f"{name.capitalize()}.java", f"samples/{name}.*", f"{name}/main.go")
                           for path in glob.glob(os.path.join(CLIENTS, folder, pattern))]
                self.assertEqual(code_lines(source), int(count), source)
            told = re.search(r"of ([0-9]+) lines", cells[4])
            if told:
                client, = [path for path in glob.glob(os.path.join(CLIENTS, folder, "[tT]orqued.*"))]
                self.assertEqual(code_lines(client), int(told[1]), client)
            checked += 1
        self.assertEqual(checked, 10)


def code_lines(path):
    ending = os.path.splitext(path)[1]
    comment = r'^""".*?"""|^"[^"\n]*"$' if ending in (".jl", ".py") else r"/\*.*?\*/"
    with open(path) as file:
        text = re.sub(comment, "", file.read(), flags=re.DOTALL | re.MULTILINE)
    marks = {".m": "%", ".jl": "#", ".py": "#", ".sh": "#"}.get(ending, "//")
    return sum(bool(line.strip()) and not line.strip().startswith(marks) for line in text.splitlines())


class Style(SampleCase):
    """Compiles the samples with warnings as errors."""

    def source(self, *names):
        return os.path.join(CLIENTS, *names)

    def test_c_and_cpp(self):
        common = [flag for flag in warnings() if "prototypes" not in flag]
        for path in glob.glob(self.source("*", "*.c")):
            self.output("gcc", "-std=gnu11", "-O2", *warnings(), "-c", "-o", os.devnull, path)
        for path in glob.glob(self.source("cpp", "*.cc")):
            self.output("g++", "-std=c++17", "-O2", *common, "-c", "-o", os.devnull, path)

    @needs("go")
    def test_go(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.output("gofmt", "-l", self.source("go")), "")
            self.output("go", "vet", "./...", cwd=self.source("go"), environment={"GOCACHE": folder, "GOPROXY": "off"})

    @needs("rustc")
    def test_rust(self):
        with tempfile.TemporaryDirectory() as folder:  # rustc replaces its output file, which therefore must not be /dev/null
            for path in glob.glob(self.source("rust", "[ob]*.rs")):
                self.output("rustc", "--edition", "2021", "-D", "warnings", "--emit", "metadata", "-o", f"{folder}/made", path)

    @needs("javac")
    def test_java(self):
        with tempfile.TemporaryDirectory() as folder:
            self.output("javac", "-Xlint:all", "-Werror", "-d", folder, *glob.glob(self.source("java", "*.java")))


@needs("octave")
class Octave(SampleCase):
    def run_text(self, text, **environment):
        paths = [part for name in ("octave", "simulink") for part in ("--path", os.path.join(CLIENTS, name))]
        return self.output("octave", "--no-gui", "--quiet", *paths, "--eval", text, environment=environment)

    def test_problems_and_shapes(self):
        said = self.run_text("""
            url = getenv('TORQUED_URL');
            try, torqued(url, 'puma560', 'bias', struct('q', [1 2 3])); catch e, disp(e.identifier); disp(e.message); end
            try, torqued('http://127.0.0.1:1', 'puma560', 'bias', struct('q', 1)); catch e, disp(e.identifier); end
            q = [0.1 0.2; 0.3 0.4; 0.5 0.6];
            a = torqued(url, 'two_link', 'evaluate', struct('q', q, 'operations', containers.Map({'mass-matrix'}, {struct()})));
            disp(size(a.mass_matrix.mass_matrix));
            b = torqued(url, 'two_link', 'mass-matrix', struct('q', {{q(2, :)}}));
            disp(isequal(b.mass_matrix, a.mass_matrix.mass_matrix(2, :, :)));
            disp(isequal(torqued(url, 'two_link', 'bias', struct('q', q(3, :), 'outputs', {{'bias'}})).bias, ...
                         torqued(url, 'two_link', 'bias', struct('q', q)).bias(3, :)));""")
        self.assertEqual(said.split("\n"), [
            "torqued:wrong_shape", "/q: 3 entries given, 6 expected (nq of puma560)", "torqued:unreachable", "   3   2   2", "1", "1", ""])

    def test_copied_folder(self):
        """A copy of the samples runs from any working folder: they load torqued.m from the folder in which they are."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(CLIENTS, "octave"), os.path.join(folder, "copy"))
            self.check_one(self.output("octave", "--no-gui", "--quiet", "copy/one.m", cwd=folder))

    def test_simulink(self):
        """Runs the page's code for Simulink; it must print the states and torques of the server."""
        with open(os.path.join(CLIENTS, "simulink", "README.md")) as file:
            code = "".join(re.findall(r"^```matlab\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE))
        said = self.run_text(code.replace("'two_link')\n", "'two_link');\n") + """
            printf('%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\\n', ...
                   [torques.time q qd qdd torques.signals.values].');
            printf('%.17g %.17g\\n', tau);""")
        *rows, tau = [[float(text) for text in line.split()] for line in said.splitlines()]
        self.assertEqual(len(rows), 1001)
        request = {name: [row[i:i + 2] for row in rows] for name, i in (("q", 1), ("qd", 3), ("qdd", 5))}
        self.assertEqual([row[7:] for row in rows], self.ask("two_link", "inverse-dynamics", request)["tau"])
        request = {"q": [0.1, 0.2], "qd": [0, 0], "qdd": [1, 0]}
        self.assertEqual(tau, self.ask("two_link", "inverse-dynamics", request)["tau"])

    @needs("gnuplot")
    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            plot = os.path.join(folder, "torques.svg")
            self.run_text("batch", TORQUED_PLOT=plot)
            with open(plot) as file:
                drawn = file.read()
        self.assertGreater(drawn.count("<path"), 7)
        self.assertIn("torque in N m", drawn)


if __name__ == "__main__":
    tap.main()
