"""Tests mistakes of first requests, as programs in many languages send them. A body whose meaning is certain gets the answer of the README's
request; any other body is refused with a detail that names the field and the remedy."""
import json
import re

import tap
from harness import ServerCase

Q = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]
REQUEST = {"q": Q, "qd": [1] * 6, "qdd": [1] * 6}
TEXT = json.dumps(REQUEST)
PATH = "/v1/models/puma560/inverse-dynamics"
JSON = "application/json"


def spelled(number):
    """Returns the text of the request with another spelling of the number at the pointer /q/1."""
    return TEXT.replace("0.7853981633974483", number, 1)


# Each row: body, Content-Type and other headers, then status, code, pointer and words of the detail.
REFUSED = {
    # --- media types
    "curl -d without a header": (TEXT, {"Content-Type": "application/x-www-form-urlencoded"}, 415, "unsupported-media-type", None,
                                 "send the header Content-Type: application/json (curl --json)"),
    "text/plain of fetch": (TEXT, {"Content-Type": "text/plain;charset=UTF-8"}, 415, "unsupported-media-type", None,
                            "Content-Type: application/json"),
    "application/octet-stream": (TEXT, {"Content-Type": "application/octet-stream"}, 415, "unsupported-media-type", None,
                                 "Content-Type: application/json"),
    "a multipart form": ("--x\r\n\r\n--x--", {"Content-Type": "multipart/form-data; boundary=x"}, 415, "unsupported-media-type",
                         None, "Content-Type: application/json"),
    "charset iso-8859-1": (TEXT, {"Content-Type": JSON + "; charset=iso-8859-1"}, 415, "unsupported-media-type", None, "UTF-8"),
    "Accept of a page": (TEXT, {"Accept": "text/html"}, 406, "not-acceptable", None, "application/json"),
    # --- numbers
    "no digit before the point": (spelled("-.357"), {}, 400, "bad-json", "/q/1", "a digit on both sides of the point"),
    "a point alone in front": (spelled(".785"), {}, 400, "bad-json", "/q/1", "a digit on both sides of the point"),
    "no digit behind the point": (spelled("1."), {}, 400, "bad-json", "/q/1", "a digit on both sides of the point"),
    "no digit between point and exponent": (spelled("1.e-3"), {}, 400, "bad-json", "/q/1", "both sides of the point"),
    "the exponent of Fortran": (spelled("3.5D-01"), {}, 400, "bad-json", "/q/1", "3.5e-01, not 3.5D-01"),
    "the exponent d": (spelled("7d0"), {}, 400, "bad-json", "/q/1", "the exponent of a number is e"),
    "a decimal comma": ('{"duration": 0,5, "q": [0]}', {}, 400, "bad-json", "/duration", "no decimal comma"),
    "a decimal comma in a string": (spelled('"0,785"'), {}, 422, "wrong-type", "/q/1", "decimal comma"),
    "a decimal comma in an array": ('{"q": [0,0, 0,785, 3,1416, 0,5, 0,785, 0,0], "qd": [0]}', {}, 422, "wrong-shape", "/q",
                                    "decimal comma"),
    "the name of a file": ("/home/robots/states.json", {}, 400, "bad-json", None, "the name of a file"),
    "two states in one row": (json.dumps({"q": 2 * Q}), {}, 422, "wrong-shape", "/q", f"2 states are 2 rows of {len(Q)}"),
    "one level of arrays too many": (json.dumps({"q": [[Q]]}), {}, 422, "wrong-type", "/q/0/0", "one level of arrays too many"),
    "a sign in front": (spelled("+0.5"), {}, 400, "bad-json", "/q/1", "a positive number has no sign"),
    "a zero in front": (spelled("00.5"), {}, 400, "bad-json", "/q/1", "no zeros in front"),
    "underscores": (spelled("1_000.5"), {}, 400, "bad-json", "/q/1", "no marks between its digits"),
    "the suffix of C": (spelled("0.785f"), {}, 400, "bad-json", "/q/1", "no suffix"),
    "a fraction": (spelled("1/2"), {}, 400, "bad-json", "/q/1", "not a fraction"),
    "hexadecimal": (spelled("0x1.9p-1"), {}, 400, "bad-json", "/q/1", "without 0x"),
    "a typographic minus": (spelled("\u22120.5"), {}, 400, "bad-json", "/q/1", "ASCII hyphen"),
    "NaN": (spelled("NaN"), {}, 400, "bad-json", "/q/1", "neither NaN nor infinity"),
    "-Infinity": (spelled("-Infinity"), {}, 400, "bad-json", "/q/1", "neither NaN nor infinity"),
    "1.#INF of old C libraries": (spelled("1.#INF"), {}, 400, "bad-json", "/q/1", "neither NaN nor infinity"),
    "1e999": (spelled("1e999"), {}, 422, "non-finite", "/q/1", ""),
    "a number as a string": (spelled('"0.785"'), {}, 422, "wrong-type", "/q/1", "send it without quotes"),
    "all numbers as strings": (json.dumps({**REQUEST, "q": [str(v) for v in Q]}), {}, 422, "wrong-type", "/q/0", "without quotes"),
    "an array as a string": (json.dumps({**REQUEST, "q": str(Q)}), {}, 422, "wrong-type", "/q", "encoded twice"),
    # --- words, strings and keys
    "str of a Python dict": (str(REQUEST), {}, 400, "bad-json", None, "json.dumps"),
    "None of Python": (TEXT[:-1] + ', "gravity": None}', {}, 400, "bad-json", "/gravity", "null"),
    "True of Python": (TEXT[:-1] + ', "friction": True}', {}, 400, "bad-json", "/friction", "true"),
    "TRUE of R": (TEXT[:-1] + ', "friction": TRUE}', {}, 400, "bad-json", "/friction", "true"),
    "nil of Lua": (TEXT[:-1] + ', "friction": nil}', {}, 400, "bad-json", "/friction", "null"),
    "undefined": (TEXT[:-1] + ', "friction": undefined}', {}, 400, "bad-json", "/friction", "leave the field out"),
    "keys without quotes": ("{q: [0], qd: [1]}", {}, 400, "bad-json", None, "double quotes"),
    "keys with an equals sign": ("{q = [0]}", {}, 400, "bad-json", None, "double quotes"),
    "typographic quotes": ("{\u201cq\u201d: [0]}", {}, 400, "bad-json", None, "double quotes"),
    "a comma at the end": (TEXT[:-1] + ",}", {}, 400, "bad-json", None, "no comma follows the last entry"),
    "a comma at the end of an array": (TEXT.replace("]", ",]", 1), {}, 400, "bad-json", None, "no comma follows"),
    "an entry left out": (TEXT.replace("[0,", "[0,,", 1), {}, 400, "bad-json", None, "an entry is missing"),
    "blanks between numbers": ('{"q": [0 1 2]}', {}, 400, "bad-json", None, "separated by commas"),
    "semicolons of MATLAB": ('{"q": [0;1;2]}', {}, 400, "bad-json", None, "separated by commas"),
    "a tuple": ('{"q": (0, 1, 2)}', {}, 400, "bad-json", "/q", "brackets"),
    "a comment": ('{"q": [0], // rad\n "qd": [1]}', {}, 400, "bad-json", None, "no comments"),
    "two texts": (TEXT + "\n" + TEXT, {}, 400, "bad-json", None, "rows of its arrays"),
    "a text cut short": (TEXT[:-9], {}, 400, "bad-json", None, "the text ends early"),
    "the NUL of C behind the text": (TEXT + "\0", {}, 400, "bad-json", None, "strlen"),
    "a buffer of C": (TEXT + "\n" + "\0" * 9, {}, 400, "bad-json", None, "strlen"),
    "NUL behind a slow text": (TEXT.replace('"q"', '"\\u0071"') + "\0", {}, 400, "bad-json", None, "strlen"),
    "no body": ("", {}, 400, "bad-json", None, "the body is empty"),
    "a form": ("q=0&qd=1", {}, 400, "bad-json", None, "not a form"),
    "a form with an encoded key": ("%7B%22q%22%3A%5B0%5D%7D", {}, 400, "bad-json", None, "percent-encoded"),
    "the name of a file": ("@request.json", {}, 400, "bad-json", None, "name of a file"),
    "JSON in a string": (json.dumps(TEXT), {}, 422, "wrong-type", None, "encoded twice"),
    # --- other formats under the name of JSON
    "CBOR named JSON": (b"\xa1aq\x81\x00", {}, 400, "bad-json", None, "Content-Type: application/cbor"),
    "XML named JSON": ("<robot name='x'/>", {}, 400, "bad-json", None, "Content-Type: application/xml"),
    "UTF-16": (TEXT.encode("utf-16"), {}, 400, "bad-json", None, "UTF-8"),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), {}, 400, "bad-json", None, "UTF-8"),
    "UTF-32": (TEXT.encode("utf-32-be"), {}, 400, "bad-json", None, "UTF-8"),
    "an npy file": (b"\x93NUMPY\x01\x00", {}, 400, "bad-json", None, "NumPy"),
    "gzip without its header": (b"\x1f\x8b\x08\x00\x00", {}, 400, "bad-json", None, "Content-Encoding: gzip"),
    # --- shapes of other languages
    "a Float64Array through JSON.stringify": (json.dumps({**REQUEST, "q": {str(i): v for i, v in enumerate(Q)}}), {}, 422,
                                              None, "/q", "send an array"),
    "an array of names with keys": (json.dumps({**REQUEST, "outputs": {"0": "tau"}}), {}, 422, "wrong-type", "/outputs",
                                    "send an array"),
    "one state as a scalar": ('{"q": 0.5, "qd": 1, "qdd": 1}', {}, 422, "wrong-type", "/q", "an array of 6"),
    "an array at the top": ("[0, 1, 2]", {}, 422, "wrong-type", None, "an object expected"),
    "a field of another case": (TEXT.replace('"qd"', '"Qd"'), {}, 422, "unknown-field", "/Qd", "qd"),
    "a field of another name": (TEXT.replace('"qdd"', '"qddot"'), {}, 422, "unknown-field", "/qddot", "qdd"),
    "a flag as a string": (TEXT[:-1] + ', "friction": "true"}', {}, 422, "wrong-type", "/friction", "without quotes"),
    "an array of PHP or Lua from 1": (json.dumps({**REQUEST, "q": {str(i + 1): v for i, v in enumerate(Q)}}), {}, 422,
                                      "wrong-type", "/q", "send an array"),
    "a Map of JavaScript": (json.dumps({**REQUEST, "q": {}}), {}, 422, "missing-field", "/q/joint1", "a Map or Set"),
    "a Buffer of Node": (json.dumps({**REQUEST, "q": {"type": "Buffer", "data": [0] * 48}}), {}, 422, "wrong-type", "/q",
                         "Array.from"),
    "a Float64Array through toString": (json.dumps({**REQUEST, "q": "0,0.785,3.14,0,0.785,0"}), {}, 422, "wrong-type", "/q",
                                        "send an array"),
    "numbers as MATLAB prints them": (json.dumps({**REQUEST, "q": "0  0.7854  3.1416  -1e-3; 1 2"}), {}, 422, "wrong-type", "/q",
                                      "send an array"),
    "a range of Ruby": (json.dumps({**REQUEST, "q": "0..5"}), {}, 422, "wrong-type", "/q", "send an array"),
    "a Rational of Ruby": (spelled('"1/2"'), {}, 422, "wrong-type", "/q/1", "not 1/2"),
    "NA of R": (spelled('"NA"'), {}, 422, "wrong-type", "/q/1", "NaN, NA or infinity"),
    "-Inf of R": (spelled('"-Inf"'), {}, 422, "wrong-type", "/q/1", "NaN, NA or infinity"),
    "NaN of JSON.stringify": (spelled("null"), {}, 422, "wrong-type", "/q/1", "write NaN as null"),
    "a column": (json.dumps({"q": [[v] for v in Q], "qd": [[1]] * 6, "qdd": [[1]] * 6}), {}, 422, "wrong-shape", "/q/0",
                 "transpose"),
    "states as columns": (json.dumps({k: [[x, x] for x in v] for k, v in REQUEST.items()}), {}, 422, "wrong-shape", "/q/0",
                          "each row of the array is a state"),
    "a flag of R": (TEXT[:-1] + ', "friction": [true]}', {}, 422, "wrong-type", "/friction", "auto_unbox = TRUE"),
    "NULL of R": (TEXT[:-1] + ', "gravity": {}}', {}, 422, "wrong-type", "/gravity", "NULL of R"),
    "a table of states": (json.dumps([{"q": 0, "qd": 1, "qdd": 1}] * 6), {}, 422, "wrong-type", None, "a row for each state"),
    "an empty array of PHP": ("[]", {}, 422, "wrong-type", None, "send one object"),
    "an object of JavaScript": ("[object Object]", {}, 400, "bad-json", None, "JSON.stringify"),
    "a table of Lua": ("table: 0x5581a0", {}, 400, "bad-json", None, "the text of an object"),
    "a hash of Perl": ("HASH(0x5581a0)", {}, 400, "bad-json", None, "the text of an object"),
    "a map of Go": ("map[q:[0 1]]", {}, 400, "bad-json", None, "the text of an object"),
    "a hash of Ruby": ("{:q=>[0, 1]}", {}, 400, "bad-json", None, "to_json"),
    "an array of PHP": ("array (\n  'q' => 0)", {}, 400, "bad-json", None, "the text of an object"),
    "the bytes of a Float64Array": (b"\0" * 48, {}, 400, "bad-json", None, "the bytes of numbers"),
    "degrees": (spelled("1e6"), {}, 422, "angle-too-large", "/q/1", "rad"),
}

TAKEN = {
    "no Content-Type": (TEXT, {"Content-Type": ""}),
    "charset utf-8": (TEXT, {"Content-Type": JSON + "; charset=utf-8"}),
    "charset utf8": (TEXT, {"Content-Type": JSON + ";charset=utf8"}),
    "charset us-ascii": (TEXT, {"Content-Type": JSON + "; charset=us-ascii"}),
    "charset in quotes": (TEXT, {"Content-Type": JSON + '; charset="UTF8"'}),
    "an upper case type": (TEXT, {"Content-Type": "Application/JSON"}),
    "a byte order mark": ("\ufeff" + TEXT, {}),
    "a byte order mark before a slow text": ("\ufeff" + TEXT.replace('"q"', '"\\u0071"'), {}),
    "Content-Encoding identity": (TEXT, {"Content-Encoding": "identity"}),
    "Content-Encoding Identity": (TEXT, {"Content-Encoding": "Identity"}),
    "Accept *": (TEXT, {"Accept": "*"}),
    "Accept of Java's HttpURLConnection": (TEXT, {"Accept": "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"}),
    "one output unboxed": (json.dumps({**REQUEST, "outputs": "tau"}), {}),
    "one output unboxed in evaluate": (json.dumps({**REQUEST, "operations": {"inverse-dynamics": {"outputs": "tau"}}}), {}),
    "exponents of other widths": (spelled("7853981633974483E-016"), {}),
    "blanks and line ends": (json.dumps(REQUEST, indent="\t").replace("\n", "\r\n") + "\r\n", {}),
    "escaped keys": (TEXT.replace('"q"', '"\\u0071"'), {}),
    "integers as reals": (TEXT.replace("1,", "1.0,").replace("1]", "1.0]"), {}),
}


STANDING = [0, 0, 0.25, 0, 0, 0, 1] + [0.05, 0.8, -1.6] * 4
POSE = {"frame": "centre", "position": [0, 0, 0.9], "orientation": [0, 0, 0, 1]}

# Requests with a field that another operation has, or with a wrong count of numbers. Each row: model, operation, request, then code, pointer and
# words of the detail.
MISPLACED = {
    "entries of locked joints": ("panda", "inverse-dynamics", {"q": [1] * 7, "locked": {"panda_joint3": 0.2}}, "wrong-shape", "/q",
                                 "leave out the entries of locked joints"),
    "angles in place of a quaternion": ("solo12", "inverse-dynamics", {"q": STANDING[:18]}, "wrong-shape", "/q", "[x, y, z, w]"),
    "rates of a quaternion": ("solo12", "inverse-dynamics", {"q": STANDING, "qd": [0] * 19}, "wrong-shape", "/qd", "three numbers here"),
    "control points with a quaternion": ("solo12", "trajectory", {"degree": 3, "duration": 1, "samples": 3, "control_points": [STANDING] * 5},
                                         "wrong-shape", "/control_points/0", "three numbers here"),
    "a batch of one beside a batch": ("puma560", "inverse-dynamics", {"q": [Q], "qd": [Q] * 4}, "wrong-shape", "/qd", "outer brackets"),
    "a batch beside a batch of one": ("puma560", "inverse-dynamics", {"q": [Q] * 4, "qd": [Q]}, "wrong-shape", "/qd", "outer brackets"),
    "friction of a held frame that the motion determines": (
        "solo12", "forward-dynamics", {"q": STANDING, "tau": [0] * 18, "held": [{"frame": "FL_FOOT", "friction_coefficient": 0.5}]},
        "unknown-field", "/held/0/friction_coefficient", "simulate with contacts"),
    "another member of a held frame": ("solo12", "forward-dynamics", {"q": STANDING, "tau": [0] * 18, "held": [{"frame": "FL_FOOT", "mu": 1}]},
                                       "unknown-field", "/held/0/mu", "there are: frame"),
    "the state of a platform among the outputs": ("stewart", "inverse-dynamics", {"platform": POSE, "outputs": ["tau", "q"]}, "unknown-name",
                                                  "/outputs/1", "the answer begins with"),
}


# Bodies of PUT with Content-Type: application/xml that are not XML, and words that the problem's detail must have.
ROBOTS = {
    "JSON named XML": ('{"links": []}', "Content-Type: application/json"),
    "the name of a file": ("robots/arm.urdf", "--data-binary @FILE"),
    "@ and the name of a file": ("@arm.xml", "--data-binary @FILE"),
    "a form": ("--x\r\nContent-Disposition: form-data; name=file\r\n\r\n<robot/>", "multipart/form-data"),
    "a percent-encoded text": ("%3Crobot%20name%3D%22a%22%2F%3E", "percent-encoded"),
    "escaped characters": ("&lt;robot name=&quot;a&quot;/&gt;", "escaped"),
    "base64": ("PHJvYm90IG5hbWU9ImEiLz4=", "base64"),
    "YAML": ("robot: arm\nlinks: []\n", "YAML"),
}


class FirstAttempts(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tau = cls.client.post(PATH, TEXT, Content_Type=JSON).json()["tau"]

    def send(self, body, headers, path=PATH):
        headers = {"Content-Type": JSON, **headers}
        return self.client.request("POST", path, body, {k: v for k, v in headers.items() if v})

    def test_robots_that_are_no_xml(self):
        for name, (body, words) in ROBOTS.items():
            with self.subTest(name):
                answer = self.client.put("/v1/models/attempt", body, Content_Type="application/xml")
                problem = self.assertProblem(answer, 400)
                self.assertEqual(problem["code"], "bad-xml")
                self.assertIn(words, problem["detail"])

    def test_refusals_name_their_remedy(self):
        self.assertGreater(len(REFUSED), 40)
        for name, (body, headers, status, code, pointer, words) in REFUSED.items():
            with self.subTest(name):
                problem = self.assertProblem(self.send(body, headers), status)
                if code:
                    self.assertEqual(problem["code"], code, problem)
                self.assertEqual(problem.get("pointer") or None, pointer, problem)
                self.assertIn(words, problem["detail"])

    def test_misplaced_fields_name_their_remedy(self):
        for name, (model, operation, request, code, pointer, words) in MISPLACED.items():
            with self.subTest(name):
                problem = self.assertProblem(self.client.post(f"/v1/models/{model}/{operation}", request), 422, pointer)
                self.assertEqual(problem["code"], code, problem)
                self.assertIn(words, problem["detail"])
                self.assertNotIn("decimal comma", problem["detail"])

    def test_a_platform_in_millimetres_is_reported(self):
        near, far = (self.ask("stewart", "inverse-dynamics", {"platform": {**POSE, "position": [0, 0, z]}}) for z in (0.9, 900))
        self.assertNotIn("warnings", near)
        self.assertEqual([(w["where"], w["code"]) for w in far["warnings"]], [("/platform/position", "suspicious")])

    def test_a_row_of_another_length_is_not_a_column(self):
        """At least one of the states of a robot with six joints is too short. The detail must not suggest a transposed matrix."""
        rows = [Q] * 6
        for q in (rows[:3] + [Q[:5]] + rows[:2], [Q[:5]] + rows[:5], [Q[:5]] * 5):
            answer = self.send(json.dumps({"q": q, "qd": rows[:len(q)], "qdd": rows[:len(q)]}), {})
            self.assertNotIn("transpose", self.assertProblem(answer, 422)["detail"])

    def test_paths_name_their_remedy(self):
        for method, path, status, words in (
                ("POST", PATH + "/", 404, "leave out the slash"), ("POST", PATH.replace("/v1", ""), 404, "/v1/models/{model}/{op"),
                ("POST", PATH.replace("puma560", "Puma560"), 404, "case-sensitive"), ("POST", PATH + "?q=0,0", 422, "members of the body"),
                ("POST", PATH.replace("inverse-dynamics", "inverse_dynamics"), 404, "are: inverse-dynamics"),
                ("GET", PATH, 405, "supports POST"), ("PUT", PATH, 405, "supports POST"), ("POST", "/v1/models/puma560", 405, "PUT")):
            with self.subTest(method, path=path):
                answer = self.client.request(method, path, TEXT if method != "GET" else None, {"Content-Type": JSON})
                self.assertIn(words, self.assertProblem(answer, status)["detail"])

    def test_documents_under_another_type(self):
        for body, media, words in (('{"links": []}', "application/xml", "application/json"),
                                   ("<robot name='x'/>", JSON, "application/xml"),
                                   ('{"links": []}', "application/x-www-form-urlencoded", "application/json")):
            answer = self.client.put("/v1/models/none", body, Content_Type=media)
            self.assertIn(f"Content-Type: {words}", self.assertProblem(answer, answer.status)["detail"])
            self.assertIn(answer.status, (400, 415))

    def test_attempts_with_a_plain_meaning_are_taken(self):
        for name, (body, headers) in TAKEN.items():
            with self.subTest(name):
                combined = "evaluate" in name
                answer = self.ok(self.send(body, headers, PATH.replace("inverse-dynamics", "evaluate") if combined else PATH))
                self.assertEqual((answer["inverse-dynamics"] if combined else answer)["tau"], self.tau)

    def test_a_name_alone_is_a_list_of_one(self):
        """R's jsonlite and MATLAB's jsonencode write an array of one name as the name."""
        state = {"q": Q, "qd": [1] * 6}
        frame = self.client.get("/v1/models/puma560").json()["frames"][-1]["name"]
        for operation, fields in (
                ("kinematics", {"frames": frame}), ("kinematics", {"frame": frame, "outputs": "jacobian"}),
                ("task-space", {"frame": frame, "axes": "z", "outputs": "inertia"}),
                ("inverse-dynamics", {"qdd": [1, 0, 1, 1, 1, 1], "free": "joint2"}),
                ("margins", {"kinds": "position"}),
                ("simulate", {"qd": [0] * 6, "duration": 0.01, "step": 0.01, "samples": 2, "outputs": "q", "held": [{"frame": frame, "axes": "x"}]})):
            listed = json.loads(json.dumps(fields))
            for key in ("frames", "outputs", "axes", "free", "kinds"):
                if key in listed:
                    listed[key] = [listed[key]]
            if "held" in listed:
                listed["held"][0]["axes"] = ["x"]
            with self.subTest(operation, **fields):
                one, other = ({**state, **f} for f in (fields, listed))
                self.assertEqual(self.ask("puma560", operation, one), self.ask("puma560", operation, other))

    def test_a_wrong_name_alone_is_found_where_it_stands(self):
        for operation, fields, pointer in (("kinematics", {"frames": "tol"}, "/frames"), ("bias", {"outputs": "tua"}, "/outputs"),
                                           ("inverse-dynamics", {"qdd": Q, "free": "joint9"}, "/free")):
            answer = self.send(json.dumps({"q": Q, "qd": Q, **fields}), {}, f"/v1/models/puma560/{operation}")
            problem = self.assertProblem(answer, 422, pointer)
            self.assertEqual(problem["code"], "unknown-name")

    def raw(self, text):
        peer = self.server.socket()
        self.addCleanup(peer.close)
        peer.send(text)
        return peer.answer()

    def test_http_2_is_named(self):
        """curl --http2-prior-knowledge begins with the preface of RFC 9113, section 3.4."""
        answer = self.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.assertIn("HTTP/2 is not spoken here", self.assertProblem(answer, 505)["detail"])

    def test_tls_is_named(self):
        """The first bytes of a TLS handshake, as https:// sends them."""
        answer = self.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        self.assertIn("http://", self.assertProblem(answer, 400)["detail"])

    def test_the_host_of_an_absolute_target_is_judged(self):
        """RFC 9112, section 3.2.2: where the request target is an absolute URI, as clients of proxies send it, Host is ignored."""
        port = self.server.port
        for target, host, status, named in (
                (f"http://localhost:{port}", "evil.example", 200, None), (f"HTTP://127.0.0.1:{port}", "evil.example", 200, None),
                (f"http://evil.example:{port}", "localhost", 421, "evil.example"), ("", "evil.example", 421, "evil.example"),
                ("", "localhost", 200, None)):
            answer = self.raw(f"GET {target}/v1 HTTP/1.1\r\nHost: {host}\r\n\r\n")
            self.assertEqual(answer.status, status, (target, host, answer))
            if named:
                detail = self.assertProblem(answer, status)["detail"]
                self.assertIn(named, detail)
                self.assertNotIn("localhost", detail)

    def test_only_browsers_get_pages_under_v1(self):
        """Java's HttpURLConnection prefers text/html in Accept but must get JSON. The server recognises a browser by XHTML in Accept or by the
        headers of a navigation."""
        java = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
        browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        for path, accept, more, page in (("/v1/models/none", java, {}, False), ("/v1/none", java, {}, False),
                                         ("/v1/models/none", browser, {}, True), ("/none", java, {}, True),
                                         ("/v1/models/none", java, {"Sec-Fetch-Mode": "navigate"}, True),
                                         ("/v1/models/none", java, {"Sec-Fetch-Mode": "cors"}, False)):
            answer = self.client.request("GET", path, headers={"Accept": accept, **more})
            self.assertEqual(answer.status, 404)
            kind = answer.headers.get_content_type()
            self.assertEqual(kind, "text/html" if page else "application/problem+json", (path, accept, more))

    def test_documents_begin_with_a_byte_order_mark(self):
        document = {"links": [{"name": "rod", "parent": "base", "joint": {"name": "j", "type": "revolute", "axis": [0, 1, 0]},
                               "inertial": {"mass": 1, "com": [0, 0, 1], "inertia": {"xx": 1, "yy": 1, "zz": 1}}}]}
        plain = self.put_model("plain", document)
        answer = self.client.put("/v1/models/marked", "\ufeff" + json.dumps(document), Content_Type=JSON)
        self.assertEqual(self.ok(answer, 201)["revision"], plain["revision"])

    def test_offsets_count_the_byte_order_mark(self):
        """The offset counts bytes of the body as it was sent."""
        plain, marked = (self.assertProblem(self.send(text, {}), 400) for text in (spelled("1."), "\ufeff" + spelled("1.")))
        self.assertEqual(marked["offset"], plain["offset"] + 3)

    def test_curl_commands_of_remedies_exist(self):
        """The only option of curl that the remedies name is --json, which all versions since 7.82 have."""
        details = [self.assertProblem(self.send(body, headers), status)["detail"] for body, headers, status, *_ in REFUSED.values()]
        self.assertEqual(set(re.findall(r"curl (--\S+?)[);,]", " ".join(details))), {"--json"})


if __name__ == "__main__":
    tap.main()
