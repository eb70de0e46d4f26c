"""Tests models as HTTP resources: put, get, list, replace, delete, revisions and preconditions, and the resources of
the service."""
import json

import tap
from harness import ServerCase
from samples import THREE_LINK, body, branched, chain, pendulum, slider
from threads import in_threads, meanwhile


class Resources(ServerCase):
    def test_create_and_replace(self):
        answer = self.client.put("/v1/models/fresh", pendulum())
        created = self.ok(answer, 201)
        self.assertEqual(answer.headers["Location"], "/v1/models/fresh")
        self.assertEqual({k: created[k] for k in ("name", "nq", "nv")}, {"name": "fresh", "nq": 1, "nv": 1})
        self.assertIsInstance(created["report"], list)
        again = self.ok(self.client.put("/v1/models/fresh", pendulum()), 200)
        self.assertEqual(again["revision"], created["revision"])
        other = self.ok(self.client.put("/v1/models/fresh", pendulum(3)), 200)
        self.assertNotEqual(other["revision"], created["revision"])

    def test_get(self):
        for base, nq, nv in (("fixed", 4, 4), ("floating", 11, 10)):
            put = self.put_model("got", branched(base))
            answer = self.client.get("/v1/models/got")
            model = self.ok(answer)
            self.assertEqual(answer.headers.get_content_type(), "application/json")
            self.assertEqual((model["nq"], model["nv"], model["revision"]), (nq, nv, put["revision"]))
            self.assertEqual(answer.headers["ETag"], f'"{put["revision"]}"')
            self.assertEqual(model["links"], ["torso", "upper", "fore", "gripper", "finger", "thigh"])
            bodies = ["upper", "fore", "finger", "thigh"]
            self.assertEqual(model["bodies"], (["torso"] if base == "floating" else []) + bodies)
            names = [frame["name"] if isinstance(frame, dict) else frame for frame in model["frames"]]
            self.assertIn("tool", names)
            joints = {joint["name"]: joint for joint in model["joints"]}
            self.assertLessEqual({"shoulder", "elbow", "grasp", "hip"}, set(joints))
            self.assertEqual([joints[n]["type"] for n in ("shoulder", "elbow", "grasp", "hip")],
                             ["revolute", "continuous", "prismatic", "revolute"])
            self.assertEqual(joints["shoulder"]["limits"]["position"], [-3, 3])
            self.assertEqual(model["gravity"], [0, 0, -9.81])
            self.assertClose(model["mass"], 7.1 + (8 if base == "floating" else 0), 1e-15)
            self.assertEqual(model["report"], put["report"])

    def test_report_tells_of_merged_and_suspicious(self):
        document = branched()
        document["links"][4]["inertial"] = {"mass": 0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
        document["links"][0]["inertial"]["inertia"] = {"xx": 1, "yy": 0.1, "zz": 0.1}
        report = self.put_model("reported", document)["report"]
        for entry in report:
            self.assertLessEqual({"severity", "code", "where", "text"}, set(entry))
        for index, link in ((0, "upper"), (2, "gripper"), (4, "thigh")):
            told = [entry for entry in report if f"/links/{index}" in entry["where"] or link in entry["text"]]
            self.assertTrue(told, f"nothing about {link} in {report}")

    def test_the_path_names_the_model(self):
        answer = self.put_model("by_path", branched())
        self.assertEqual(answer["name"], "by_path")
        self.assertIn("branched", json.dumps(answer["report"]))
        self.assertEqual(self.ok(self.client.get("/v1/models/by_path/document"))["name"], "by_path")

    def test_list(self):
        put = self.put_model("listed", branched("floating"))
        models = self.ok(self.client.get("/v1/models"))["models"]
        mine = [model for model in models if model["name"] == "listed"]
        self.assertEqual(mine, [{"name": "listed", "revision": put["revision"], "nq": 11, "nv": 10, "bodies": 5,
                                 "base": "floating"}])

    def test_the_list_has_descriptions(self):
        for description, listed in (("A hinge <b>&</b> a rod.", "A hinge <b>&</b> a rod."), ("", ""), ("x" * 2000, "x" * 2000),
                                    ("x" * 5000, "x" * 2000), ("é" * 1500, "é" * 1000), ("x" + "é" * 1500, "x" + "é" * 999),
                                    ("x" * 1998 + "\U0001f916", "x" * 1998)):
            self.put_model("described", pendulum() | {"description": description})
            models = {model["name"]: model for model in self.ok(self.client.get("/v1/models"))["models"]}
            self.assertEqual(models["described"]["description"], listed)
            self.assertEqual(self.ok(self.client.get("/v1/models/described/document"))["description"], description)
        for name, model in models.items():
            document = self.ok(self.client.get(f"/v1/models/{name}/document"))
            self.assertEqual("description" in model, "description" in document, name)

    def test_the_document_is_a_fixed_point(self):
        for name, document in (("a", branched()), ("b", branched("floating")), ("c", THREE_LINK), ("d", chain(40)),
                               ("e", pendulum())):
            put = self.put_model(name, document)
            canonical = self.ok(self.client.get(f"/v1/models/{name}/document"))
            again = self.put_model(name, canonical)
            self.assertEqual(again["revision"], put["revision"])
            other = self.put_model(name + "-copy", canonical)
            self.assertEqual(other["revision"], put["revision"], "the name is no part of the revision")
            state = {"q": [0.3] * put["nv"]} if put["nq"] == put["nv"] else {"q": [0, 0, 0, 0, 0, 0, 1, 1, 2, 0.1, 3]}
            self.assertEqual(self.ask_texts(name, "mass-matrix", state),
                             self.ask_texts(name + "-copy", "mass-matrix", state))

    def test_bundled_documents_are_fixed_points(self):
        for model in self.ok(self.client.get("/v1/models"))["models"]:
            document = self.ok(self.client.get(f"/v1/models/{model['name']}/document"))
            self.assertEqual(self.put_model("copied", document)["revision"], model["revision"], model["name"])

    def test_delete(self):
        self.put_model("gone", pendulum())
        answer = self.client.delete("/v1/models/gone")
        self.assertEqual((answer.status, answer.body), (204, b""))
        self.assertProblem(self.client.get("/v1/models/gone"), 404)
        self.assertProblem(self.client.delete("/v1/models/gone"), 404)
        self.assertProblem(self.client.post("/v1/models/gone/mass-matrix", {"q": [0]}), 404)
        self.assertNotIn("gone", [m["name"] for m in self.ok(self.client.get("/v1/models"))["models"]])

    def test_a_bundled_model_can_be_replaced_and_deleted(self):
        was = self.ok(self.client.get("/v1/models/stanford/document"))
        self.ok(self.client.put("/v1/models/stanford", pendulum()))
        self.assertEqual(self.ok(self.client.get("/v1/models/stanford"))["nv"], 1)
        self.assertEqual(self.client.delete("/v1/models/stanford").status, 204)
        self.assertEqual(self.client.get("/v1/models/stanford").status, 404)
        self.ok(self.client.put("/v1/models/stanford", was), 201)

    def test_a_bad_document_never_replaces_a_good_one(self):
        self.put_model("good", pendulum())
        before = self.ok(self.client.get("/v1/models/good"))
        for bad, status in (("{", 400), ("{}", 422), ({"links": [{"name": "x"}]}, 422), ("[]", 422), ("", 400)):
            self.assertProblem(self.client.put("/v1/models/good", bad), status)
        self.assertEqual(self.ok(self.client.get("/v1/models/good")), before)

    def test_names(self):
        for name in ("a", "Z9", "a.b-c_d", "0", "x" * 64):
            self.ok(self.client.put(f"/v1/models/{name}", pendulum()), 201)
            self.ok(self.client.get(f"/v1/models/{name}"))
        self.ok(self.client.get("/v1/models/%61"))
        for name in ("x" * 65, ".a", "-a", "_a", "a%20b", "a%C3%A9", "%00", "a%00", "a%2fb", "a%2Fb", "%zz", "a%4", ""):
            self.assertIn(self.client.put(f"/v1/models/{name}", pendulum()).status, (404, 405, 422), name)
        for name in ("a%00", "a%2fb", "a%zz"):
            self.assertProblem(self.client.get(f"/v1/models/{name}"), 404)

    def test_names_of_any_length_get_the_same_refusal(self):
        """A name in the path may have any length: PUT refuses a long one with bad-name, the other methods say that there is no such model."""
        for length in (65, 126, 127, 128, 129, 255, 256, 1000, 4000):
            for name in ("n" * length, "%6E" * min(length, 1000)):
                problem = self.assertProblem(self.client.put(f"/v1/models/{name}", pendulum()), 422)
                self.assertEqual(problem["code"], "bad-name", length)
                for answer in (self.client.get(f"/v1/models/{name}"), self.client.delete(f"/v1/models/{name}"),
                               self.client.post(f"/v1/models/{name}/bias", {"q": [0]})):
                    self.assertEqual(self.assertProblem(answer, 404)["code"], "no-such-model", length)
        self.assertProblem(self.client.get("/v1/models/" + "n" * 300 + "%2"), 404)
        self.assertEqual(self.assertProblem(self.client.get("/" + "n" * 300), 404)["code"], "no-such-path")

    def test_any_text_may_name_a_link(self):
        """Names may contain quotes, escapes and any script: as keys of a state, in answers and in pointers."""
        names = ['a"b\\c', "/~", "\u2028", "\u65e5\u672c", "a b", "{}[],:", "\U0001f9be", "%41"]
        links = [{"name": name, "parent": names[i - 1] if i else "base", "inertial": body(1),
                  "joint": {"name": "j" + name, "type": "revolute", "axis": [0, 0, 1]}} for i, name in enumerate(names)]
        self.put_model("texts", {"links": links})
        joints = ["j" + name for name in names]
        self.assertEqual(self.ok(self.client.get("/v1/models/texts"))["velocity_names"], joints)
        q = dict.fromkeys(joints, 0.5)
        answer = self.ask("texts", "kinematics", {"q": q, "frames": names})
        self.assertEqual(list(answer["poses"]), names)
        self.assertProblem(self.client.post("/v1/models/texts/bias", {"q": {**q, "j/~": "x"}}), 422, "/q/j~1~0")

    def test_requests_in_flight_keep_the_model_they_began_with(self):
        """Two documents replace each other under load: every answer belongs to one of them and names its revision."""
        tau = {}
        for mass in (1, 2):
            revision = self.put_model("turning", slider(mass))["revision"]
            tau[revision] = [mass * 3] * 200
        seen = set()

        def asker():
            client = self.server.client()
            self.addCleanup(client.close)

            def ask():
                answer = client.post("/v1/models/turning/inverse-dynamics", {"q": [[0]] * 200, "qdd": [3]})
                revision = answer.headers.get("Model-Revision")
                self.assertEqual([row[0] for row in self.ok(answer)["tau"]], tau[revision])
                seen.add(revision)
            return ask

        with meanwhile([asker() for _ in range(4)]):
            for i in range(200):
                self.put_model("turning", slider(1 + i % 2))
        self.assertEqual(seen, set(tau))


class Preconditions(ServerCase):
    def setUp(self):
        self.client.delete("/v1/models/m")
        self.revision = self.put_model("m", pendulum())["revision"]
        self.etag = f'"{self.revision}"'

    def test_if_none_match_on_get(self):
        for given, status in ((self.etag, 304), ("*", 304), ('"other"', 200), (f'"a", {self.etag}', 304),
                              (f"W/{self.etag}", 304)):
            answer = self.client.get("/v1/models/m", If_None_Match=given)
            self.assertEqual(answer.status, status, given)
            self.assertEqual(answer.headers["ETag"], self.etag)
            if status == 304:
                self.assertEqual(answer.body, b"")

    def test_if_match_on_get(self):
        self.assertEqual(self.client.get("/v1/models/m", If_Match=self.etag).status, 200)
        self.assertProblem(self.client.get("/v1/models/m", If_Match='"other"'), 412)

    def test_creating_only(self):
        self.assertProblem(self.client.put("/v1/models/m", pendulum(9), If_None_Match="*"), 412)
        self.assertEqual(self.ok(self.client.get("/v1/models/m"))["revision"], self.revision)
        self.client.delete("/v1/models/m")
        self.ok(self.client.put("/v1/models/m", pendulum(), If_None_Match="*"), 201)

    def test_replacing_only_what_one_has_seen(self):
        self.assertProblem(self.client.put("/v1/models/m", pendulum(9), If_Match='"stale"'), 412)
        self.assertProblem(self.client.put("/v1/models/none", pendulum(9), If_Match="*"), 412)
        self.assertEqual(self.client.get("/v1/models/none").status, 404)
        self.ok(self.client.put("/v1/models/m", pendulum(9), If_Match=f'"x", {self.etag}'), 200)
        self.assertProblem(self.client.put("/v1/models/m", pendulum(), If_Match=self.etag), 412)

    def test_a_weak_tag_never_matches_if_match(self):
        self.assertProblem(self.client.put("/v1/models/m", pendulum(9), If_Match="W/" + self.etag), 412)

    def test_deleting(self):
        self.assertProblem(self.client.delete("/v1/models/m", If_Match='"stale"'), 412)
        self.ok(self.client.get("/v1/models/m"))
        self.assertEqual(self.client.delete("/v1/models/m", If_Match=self.etag).status, 204)

    def test_asking(self):
        request = {"q": [0.5]}
        answer = self.client.post("/v1/models/m/inverse-dynamics", request, If_Match=self.etag)
        self.ok(answer)
        self.assertEqual(answer.headers["Model-Revision"].strip('"'), self.revision)
        self.put_model("m", pendulum(9))
        self.assertProblem(self.client.post("/v1/models/m/inverse-dynamics", request, If_Match=self.etag), 412)

    def test_decided_before_the_body_is_parsed_and_after_what_the_head_says(self):
        self.assertProblem(self.client.put("/v1/models/m", "{", If_Match='"stale"'), 412)
        self.assertProblem(self.client.post("/v1/models/m/mass-matrix", "{", If_Match='"stale"'), 412)
        self.assertProblem(self.client.put("/v1/models/m", "{", If_Match='"stale"', Content_Type="text/plain"), 415)
        self.assertProblem(self.client.post("/v1/models/m/nothing", "{", If_Match='"stale"'), 404)

    def test_one_of_many_creators_wins(self):
        self.client.delete("/v1/models/m")

        def create(_):
            client = self.server.client()
            self.addCleanup(client.close)
            return client.put("/v1/models/m", pendulum(), If_None_Match="*").status

        self.assertEqual(sorted(in_threads(16, create)), [201] + [412] * 15)


class Methods(ServerCase):
    PATHS = {"/v1": "GET", "/v1/models": "GET", "/v1/models/puma560": "GET PUT DELETE",
             "/v1/models/puma560/document": "GET", "/v1/models/puma560/inverse-dynamics": "POST",
             "/v1/models/puma560/evaluate": "POST", "/livez": "GET", "/readyz": "GET", "/openapi.json": "GET"}

    def test_options_tell_what_is_allowed(self):
        for path, methods in self.PATHS.items():
            answer = self.client.request("OPTIONS", path)
            self.assertEqual((answer.status, answer.body), (204, b""), path)
            allowed = set(re_split(answer.headers["Allow"]))
            expected = set(methods.split()) | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
            self.assertEqual(allowed, expected, path)

    def test_other_methods_are_405(self):
        for path, methods in self.PATHS.items():
            for method in {"GET", "PUT", "POST", "DELETE"} - set(methods.split()):
                answer = self.client.request(method, path, None if method in ("GET", "DELETE") else "{}")
                self.assertProblem(answer, 405)
                self.assertIn(methods.split()[0], re_split(answer.headers["Allow"]))

    def test_head_is_get_without_a_body(self):
        for path, methods in self.PATHS.items():
            if "GET" in methods:
                get, head = self.client.get(path), self.client.request("HEAD", path)
                self.assertEqual((head.status, head.body), (get.status, b""), path)
                for header in ("Content-Type", "Content-Length", "ETag"):
                    self.assertEqual(head.headers[header], get.headers[header], f"{path} {header}")
            else:
                self.assertEqual(self.client.request("HEAD", path).status, 405)

    def test_head_of_an_error(self):
        answer = self.client.request("HEAD", "/v1/models/none")
        self.assertEqual((answer.status, answer.body), (404, b""))


class Service(ServerCase):
    def test_version(self):
        version = self.ok(self.client.get("/v1"))
        self.assertEqual(version["name"], "torqued")
        self.assertRegex(version["version"], r"^[0-9]+\.[0-9]+\.[0-9]+")
        operations = json.dumps(version["operations"])
        for name in ("inverse-dynamics", "forward-dynamics", "mass-matrix", "bias", "kinematics", "energy", "evaluate"):
            self.assertIn(name, operations)
        self.assertTrue(version["limits"])
        self.assertIn(100000, [v for v in version["limits"].values() if v >= 1e5 and v < 1e5 + 1], "the angle limit")

    def test_alive_and_ready(self):
        for path in ("/livez", "/readyz"):
            self.assertEqual(self.client.get(path).status, 200)

    def test_the_contract(self):
        contract = self.ok(self.client.get("/openapi.json"))
        self.assertTrue(contract["openapi"].startswith("3.1"))
        self.assertIn("/v1/models/{model}", contract["paths"])

    def test_not_yet(self):
        for path in ("/metrics", "/docs", "/"):
            self.assertIn(self.client.get(path).status, (200, 404))

    def test_request_ids(self):
        for path in ("/v1", "/nothing", "/livez"):
            mine = self.client.get(path, Request_Id="my-id.42")
            self.assertEqual(mine.headers["Request-Id"], "my-id.42")
        one, two = (self.client.get("/v1").headers["Request-Id"] for _ in range(2))
        self.assertTrue(one and two and one != two)
        odd = self.client.get("/v1", Request_Id="a b\"<script>" + "x" * 500)
        self.assertEqual(odd.status, 200)
        self.assertTrue(odd.headers["Request-Id"])
        self.assertNotIn("script", odd.headers["Request-Id"])


def re_split(allow):
    return [method.strip() for method in allow.split(",")]


if __name__ == "__main__":
    tap.main()
