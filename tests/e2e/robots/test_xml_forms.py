"""Tests files that are not well-formed XML in ways which change no element, and which other readers of robots accept:
in every format the model is that of the well-formed file. Entities are always refused."""
import tap
from test_archives import ZIP, as_zip
from urdf import ARM, UrdfCase, robot

URDF = robot(*ARM)
SDF = ("<sdf version='1.9'><model name='m'><link name='a'/><link name='b'><inertial><mass>2</mass></inertial></link><joint name='j' "
       "type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>")
MJCF = "<mujoco><worldbody><body name='b'><joint name='j' axis='0 1 0'/><geom size='.1'/></body></worldbody></mujoco>"
FORMATS = (URDF, SDF, MJCF)


class Forms(UrdfCase):
    def check(self, change):
        for text in FORMATS:
            plain, changed = self.take("plain", text), self.take("changed", change(text))
            self.assertEqual(plain["revision"], changed["revision"], change(text)[:200])

    def test_before_the_declaration(self):
        for before in ("", "\n", " \r\n\t ", "<!-- c -->", "\n<!-- a\n -- b -->\n", "\ufeff", "\ufeff\n", "<!-- <?xml -->"):
            for declaration in ("<?xml version='1.0'?>", '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>\n'):
                self.check(lambda text: before + declaration + text)

    def test_versions_of_xml(self):
        for version in ("0.0", "1.0", "1.1", "1", "", "2.0", "one"):
            self.check(lambda text: f'<?xml version="{version}" ?>{text}')
        self.check(lambda text: f'<?xml encoding="utf-8"?>{text}')

    def test_comments(self):
        for comment in ("<!-- a -- b -->", "<!------->", "<!-- a --- -->", "<!-- -- -- -->", "<!--> -->", "<!-- <a b='-->",
                        "<!-- \u00e9 -- \n -->", "<!-- \x01 -->"):
            self.check(lambda text: comment + text + comment)
            self.check(lambda text: text.replace("><", f">{comment}<"))

    def test_attributes_without_a_space_between(self):
        for quote, other in (("'", '"'), ('"', "'")):
            pair = f"name={quote}b{quote}type={quote}revolute{quote}"
            text = URDF.replace("<joint name='j' type='revolute'>", "<joint name='j'type='revolute'>").replace(
                '<joint name="j" type="revolute">', '<joint name="j"type="revolute">')
            self.assertNotEqual(text, URDF)
            self.assertEqual(self.take("plain", URDF)["revision"], self.take("changed", text.replace("'", "\0").replace('"', "\0").replace("\0", quote))["revision"])
        for text, changed in ((SDF, SDF.replace("'j' type", "'j'type")), (MJCF, MJCF.replace("'j' axis", "'j'axis")),
                              (MJCF, MJCF.replace("'j' axis='0 1 0'/>", "'j'axis='0 1 0'pos='0 0 0'/>"))):
            self.assertNotEqual(text, changed)
            self.assertEqual(self.take("plain", text)["revision"], self.take("changed", changed)["revision"])

    def test_values_get_no_spaces(self):
        """Quotes in values, text, comments and CDATA separate nothing."""
        named = MJCF.replace("name='b'", "name='b\"c\"d'")
        self.take("quoted", named.replace("<worldbody>", "<!-- a='b'c --><worldbody>").replace("'j' axis", "'j'axis"))
        self.assertIn('b"c"d', [j["link"] for j in self.ok(self.client.get("/v1/models/quoted"))["joints"]])

    def test_text_before_the_first_element(self):
        """By Content-Type and first byte a body counts as XML or JSON: text before the XML of a file is reported as such, not as bad JSON."""
        for text in FORMATS:
            for before in ("?xml version='1.0'?>", "x", " Copyright "):
                problem = self.assertProblem(self.client.put("/v1/models/m", (before + text).encode()), 400)
                self.assertIn("before the first <", problem["detail"], before)
        problem = self.assertProblem(self.client.put("/v1/models/m", b'{"name": "<robot>"'), 400)
        self.assertEqual(problem["code"], "bad-json")

    def test_comments_hide_nothing(self):
        """Comment delimiters inside an attribute, CDATA or a processing instruction start no comment."""
        named = URDF.replace('link name="b"', 'link name="b&lt;!--"').replace('child link="b"', 'child link="b&lt;!--"')
        self.take("quoted", named + "<!-- -- -->")
        self.assertIn("b<!--", [j["link"] for j in self.ok(self.client.get("/v1/models/quoted"))["joints"]])
        name = "b<!-- -- -->"
        self.take("cdata", SDF.replace("'b'", "'b&lt;!-- -- --&gt;'").replace("<child>b<", f"<child><![CDATA[{name}]]><"))
        self.assertIn(name, [j["link"] for j in self.ok(self.client.get("/v1/models/cdata"))["joints"]])
        self.check(lambda text: "<?p <!-- ?>" + text + "<!-- -- -->")
        self.check(lambda text: text.replace("<", "<![CDATA[<!-- -- ]]><", 2).replace("<![CDATA[<!-- -- ]]>", "", 1)
                   if text.startswith("<robot") else text)
        for text in FORMATS:
            self.refuse(text + "<!-- -- ", 400, "bad-xml")

    def test_document_types(self):
        for doctype in ("<!DOCTYPE {}>", "<!DOCTYPE {}  >\n", "<!DOCTYPE\n{}>", "<?xml version='1.0'?>\n<!DOCTYPE {}>"):
            self.check(lambda text: doctype.format(text[1:text.index(">")].split()[0]) + text)

    def test_document_types_with_subsets_stay_refused(self):
        for doctype in ("<!DOCTYPE r []>", "<!DOCTYPE r [<!ENTITY a 'b'>]>", "<!DOCTYPE r SYSTEM 'file:///etc/passwd'>",
                        "<!DOCTYPE r PUBLIC 'a' 'http://127.0.0.1:1/x'>", "<!DOCTYPE r\n [ <!-- > --> ]>",
                        "<!-- -- --><!DOCTYPE r SYSTEM 'x' []>", "<!DOCTYPE r [<!-- -- --> <!ENTITY % p SYSTEM 'x'> %p;]>"):
            for text in FORMATS:
                self.refuse(doctype + text, 422, "not-supported")

    def test_latin_1(self):
        for name in ("ISO-8859-1", "iso-8859-1", "latin1"):
            for quote in "'\"":
                head = f"<?xml version='1.0' encoding={quote}{name}{quote}?>"
                for text in FORMATS:
                    given = (head + text + "<!-- L\u00e4nge -->").encode("latin-1")
                    self.assertEqual(self.take("plain", text)["revision"], self.take("latin", given)["revision"])
        named = ('<?xml version="1.0" encoding="ISO-8859-1"?>' + URDF.replace('"b"', '"b\u00fc\u00df"')).encode("latin-1")
        self.take("named", named)
        self.assertIn("b\u00fc\u00df", [j["link"] for j in self.ok(self.client.get("/v1/models/named"))["joints"]])

    def test_other_encodings_stay_refused(self):
        """A file is UTF-8 unless it declares Latin-1; the problem tells how to convert other encodings."""
        named = URDF.replace('"b"', '"b\u00fc"').encode("latin-1")
        for head in (b"", b'<?xml version="1.0"?>', b'<?xml version="1.0" encoding="UTF-8"?>', b'<?xml version="1.0" encoding="windows-1252"?>'):
            self.refuse(head + named, 400, "bad-xml", "not UTF-8", "iconv -f ISO-8859-1 -t UTF-8")

    def test_places_of_problems_stay(self):
        """Line numbers in problems are those of the original file."""
        text = "\n<!-- -- \n -->\n<?xml version='0.0'?>\n" + URDF.replace("1.", "x")
        self.refuse(text, 422, "wrong-type", "line 5")
        problem = self.refuse("\n<?xml version='0.0'?><robot></link>", 400, "bad-xml", "line 2")
        self.assertGreater(problem["offset"], 20)

    def test_elements_are_a_hundred_deep(self):
        """The limit is 100 levels; the deepest published models, of animals, have 41. Elements of included files count too, so that no
        recursion grows with the number of files."""
        def bodies(n, name, inner=""):
            return "".join(f"<body name='{name}{i}'><joint/><geom size='.1'/>" for i in range(n)) + inner + "</body>" * n
        self.assertEqual(self.take("deep", f"<mujoco><worldbody>{bodies(97, 'b')}</worldbody></mujoco>")["nv"], 97)
        self.refuse(f"<mujoco><worldbody>{bodies(99, 'b')}</worldbody></mujoco>", 400, "too-deep", "100")
        for n, status in ((40, 201), (60, 400)):
            files = {"m.xml": f"<mujoco><worldbody>{bodies(n, 'b', '<include file=' + chr(34) + 'i.xml' + chr(34) + '/>')}</worldbody></mujoco>",
                     "i.xml": f"<mujocoinclude>{bodies(40, 'c')}</mujocoinclude>"}
            answer = self.client.request("PUT", f"/v1/models/include{n}", as_zip(files), {"Content-Type": ZIP})
            self.assertEqual(answer.status, status, answer)
        def model(name, inner):
            return f"<model name='{name}'><link name='a'/>{inner}</model>"
        nested = model("m", "")
        for _ in range(40):
            nested = model("m", nested)
        for n, status in ((30, 201), (65, 400)):
            outer = "<include><uri>i.sdf</uri></include>"
            for _ in range(n):
                outer = model("m", outer)
            files = {"m.sdf": f"<sdf version='1.9'>{outer}</sdf>", "i.sdf": f"<sdf version='1.9'>{nested}</sdf>"}
            answer = self.client.request("PUT", f"/v1/models/nested{n}", as_zip(files), {"Content-Type": ZIP})
            self.assertEqual(answer.status, status, answer)


if __name__ == "__main__":
    tap.main()
