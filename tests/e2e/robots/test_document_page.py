"""Tests the page about model documents: each example loads, fits the JSON schema that the server serves, and gives the answer that
the page shows; every type of joint has an example with a drawing."""
import json
import os
import re
import sys
import xml.etree.ElementTree

import jsonschema
import tap
from harness import ROOT, ServerCase

sys.path.insert(0, os.path.join(ROOT, "api/document"))
import page  # noqa: E402


class DocumentPage(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(os.path.join(ROOT, "api/openapi.yaml"), encoding="utf-8") as file:
            cls.contract = page.Contract(file)
        cls.examples = page.examples()

    def close(self, answer, expected, place):
        """Compares numbers up to rounding errors, since their last bits depend on the arithmetic class."""
        if isinstance(expected, dict):
            self.assertEqual(set(answer), set(expected), place)
            for key in expected:
                self.close(answer[key], expected[key], f"{place}/{key}")
        elif isinstance(expected, list):
            self.assertEqual(len(answer), len(expected), place)
            for i, value in enumerate(expected):
                self.close(answer[i], value, f"{place}/{i}")
        else:
            self.assertAlmostEqual(answer, expected, delta=1e-11 * max(1, abs(expected)), msg=place)

    def test_examples_give_the_answers_that_are_shown(self):
        for example in self.examples:
            with self.subTest(example=example["name"]):
                self.assertEqual(self.client.put(f"/v1/models/{example['name']}", example["document"]).status, 201)
                answer = self.client.post(f"/v1/models/{example['name']}/{example['operation']}", example["body"])
                self.assertEqual(answer.status, 200, answer.body)
                self.close(answer.json(), example["answer"], "")

    def test_two_forms_of_one_frame_agree(self):
        """The page's examples of DH and of modified DH parameters describe the same robot, and so do the examples of xyz with rpy and of a
        matrix."""
        named = {example["name"]: example for example in self.examples}
        self.close(named["dh"]["answer"], named["modified_dh"]["answer"], "")
        self.close(named["xyz_rpy"]["answer"], named["matrix"]["answer"], "")

    def test_the_served_schema_tells_good_documents_from_bad_ones(self):
        schema = self.client.get("/document.schema.json").json()
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for example in self.examples:
            validator.validate({"$schema": "http://127.0.0.1:8088/document.schema.json", **example["document"]})
        for name in os.listdir(os.path.join(ROOT, "models")):
            if name.endswith(".json"):
                with open(os.path.join(ROOT, "models", name), encoding="utf-8") as file:
                    validator.validate(json.load(file))
        document = self.examples[0]["document"]
        for bad in ({}, {**document, "colour": "red"}, {**document, "$schema": 1}, {**document, "gravity": [0, 0]},
                    {"links": [{**document["links"][0], "joint": {"name": "hinge", "type": "hinge"}}]}):
            self.assertFalse(validator.is_valid(bad), bad)
            self.assertNotEqual(self.client.put("/v1/models/bad", bad).status, 201, bad)

    def test_the_note_for_editors_is_kept(self):
        note = {"$schema": "http://127.0.0.1:8088/document.schema.json"}
        self.assertEqual(self.client.put("/v1/models/noted", {**note, **self.examples[0]["document"]}).status, 201)
        self.assertEqual(self.client.get("/v1/models/noted/document").json()["$schema"], note["$schema"])

    def test_each_type_of_joint_is_drawn(self):
        types = set(self.contract.schemas["Joint"]["properties"]["type"]["enum"])
        shown = {link["joint"]["type"] for example in self.examples for link in example["document"].get("links", ())}
        self.assertEqual(types, {example["name"] for example in self.examples} & shown)
        self.assertEqual(set(page.DRAWINGS), {example["name"] for example in self.examples})
        text = self.client.get("/document", Accept="text/html").body.decode()
        pictures = re.findall("<svg .*?</svg>", text)
        self.assertEqual(len(pictures), len(self.examples))
        for picture in pictures:
            xml.etree.ElementTree.fromstring(picture)
        self.assertNotRegex(text, r"<script|<style| style=| on\w+=")

    def test_every_field_of_a_document_is_in_a_table(self):
        text = page.markdown(self.contract)
        for name in ("Tree", "Link", "Joint", "JointLimits", "Mimic", "Elastic", "Motor", "Transmission", "Loop", "Configuration", "Frame"):
            for field in self.contract.schemas[name]["properties"]:
                self.assertIn(f"| `{field}` |", text, name)


if __name__ == "__main__":
    tap.main()
