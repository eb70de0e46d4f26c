"""Tests bytes that are no JSON, and JSON beyond the limits: requests and documents cut, mutated, deeply nested, too
long."""
import json

import tap
from errors import ErrorCase, whole_run_shows
from samples import branched


def tearDownModule():
    whole_run_shows("test_syntax.py")


class Syntax(ErrorCase):
    VALID = ('{"q":[0.1,-2e-1,3.0E+1,4],"qd":[1,2,3,4],"qdd":{"shoulder":1,"elbow":2,"grasp":3,"hip":4},'
             '"wrenches":[{"link":"fore","force":[1,2,3],"frame":"link"}],"gravity":[0,0,-9.81],"friction":false,'
             '"payload":[{"link":"gripper","mass":1,"com":[0,0,0.1]}],"outputs":["tau","joint_wrenches"]}')
    PATH = "/v1/models/arm/inverse-dynamics"

    def test_cut_at_every_byte(self):
        self.assertEqual(self.client.post(self.PATH, self.VALID).status, 200)
        for length in range(len(self.VALID)):
            problem = self.assertProblem(self.client.post(self.PATH, self.VALID[:length]), 400)
            self.assertIn("offset", problem)
            self.assertLessEqual(problem["offset"], length)

    def test_a_document_cut_at_every_byte(self):
        text = json.dumps(branched())
        revision = self.client.get("/v1/models/arm").json()["revision"]
        for length in range(len(text)):
            self.assertProblem(self.client.put("/v1/models/arm", text[:length]), 400)
        self.assertEqual(self.client.get("/v1/models/arm").json()["revision"], revision)

    def test_one_byte_order_mark_is_skipped(self):
        """Some editors and libraries begin a text with a byte order mark, and RFC 8259, section 8.1, lets parsers skip it. A second mark is a
        syntax error."""
        answers = [self.client.post(self.PATH, ("\ufeff" * marks + self.VALID).encode()) for marks in (0, 1, 2)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 400])
        self.assertEqual(answers[1].body, answers[0].body)
        self.assertEqual(self.assertProblem(answers[2], 400)["offset"], 6)

    def test_every_byte_replaced(self):
        """The server answers the request or refuses it with a problem, whatever byte is replaced."""
        text = self.VALID.encode()
        for i in range(len(text)):
            for byte in (0x00, 0x22, 0x5C, 0x7B, 0x5D, 0x2C, 0xFF, 0x39):
                answer = self.client.post(self.PATH, text[:i] + bytes([byte]) + text[i + 1:])
                self.assertIn(answer.status, (200, 400, 422), text[:i] + bytes([byte]) + text[i + 1:])

    def test_offsets(self):
        for text, offset in (('{"q":[1,2,,3]}', 10), ('{"q":[01,2,3,4]}', 7), ('{"q" [1]}', 5)):
            problem = self.refused(self.PATH, text, 400)
            self.assertLessEqual(abs(problem["offset"] - offset), 1, problem)

    def test_what_json_does_not_allow(self):
        q = '{"q":[0,0,0,%s]}'
        for number in (".5", "1.", "01", "+1", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "inf", "nan", "-",
                       "1_000", "1,", "--1", "1.e5", "1e5.0", "٣"):
            self.refused(self.PATH, q % number, 400)
        for text in ("", " ", "{", "}", "{]", '{"q":[0,0,0,0],}', "{'q':[0,0,0,0]}", '{"q":[0,0,0,0]} x',
                     '{"q":[0,0,0,0]}{}', '{"q":[0,0,0,0] /* */}', '{q:[0,0,0,0]}', '{"q":[0,0,0,0]', '"\\u12"',
                     '{"\\x":1}', '{"a\nb":1}', "\ufeff", "{\ufeff}", "{}\ufeff", "tru", '{"q":[0 0 0 0]}', '{"q":[0,0,0,0]}\x00'):
            self.refused(self.PATH, text, 400)
        for raw in (b'{"\xff":1}', b'{"\xc0\xaf":1}', b'{"\xed\xa0\x80":1}', b'{"q":"\xf8"}', b'\xff\xfe{\x00}\x00'):
            self.refused(self.PATH, raw, 400)

    def test_duplicate_keys(self):
        for text in ('{"q":[0,0,0,0],"q":[0,0,0,0]}', '{"q":[0,0,0,0],"\\u0071":[0,0,0,0]}',
                     '{"q":[0,0,0,0],"wrenches":[{"link":"fore","link":"fore"}]}'):
            self.refused(self.PATH, text, 400)
        self.refused("/v1/models/x", '{"links":[],"links":[]}', 400, method="PUT")

    def test_nesting(self):
        for depth in (1000, 100_000, 2_000_000):
            self.refused(self.PATH, "[" * depth, 400)
            self.refused(self.PATH, '{"q":' + "[" * depth + "]" * depth + "}", 400)
            self.refused("/v1/models/x", '{"a":' * depth + "1" + "}" * depth, 400, method="PUT")

    def test_a_long_number_and_a_long_name(self):
        zeros = "0" * 1_000_000
        answer = self.client.post("/v1/models/slider/inverse-dynamics", f'{{"q":[0],"qdd":[0.{zeros}1]}}')
        self.assertEqual((answer.status, answer.json()), (200, {"tau": [0]}))
        self.refused(self.PATH, '{"q":[0,0,0,0],"' + "n" * 1_000_000 + '":1}', 422)
        self.refused(self.PATH, '{"q":[0,0,0,0],"outputs":["' + "n" * 1_000_000 + '"]}', 422)


if __name__ == "__main__":
    tap.main()
