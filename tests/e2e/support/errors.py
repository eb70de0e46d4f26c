"""Robots and assertions for tests of errors: after each error the server must still answer, and each documented code
must be provoked by one test file."""
import sys

from harness import ServerCase
from samples import branched, pendulum, slider

# Codes that test_errors.py does not provoke, with the file that does.
ELSEWHERE = {
    **dict.fromkeys(("no-such-path", "no-such-model", "no-such-operation", "method-not-allowed", "unknown-parameter",
                     "unsupported-media-type", "not-acceptable", "bad-timeout"), "test_head_errors.py"),
    **dict.fromkeys(("body-too-large", "too-deep", "too-many-rows", "answer-too-large", "too-much-memory",
                     "store-full", "insufficient-storage"), "test_limits.py"),
    "bad-json": "test_syntax.py", "bad-cbor": "test_cbor_requests.py", "bad-msgpack": "test_msgpack.py", "bad-xml": "test_urdf_errors.py", "bad-archive": "test_archives.py",
    "bad-coding": "test_coded_bodies.py",
    "bad-request": "test_http.py, where the framing is broken",
    "misdirected-request": "test_host.py", "unauthorized": "test_access.py", "forbidden": "test_access.py", "request-timeout": "test_slow_peers.py", "uri-too-long": "test_http.py", "headers-too-large": "test_http.py",
    "precondition-failed": "test_models.py", "queue-full": "test_overload.py", "client-queue-full": "test_fairness.py", "too-many-requests": "test_client_rate_limits.py",
    "too-many-connections": "test_client_rate_limits.py", "deadline-passed": "test_overload.py",
    "memory-full": "test_overload.py", "draining": "test_process.py", "not-ready": "seen only while models load",
    "client-memory-full": "test_memory_shares.py",
    "contradictory-contacts": "test_contact.py", "held-frame-accelerates": "test_held_efforts.py", "infeasible-contacts": "test_held_efforts.py", "no-timing": "test_fastest_timing.py",
    "store-failed": "test_store.py", "audit-full": "test_log_limits.py", "bad-change": "test_shared_store.py",
    **dict.fromkeys(("suspicious", "no-effect"), "test_unit_warnings.py, as warnings of answers"),
    "change-pending": "test_shared_store.py", "internal-error": "a defect by definition", "model-damaged": "test_damaged_models.py"}
seen, documented = set(), set()


def codes_in(value):
    """Returns every member of every enumeration of `code` in the contract."""
    if isinstance(value, list):
        return set().union(*map(codes_in, value))
    if not isinstance(value, dict):
        return set()
    here = value.get("code", {})
    found = set(here.get("enum", ())) if isinstance(here, dict) else set()
    return found.union(*map(codes_in, value.values()))


def whole_run_shows(file):
    """Checks, from tearDownModule, that the file has provoked all codes of the contract that ELSEWHERE assigns to it."""
    if len(sys.argv) == 1:  # only if the whole file is run: single tests do not provoke all codes
        assert documented, "the contract lists no codes"
        missing = {code for code in documented - seen if ELSEWHERE.get(code, "test_errors.py") == file}
        assert not missing, f"never provoked: {sorted(missing)}"


class ErrorCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, document in (("arm", branched()), ("free", branched("floating")), ("slider", slider()),
                               ("pendulum", pendulum())):
            cls.client.put("/v1/models/" + name, document)
        documented.update(codes_in(cls.client.get("/openapi.json").json()))

    def assertProblem(self, *arguments, **named):
        problem = super().assertProblem(*arguments, **named)
        seen.add(problem["code"])
        return problem

    def tearDown(self):
        """Checks that the server still answers, and correctly."""
        answer = self.client.post("/v1/models/slider/inverse-dynamics", {"q": [0], "qdd": [2]})
        self.assertEqual((answer.status, answer.json()), (200, {"tau": [2]}))

    def refused(self, path, request, status=422, pointer=None, row=None, method="POST", says=(), **headers):
        """Checks that a request is refused with the status, with a documented code, and with a detail that contains
        each text of `says`."""
        answer = self.client.request(method, path, request, {k.replace("_", "-"): v for k, v in headers.items()})
        problem = {}
        with self.subTest(path=path, request=str(request)[:200]):
            problem = self.assertProblem(answer, status, pointer, row)
            explained = self.client.get(problem["type"])
            self.assertEqual(explained.status, 200, f"{problem['type']} is not explained")
            for text in [says] if isinstance(says, str) else says:
                self.assertIn(text, problem["detail"])
            return problem
