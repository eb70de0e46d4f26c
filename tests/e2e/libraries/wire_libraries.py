"""wire_libraries.py FOLDER - prints a table: which forms of arrays CBOR libraries read and write, each as its users call it, by
default. FOLDER holds the libraries; `make wire-libraries` fills it from npm and Debian."""
import json
import os
import subprocess
import sys

import cbor2
from harness import Server

CBOR = "application/cbor"
STATES = [[0.5, 1.5, -0.25, 0.125, 0.75, 0.1], [0.1, -1.1, 0.2, 0.3, -0.4, 2.5]]
REQUEST = {"q": STATES, "qd": [1.5, -0.1, 0.1, 0.2, 0.3, 0.4]}
PATH = "/v1/models/puma560/inverse-dynamics"
FORMS = ("plain", "typed", "multidimensional")

# Programs that read JSON and write CBOR ("encode"; "typed": arrays of numbers as the language's array of doubles), or read
# CBOR and write JSON.
JAVASCRIPT = """
const [, , name, mode] = process.argv, input = require('fs').readFileSync(0);
const doubles = value => Array.isArray(value) ? (typeof value[0] === 'number' ? new Float64Array(value) : value.map(doubles))
    : typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, doubles(v)])) : value;
const plain = value => ArrayBuffer.isView(value) && !(value instanceof Uint8Array) ? Array.from(value)
    : Array.isArray(value) ? value.map(plain) : value instanceof Map ? plain(Object.fromEntries(value))
    : value && value.constructor === Object ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)])) : value;
import(name).then(module => {
    const library = module.encode ? module : module.default, decode = library.decode ?? library.decodeFirstSync;
    if (mode === 'decode') return process.stdout.write(JSON.stringify(plain(decode(name === 'cbor-js' || name === 'cbor-redux'
        ? Uint8Array.from(input).buffer : input))));
    const value = JSON.parse(input);
    process.stdout.write(Buffer.from(library.encode(mode === 'typed' ? doubles(value) : value)));
});
"""
PYTHON = """
import json, sys, array, %(library)s as library
if sys.argv[1] == "decode":
    json.dump(library.loads(sys.stdin.buffer.read()), sys.stdout)
else:
    sys.stdout.buffer.write(library.dumps(json.load(sys.stdin)))
"""
PERL = """
use CBOR::XS; use JSON::PP; binmode STDIN; binmode STDOUT; local $/; my $input = <STDIN>;
sub text { my $v = shift; ref $v eq 'HASH' ? '{' . join(',', map { "\\"$_\\":" . text($v->{$_}) } keys %$v) . '}'
    : ref $v eq 'ARRAY' ? '[' . join(',', map { text($_) } @$v) . ']' : ref $v ? 'null' : sprintf '%.17g', $v }
print $ARGV[0] eq 'decode' ? text(CBOR::XS::decode_cbor($input)) : CBOR::XS::encode_cbor(JSON::PP::decode_json($input));
"""
CPP = """
#include <nlohmann/json.hpp>
#include <iostream>
#include <iterator>
int main(int, char **argv) {
    std::vector<std::uint8_t> input(std::istreambuf_iterator<char>(std::cin), {});
    if (std::string(argv[1]) == "decode") { std::cout << nlohmann::json::from_cbor(input); return 0; }
    auto output = nlohmann::json::to_cbor(nlohmann::json::parse(input));
    std::cout.write(reinterpret_cast<const char *>(output.data()), output.size());
}
"""
GO = """
package main
import ("encoding/json"; "io"; "os"; "github.com/fxamacker/cbor")
func main() {
    input, _ := io.ReadAll(os.Stdin)
    var value map[string]interface{}
    var output []byte
    if os.Args[1] == "decode" {
        var tau struct { Tau [][]float64 `cbor:"tau" json:"tau"` }
        if err := cbor.Unmarshal(input, &tau); err != nil { panic(err) }
        output, _ = json.Marshal(tau)
    } else {
        json.Unmarshal(input, &value)
        output, _ = cbor.Marshal(value)
    }
    os.Stdout.Write(output)
}
"""
NPM = ("cbor-x", "cbor", "cbor2", "cborg", "@ipld/dag-cbor", "cbor-js", "cbor-redux", "borc")
TYPED = {"cbor-x", "cbor", "cbor2", "cbor-redux"}


class Library:
    """A library and the command that runs its program."""

    def __init__(self, name, version, command, environment=None, typed=False):
        self.name, self.version, self.command, self.typed = name, version, command, typed
        self.environment = {**os.environ, **(environment or {})}

    def run(self, mode, data):
        """The output of the program, or None if it fails."""
        done = subprocess.run([*self.command, mode], input=data, capture_output=True, env=self.environment, timeout=60, check=False)
        return done.stdout if done.returncode == 0 else None

    def reads(self, body, expected):
        try:
            return (value := self.run("decode", body)) is not None and json.loads(value, parse_int=float)["tau"] == expected
        except (ValueError, KeyError, TypeError):
            return False


def npm_libraries(folder):
    modules = os.path.join(folder, "node_modules")
    for name in NPM:
        about = os.path.join(modules, name, "package.json")
        if os.path.exists(about):
            with open(about, encoding="utf-8") as file:
                version = json.load(file)["version"]
            program = os.path.join(folder, "program.js")
            with open(program, "w", encoding="utf-8") as file:
                file.write(JAVASCRIPT)
            yield Library(f"{name} (JavaScript)", version, ["node", program, name], typed=name in TYPED)


def debian_libraries(folder):
    """Libraries of Debian packages, unpacked in the folder."""
    version = lambda package: open(os.path.join(folder, package), encoding="utf-8").read().strip()
    at = lambda *parts: os.path.join(folder, "root", "usr", *parts)
    if os.path.exists(at("lib/python3/dist-packages/cbor")):
        yield Library("cbor (Python)", version("python3-cbor"), ["/usr/bin/python3", "-c", PYTHON % {"library": "cbor"}],
                      {"PYTHONPATH": at("lib/python3/dist-packages")})
    for architecture in "x86_64", "aarch64":
        if os.path.exists(at(f"lib/{architecture}-linux-gnu/perl5/5.36/CBOR")):
            yield Library("CBOR::XS (Perl)", version("libcbor-xs-perl"), ["/usr/bin/perl", "-e", PERL],
                          {"PERL5LIB": f'{at(f"lib/{architecture}-linux-gnu/perl5/5.36")}:{at("share/perl5")}'})
    if os.path.exists(at("include/nlohmann/json.hpp")):
        yield compiled(folder, "nlohmann::json (C++)", version("nlohmann-json3-dev"), "program.cc", CPP,
                       lambda source, to: ["g++", "-O1", "-I", at("include"), "-o", to, source])
    if os.path.exists(at("share/gocode/src/github.com/fxamacker")):
        yield compiled(folder, "fxamacker/cbor (Go)", version("golang-github-fxamacker-cbor-dev"), "program.go", GO,
                       lambda source, to: ["env", "GO111MODULE=off", f'GOPATH={at("share/gocode")}', "go", "build", "-o", to, source])


def compiled(folder, name, version, source, text, command):
    path, program = os.path.join(folder, source), os.path.join(folder, source.replace(".", "_"))
    if not os.path.exists(program):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(command(path, program), check=True)
    return Library(name, version, [program])


def libraries(folder):
    """The libraries in the folder, and cbor2, which the tests need anyway."""
    yield Library("cbor2 (Python)", "5", ["/usr/bin/python3", "-c", PYTHON % {"library": "cbor2"}])
    yield from npm_libraries(folder)
    yield from debian_libraries(folder)


def row(client, library):
    """True for each form that the library writes so that the server accepts it, or reads with the bits of JSON."""
    expected = client.post(PATH, REQUEST).json()["tau"]
    as_json = json.dumps(REQUEST).encode()
    written = [library.run(mode, as_json) for mode in ("encode", *(["typed"] if library.typed else []))]
    answers = [body and client.post(PATH, body, Content_Type=CBOR, Accept="application/json") for body in written]
    accepted = [bool(answer) and answer.status == 200 and answer.json()["tau"] == expected for answer in answers]
    default = client.post(PATH, written[0] or cbor2.dumps(REQUEST), Content_Type=CBOR)
    asked = client.post(PATH, REQUEST, Accept=CBOR)
    forms = [client.post(PATH, REQUEST, Accept=f"{CBOR}; arrays={form}").body for form in FORMS]
    return {"writes": accepted[0], "writes typed": accepted[1] if library.typed else None,
            "default": default.status == 200 and library.reads(default.body, expected) and library.reads(asked.body, expected),
            **{form: library.reads(body, expected) for form, body in zip(FORMS, forms)}}


def words(found):
    """The end of a library's row in the table."""
    word = {True: "yes", False: "no", None: "–"}
    columns = ("default", "plain", "typed", "multidimensional", "writes", "writes typed")
    return " | ".join(word[found[column]] for column in columns) + " |"


def main(folder):
    """Prints the rows as a table in Markdown; fails if a library does not read the default answer."""
    server = Server()
    try:
        rows = [(library, row(server.client(), library)) for library in libraries(folder)]
    finally:
        server.stop()
    print("| library | version | reads the default | reads plain | reads typed | reads multidimensional | writes | writes typed |\n"
          "|---|---|---|---|---|---|---|---|")
    for library, found in rows:
        print(f"| {library.name} | {library.version} | {words(found)}")
    return 0 if all(found["default"] and found["writes"] for _, found in rows) else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
