"""Tests that bad URDF files are refused, and that the problem names the line."""
import tap
from urdf import ARM, INERTIAL, UrdfCase, joint, link, robot


class Refused(UrdfCase):
    def tearDown(self):
        self.assertEqual(self.client.get("/v1/models/refused").status, 404)

    def test_not_xml(self):
        self.refuse("", 400, "bad-xml", "empty")
        for blank in ("\ufeff", " \n", "\ufeff\r\n\t "):
            self.refuse(blank, 400, "bad-xml", "the body is empty")
        self.refuse("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", 400, "bad-xml", "git lfs pull")
        self.refuse("#usda 1.0\n(\n    defaultPrim = \"arm\"\n)\n", 400, "bad-xml", "OpenUSD", "api/OPENUSD.md")
        self.refuse("PXR-USDC\x01", 400, "bad-xml", "OpenUSD")
        self.refuse("<!DOCTYPE html>\n<html></html>", 400, "bad-xml", "Raw")
        self.refuse("{}", 400, "bad-xml")
        self.refuse("<robot", 400, "bad-xml", "line 1")
        self.refuse("<robot></link>", 400, "bad-xml")
        self.refuse(robot(*ARM) + "<more/>", 400, "bad-xml")
        self.refuse("<robot name='r'>&bomb;</robot>", 400, "bad-xml", "bomb")
        problem = self.refuse(robot(link("\u00e9")).encode("latin-1"), 400, "bad-xml", "not UTF-8")
        self.assertEqual(problem["offset"], robot(link("\u00e9")).index("\u00e9"))
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
            self.refuse(robot(*ARM).encode(encoding), 400, "bad-xml", "iconv -f UTF-16 -t UTF-8")
        self.refuse(robot(*ARM).encode() + b"\0", 400, "bad-xml", "ends with NUL", "tr -d")
        self.refuse(robot(*ARM).encode().replace(b" ", b"\0", 1), 400, "bad-xml", "has NUL", "tr -d")
        self.refuse("<robot " + " ".join(f'a{i}="1"' for i in range(101)) + "/>", 400, "bad-xml", "100 attributes")

    def test_a_declared_encoding_is_a_word(self):
        """A file of UTF-8 text may declare another encoding or begin with a byte order mark."""
        self.take("worded", '<?xml version="1.0" encoding="ISO-8859-1"?>' + robot(*ARM))
        self.take("marked", "\ufeff" + robot(*ARM))

    def test_entities_are_not_even_declared(self):
        bomb = "<!DOCTYPE r [" + '<!ENTITY a0 "ha">' + "".join(
            f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(30)) + "]>"
        outside = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        for doctype in (bomb, outside, '<!DOCTYPE robot SYSTEM "http://127.0.0.1:1/robot.dtd">', "<!DOCTYPE robot []>",
                        '<!DOCTYPE robot PUBLIC "-//x" "http://127.0.0.1:1/robot.dtd">', "<!DOCTYPE robot\n[ ] >"):
            self.refuse(doctype + robot(*ARM), 422, "not-supported", "document type declaration")
        self.refuse(bomb + "<robot name='&a30;'/>", 422, "not-supported")
        self.refuse("<!DOCTYPE robot><robot name='&a;'/>", 400, "bad-xml", "Entity 'a' not defined")

    def test_deep_and_large(self):
        self.refuse("<robot>" + "<a>" * 100000, 400, "too-deep", "100")
        many = robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(f"j{i}", f"l{i}", f"l{i + 1}")
                                   for i in range(10000)))
        self.refuse(many, 413, "model-too-large", "10001 links")
        self.refuse(robot(*(link(f"l{i}") for i in range(100000))), 413, "model-too-large")
        self.refuse(robot(link("l0"), *(link(f"l{i + 1}", INERTIAL) + joint(f"j{i}", f"l{i}", f"l{i + 1}")
                                        for i in range(600))), 413, "model-too-large", "degrees of freedom")

    def test_no_tree(self):
        self.refuse("<sdf/>", 422, "bad-model", "<sdf>")
        self.refuse("<r:robot xmlns:r='urn:r'/>", 422, "bad-model", "<r:robot>")
        self.refuse(robot(), 422, "bad-model", "no <link>")
        self.refuse(robot(link("alone")), 422, "bad-model", "nothing moves", "base=floating")
        self.refuse(robot(*ARM, "\n", link("stray")), 422, "bad-model", 'line 2, link "stray"', "one root")
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")), 422, "bad-model",
                    "no root", "joint")
        self.refuse(robot(*ARM, link("c"), link("d"), joint("k", "c", "d"), "\n", joint("l", "d", "c")), 422,
                    "bad-model", "cycle", "line")
        self.refuse(robot(*ARM, joint("k", "a", "b")), 422, "bad-model", 'joint "k"', 'child of joint "j"')
        self.refuse(robot(*ARM, joint("k", "b", "b")), 422, "bad-model", 'joint "k"')
        self.refuse(robot(*ARM, link("c"), joint("k", "ghost", "c")), 422, "unknown-name", 'joint "k"', '"ghost"')
        self.refuse(robot(*ARM, joint("k", "a", "ghost")), 422, "unknown-name", 'joint "k"', '"ghost"')

    def test_names(self):
        self.refuse(robot(*ARM, link("b")), 422, "duplicate-name", 'link "b"')
        self.refuse(robot(*ARM, link("c"), joint("j", "b", "c")), 422, "duplicate-name", 'joint "j"')
        self.refuse(robot(link("")), 422, "bad-name", "empty")
        self.refuse(robot(link("a"), link("b"), joint("", "a", "b")), 422, "bad-name", "empty")
        self.refuse(robot("<link/>"), 422, "missing-field", '"name"')
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b\n")), 422, "unknown-name")
        self.refuse(robot(link("a"), link("x" * 257), joint("j", "a", "x" * 257)), 422, "bad-name", "257")
        self.refuse(robot(link("a"), link("b"), '<joint name="j" type="fixed"><child link="b"/></joint>'), 422,
                    "missing-field", "<parent>", 'joint "j"')

    def test_numbers(self):
        for text in ("nan", "inf", "-Infinity", "0x10", "1,5", "1e", "e1", ".", "+", "--1", "1_0", "\u0661"):
            self.refuse(robot(link("a"), link("b"), "\n\n", joint("j", "a", "b", f'<origin xyz="0 {text} 0"/>')), 422,
                        "wrong-type", 'line 3, joint "j"', "not a decimal number")
        for text in ("", "1 2", "1 2 3 4"):
            self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", f'<axis xyz="{text}"/>')), 422, "wrong-shape",
                        "expected 3 numbers")
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis xyz="1e999 0 0"/>')), 422, "non-finite")
        turned = '<origin rpy="0 -1e9 0"/>'
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", turned)), 422, "angle-too-large", 'joint "j"', "-1000000000", "100000")
        self.refuse(robot(link("a", INERTIAL.replace('<origin xyz="0 0 .1"/>', turned)), link("b"), joint("j", "a", "b")), 422,
                    "angle-too-large", 'link "a"')
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis xyz="0 0 0"/>')), 422, "bad-value",
                    "direction", 'joint "j"')
        self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", '<axis/>')), 422, "missing-field", '"xyz"')

    def test_inertia(self):
        for change in (("1.", "-1"), ('"+1e-1"', '"-1"'), ('ixx="+1e-1"', ""), ('<mass value="1."/>', ""),
                       ('value="1."', "")):
            self.refuse(robot(*ARM).replace(*change), 422, "bad-inertia" if "-1" in change[1] else "missing-field",
                        'link "b"')

    def test_planar_joint(self):
        """The axis of a planar joint is its normal; settings for a single coordinate are reported and dropped."""
        inside = '<axis xyz="0 0 1"/><dynamics damping="2"/><limit effort="1" velocity="1"/>'
        answer = self.put_urdf("planar", robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", inside, "planar")))
        report = self.ok(answer, 201)["report"]
        for dropped in ("dynamics", "limit"):
            self.assertTrue(any(f"<{dropped}>" in entry["text"] for entry in report), report)
        model = self.ok(self.client.get("/v1/models/planar"))
        self.assertEqual(model["position_names"], ["j.x", "j.y", "j.angle"])

    def test_joint_types(self):
        """Joint types that only documents have are no types of URDF, which could not give a pitch."""
        for kind in ("ball", "helical", "universal", "Revolute"):
            problem = self.refuse(robot(link("a"), link("b"), joint("j", "a", "b", kind=kind)), 422, "bad-value", f'"{kind}"')
            self.assertIn("not a joint type of URDF", problem["detail"])
        answer = self.put_urdf("floats", robot(link("a"), link("b", INERTIAL), joint("j", "a", "b", kind="floating")))
        self.assertEqual(self.ok(answer, 201)["nv"], 6)

    def test_parameters(self):
        for query in ("?base=free", "?mimic=no", "?Base=fixed", "?base", "?mimic=coupled&mimic=coupled", "?x=1", "?&"):
            self.assertProblem(self.put_urdf("refused", robot(*ARM), query), 422)
        for query in ("?base=%6", "?base=%zzixed", "?base=fixed%00", "?ba%2", "?base=fi+xed", "?b%61ze=fixed",
                      "?base=%ff"):
            self.assertProblem(self.put_urdf("refused", robot(*ARM), query), 422)
        self.assertProblem(self.client.put("/v1/models/refused?base=fixed", {"links": []}), 422)
        self.assertProblem(self.client.get("/v1/models/puma560?base=fixed"), 422)
        mimic = robot(*ARM, link("c", INERTIAL), joint("k", "b", "c", '<mimic joint="j"/>'))
        self.refuse(mimic, 422, "not-supported", "mimic=refuse", query="?mimic=refuse")
        self.refuse(mimic.replace('mimic joint="j"', 'mimic joint="x"'), 422, "unknown-name", '"x"',
                    query="?mimic=coupled")
        self.refuse(mimic.replace('mimic joint="j"', 'mimic joint="k"'), 422, "bad-model", "in turn",
                    query="?mimic=coupled")

    def test_another_outermost_element_is_told_whatever_the_query(self):
        """A part of a file of MuJoCo, sent with a parameter of MJCF, is no URDF file with an unknown parameter."""
        for query in ("", "?equality=independent"):
            self.refuse("<mujocoinclude><worldbody/></mujocoinclude>", 422, "bad-model", "<mujocoinclude> is a part", query=query)
        self.refuse(robot(*ARM), 422, "unknown-parameter", "equality", query="?equality=independent")

    def test_media_types(self):
        text = robot(*ARM).encode()
        for kind in ("text/xml", "application/xml; charset=UTF-8", "Application/XML", "application/urdf+xml"):
            answer = self.client.put("/v1/models/typed", text, Content_Type=kind)
            self.assertIn(answer.status, (200, 201), answer)
            self.assertEqual(answer.headers.get_content_type(), "application/json")
        for kind in ("application/xml; charset=latin-1", "application/mujoco", "image/svg+xml"):
            self.assertProblem(self.client.put("/v1/models/refused", text, Content_Type=kind), 415)
        self.assertProblem(self.client.post("/v1/models/puma560/bias", text, Content_Type="application/xml"), 415)
        self.assertProblem(self.client.put("/v1/models/refused", text, Content_Type="application/xml",
                                           Accept="application/xml"), 406)

    def test_a_bad_file_never_replaces_a_good_one(self):
        good = self.take("steady", robot(*ARM))
        for bad in ("<robot", robot(), robot(*ARM).replace("1.", "nan")):
            self.assertGreaterEqual(self.put_urdf("steady", bad).status, 400)
            self.assertEqual(self.ok(self.client.get("/v1/models/steady"))["revision"], good["revision"])


if __name__ == "__main__":
    tap.main()
