"""Tests refusals that follow from the head of a request, before its body is read: targets, methods, media types, and the order of these
checks."""
import http.client
import json

import tap
from errors import ErrorCase, whole_run_shows
from samples import pendulum


def tearDownModule():
    whole_run_shows("test_head_errors.py")


class Heads(ErrorCase):
    PATH = "/v1/models/slider/inverse-dynamics"
    REQUEST = '{"q":[0]}'

    def test_not_found(self):
        for path in ("/v2", "/v1/model", "/v1/models/none", "/v1/models/none/document",
                     "/v1/models/slider/document/x", "/v1//models", "/%2fv1", "/v1%2fmodels", "/v1/models/%00",
                     "/v1/models/a%", "/v1/models/slider%00", "/problems/none", "/problems", "/v1/models/..%2fx",
                     "/v1/models/slider/../slider", "//"):
            self.refused(path, None, 404, method="GET")
        self.refused("/v1/models/none/mass-matrix", "{}", 404)
        for path in ("/v1/models/slider/no-such-operation", "/v1/models/slider/Mass-Matrix"):
            self.refused(path, "{}", 404, says=("the nearest are: ",))
        self.refused("/v1/models/none", None, 404, method="DELETE")

    def test_unknown_method(self):
        for method in ("BREW", "PROPFIND", "get", "TRACE"):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
            connection.request(method, "/v1")
            answer = connection.getresponse()
            body = answer.read()
            self.assertEqual(answer.status, 501, method)
            problem = json.loads(body)
            self.assertEqual((problem["status"], problem["code"]), (501, "method-unknown"))
            self.assertIn(f"method {method}", problem["detail"])
            connection.close()

    def test_query_parameters(self):
        self.refused(self.PATH + "?verbose=1", self.REQUEST, 422, says="verbose")
        self.refused("/v1/models?x", None, 422, method="GET")
        many = lambda n: self.PATH + "?" + "&".join(f"p{i}={i}" for i in range(n))
        self.refused(many(32), self.REQUEST, 422, says="p0")
        self.refused(many(33), self.REQUEST, 414, says="more than 32 parameters")
        self.refused("/v1/models/x?name=y", pendulum(), 422, method="PUT")

    def test_content_types(self):
        for given in ("application/json", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"",
                      "APPLICATION/JSON"):
            answer = self.client.post(self.PATH, self.REQUEST, Content_Type=given)
            self.assertEqual(answer.status, 200, given)
        self.assertEqual(self.client.post(self.PATH, self.REQUEST).status, 200, "absent is JSON")
        for given in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", "json",
                      "application/jsonp", "text/html"):
            self.refused(self.PATH, self.REQUEST, 415, Content_Type=given)
            self.refused("/v1/models/x", pendulum(), 415, method="PUT", Content_Type=given)
        for given in ("gzip, gzip", "br"):
            self.refused(self.PATH, self.REQUEST, 415, Content_Encoding=given)

    def test_accept(self):
        for given in ("*/*", "application/*", "application/json", "text/html, application/json;q=0.1",
                      "text/html, */*;q=0.1"):
            answer = self.client.post(self.PATH, self.REQUEST, Accept=given)
            self.assertEqual(answer.status, 200, given)
            self.assertEqual(answer.headers.get_content_type(), "application/json")
        for given in ("text/html", "application/json;q=0", "image/*",
                      "application/json;q=0, application/cbor;q=0, application/vnd.msgpack;q=0, */*"):
            self.refused(self.PATH, self.REQUEST, 406, Accept=given)
        self.refused("/v1/models", None, 406, method="GET", Accept="text/html")
        self.assertEqual(self.client.get("/livez", Accept="text/html").status, 200, "406 under /v1 only")

    def test_request_timeout(self):
        for given in ("soon", "-1", "", "1s", "nan", "inf", "1e", "0x1"):
            self.refused(self.PATH, self.REQUEST, 400, Request_Timeout=given)
        for given in ("1", "0.5", "100000"):
            self.assertEqual(self.client.post(self.PATH, self.REQUEST, Request_Timeout=given).status, 200)

    def test_order_of_decisions(self):
        """The server checks 404 before 405 before 406 and 415, and all of these before the body."""
        self.refused("/v1/models/none/mass-matrix", "{", 404, Content_Type="text/plain", Accept="text/html")
        self.refused(self.PATH, "{", 405, method="PUT", Content_Type="text/plain", Accept="text/html")
        self.refused(self.PATH, "{", 415, Content_Type="text/plain")
        self.refused(self.PATH, "{", 406, Accept="text/html")


if __name__ == "__main__":
    tap.main()
