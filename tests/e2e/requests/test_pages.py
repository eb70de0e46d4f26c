"""Tests the server's pages for browsers: the embedded console and its files, pages about problems, and the headers that
protect and cache them. Clients of the API still get JSON at the same paths."""
import base64
import glob
import gzip
import hashlib
import html.parser
import io
import os
import re
import zipfile

import tap
from harness import ROOT, ServerCase

DIST = os.path.join(ROOT, "server", "console", "dist")
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
HTML, JSON, PROBLEM = "text/html", "application/json", "application/problem+json"
TYPES = {".html": HTML, ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain",
         ".png": "image/png", ".json": JSON, ".ico": "image/x-icon"}
NAMED = {"index.html": "/", "docs.html": "/docs"}


def served():
    """Returns {path of the URL: (file, media type)} of every file of the console's build."""
    files = {}
    for file in glob.glob(os.path.join(DIST, "**"), recursive=True):
        if os.path.isfile(file):
            relative = os.path.relpath(file, DIST)
            files[NAMED.get(relative, "/" + relative)] = (file, TYPES[os.path.splitext(file)[1]])
    return files | {"/favicon.ico": (os.path.join(DIST, "..", "src", "icon.svg"), TYPES[".svg"])}


def policy_of(answer):
    """Returns {directive: [values]} of the Content-Security-Policy."""
    directives = (part.split() for part in answer.headers["Content-Security-Policy"].split(";"))
    return {name: values for name, *values in directives}


class Checker(html.parser.HTMLParser):
    """Checks that elements are closed in order; collects tags, attributes and text."""
    VOID = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data):
        self.text += data


class Files(ServerCase):
    def test_every_file_of_the_build_is_served(self):
        for path, (file, media) in served().items():
            with self.subTest(path=path), open(file, "rb") as source:
                content = source.read()
                plain = self.client.get(path, Accept=BROWSER)
                coded = self.client.get(path, Accept=BROWSER, Accept_Encoding="gzip, deflate, br, zstd")
                for answer in plain, coded:
                    self.assertEqual(answer.status, 200, answer)
                    self.assertEqual(answer.headers.get_content_type(), media)
                    self.assertIn("Accept-Encoding", answer.headers["Vary"])
                    self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(plain.body, content)
                self.assertIsNone(plain.headers["Content-Encoding"])
                self.assertEqual(coded.headers["Content-Encoding"], "gzip")
                self.assertEqual(gzip.decompress(coded.body), content)
                self.assertNotEqual(plain.headers["ETag"], coded.headers["ETag"])

    def test_gzip_is_sent_to_those_that_take_it(self):
        for accept, coding in (("gzip", "gzip"), ("x-gzip", "gzip"), ("*", "gzip"), ("*, identity;q=0.5", "gzip"), ("br", None),
                               ("gzip;q=0", None), ("identity", None), ("", None), ("gzip;q=0.1, identity", None),
                               ("identity;q=0", None)):
            answer = self.client.get("/favicon.ico", Accept_Encoding=accept)
            self.assertEqual((answer.status, answer.headers["Content-Encoding"]), (200, coding), accept)

    def test_what_a_cache_has_is_not_sent_again(self):
        for path in ("/", "/docs", "/favicon.ico"):
            for coding in ("gzip", "identity"):
                first = self.client.get(path, Accept=BROWSER, Accept_Encoding=coding)
                tag = first.headers["ETag"]
                self.assertRegex(tag, r'^"[0-9a-f]{32}(-gzip)?"$')
                for given, status in ((tag, 304), ("*", 304), (f'"x", {tag}', 304), (f"W/{tag}", 304), ('"x"', 200),
                                      (tag.replace("-gzip", "") if coding == "gzip" else tag[:-1] + '-gzip"', 200),
                                      ("nonsense", 200)):
                    again = self.client.get(path, Accept=BROWSER, Accept_Encoding=coding, If_None_Match=given)
                    self.assertEqual((again.status, len(again.body)), (status, len(first.body) if status == 200 else 0), given)
                    for name in ("ETag", "Cache-Control", "Vary", "Content-Security-Policy"):
                        self.assertEqual(again.headers[name], first.headers[name], name)

    def test_the_clients_are_those_of_the_tree(self):
        """Every file that the page /clients names is served; the wheel has the modules of the tree, as installers read them."""
        page = self.client.get("/clients", Accept=BROWSER).body.decode()
        links = sorted(set(re.findall('href="(/clients/[^"]+)"', page)))
        self.assertEqual([re.sub(r"-[\d.]+-", "-", link) for link in links],
                         ["/clients/torqued-py3-none-any.whl", "/clients/torqued.c", "/clients/torqued.h", "/clients/torqued.js"])
        content = {link: self.client.get(link).body for link in links}
        for name, path in (("torqued.c", "c/torqued.c"), ("torqued.h", "c/torqued.h"), ("torqued.js", "typescript/bundle.js")):
            with open(os.path.join(ROOT, "api/clients", path), "rb") as file:
                self.assertEqual(content[f"/clients/{name}"], file.read(), name)
        sources = os.path.join(ROOT, "api/clients/python/src")
        with zipfile.ZipFile(io.BytesIO(content[links[0]])) as wheel:
            self.assertIsNone(wheel.testzip())
            packed = {name: wheel.read(name) for name in wheel.namelist()}
        for file in glob.glob(os.path.join(sources, "**", "*.py"), recursive=True):
            with open(file, "rb") as text:
                self.assertEqual(packed.pop(os.path.relpath(file, sources)), text.read(), file)
        record = packed[next(name for name in packed if name.endswith("/RECORD"))].decode()
        self.assertEqual(record.count("sha256="), len(record.splitlines()) - 1)
        for said in (page, self.client.get("/problems/bad-json", Accept=BROWSER).body.decode()):
            self.assertIn('href="/document"', said)

    def test_files_with_a_hash_in_their_name_are_kept(self):
        for path in served():
            answer = self.client.get(path, Accept=BROWSER)
            kept = re.match(r"/assets/.*-[0-9A-Za-z]{8}\.", path)
            self.assertEqual(answer.headers["Cache-Control"],
                             "public, max-age=31536000, immutable" if kept else "no-cache", path)

    def test_head(self):
        for path in ("/", "/docs", "/favicon.ico"):
            for coding in ("gzip", "identity"):
                got = self.client.get(path, Accept=BROWSER, Accept_Encoding=coding)
                head = self.client.request("HEAD", path, headers={"Accept": BROWSER, "Accept-Encoding": coding})
                self.assertEqual((head.status, head.body), (200, b""))
                for name in ("Content-Length", "Content-Type", "Content-Encoding", "ETag", "Cache-Control", "Vary"):
                    self.assertEqual(head.headers[name], got.headers[name], name)

    def test_other_methods(self):
        for path in ("/", "/docs", "/favicon.ico"):
            for method in ("POST", "PUT", "DELETE", "PATCH"):
                answer = self.client.request(method, path, b"x", {"Accept": BROWSER})
                self.assertProblem(answer, 405)
                self.assertEqual(answer.headers["Allow"], "GET, HEAD, OPTIONS")

    def test_no_other_file(self):
        for path in ("/assets/none.js", "/assets/..%2findex.html", "/assets/%2e%2e", "/assets/", "/assets", "/index.html",
                     "/assets/../favicon.ico", "/assets/%00", "/favicon.ico%00", "/assets/a/b", "//favicon.ico", "/favicon"):
            self.assertProblem(self.client.get(path), 404)
        self.assertProblem(self.client.get("/favicon.ico?v=1"), 422)

    def test_many_readers_of_one_file(self):
        """Pipelined requests for one file are answered in order; all answers share the file's bytes."""
        raw = self.server.socket()
        raw.send(b"GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n" * 50)
        bodies = {raw.answer().body for _ in range(50)}
        raw.close()
        self.assertEqual(len(bodies), 1)


class Choice(ServerCase):
    """Accept selects between a page and JSON."""
    PAGE = (BROWSER, "text/html", "text/*", "text/html;q=0.9, application/json;q=0.8", "text/html, */*;q=0.9", "TEXT/HTML",
            "application/json;q=0, */*", "text/html;q=0.001", "application/problem+json, text/html")
    PROGRAM = PAGE[1:]  # under /v1 these get JSON, since only application/xhtml+xml in Accept selects a page there
    DATA = ("*/*", "", "application/json", "text/html, application/json", "application/json, text/html;q=0.9", "text/plain",
            "text/html;q=0", "text/html;q=0.8, */*", "application/*", "text/html;q=nonsense", "application/cbor", ",;=\"")

    def check(self, path, status, data):
        page, rest = (self.PAGE[:1], self.PROGRAM + self.DATA) if path.startswith("/v1") else (self.PAGE, self.DATA)
        for accept, media in [(a, HTML) for a in page] + [(a, data) for a in rest]:
            answer = self.client.get(path, Accept=accept)
            with self.subTest(path=path, accept=accept):
                self.assertEqual((answer.status, answer.headers.get_content_type()), (status, media))
                self.assertIn("Accept", re.split(r",\s*", answer.headers["Vary"]))
                if media == HTML:
                    self.assertTrue(answer.text.startswith("<!DOCTYPE html>") or answer.text.startswith("<!doctype html>"))
        raw = self.server.socket()
        raw.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")  # a request without Accept
        self.assertEqual(raw.answer().headers.get_content_type(), data)
        raw.close()

    def test_home(self):
        self.check("/", 200, JSON)
        self.assertEqual(self.client.get("/").json(), self.client.get("/v1").json())

    def test_problems(self):
        self.check("/problems/bad-json", 200, JSON)

    def test_not_found(self):
        for path in ("/nowhere", "/v1/nowhere", "/problems/none", "/assets/none.js", "/v1/models/none"):
            self.check(path, 404, PROBLEM)

    def test_only_what_does_not_exist_is_a_page(self):
        """Other errors, and answers to POST, are always JSON."""
        self.assertProblem(self.client.get("/v1?x", Accept=BROWSER), 422)
        self.assertProblem(self.client.get("/v1", Accept="text/html"), 406)
        self.assertProblem(self.client.post("/nowhere", {}, Accept=BROWSER), 404)
        self.assertProblem(self.client.delete("/v1/models/none", Accept=BROWSER), 404)
        self.assertEqual(self.client.get("/v1/models", Accept=BROWSER).headers.get_content_type(), JSON)

    def test_slash_at_the_end(self):
        for path, status, location in (
                ("/docs/", 308, "/docs"), ("/v1/", 308, "/v1"), ("/v1/models/", 308, "/v1/models"), ("/livez/?x=1", 308, "/livez?x=1"),
                ("/v1/models/%70uma560/", 308, "/v1/models/%70uma560"), ("/favicon.ico/", 308, "/favicon.ico"),
                ("/v1/models/puma560/bias/", 404, None), ("/docs//", 404, None), ("//", 404, None), ("/nowhere/", 404, None),
                ("//evil.example/", 404, None), ("/\\evil.example/", 404, None), ("//evil.example/v1/", 404, None),
                ("/" + "x" * 400 + "/", 404, None), ("/%2fevil.example/", 404, None), ("/v1/models/" + "x" * 100 + "/", 308, None)):
            for method in ("GET", "HEAD"):
                raw = self.server.socket()
                raw.send(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answer = raw.answer(head=method == "HEAD")
                raw.close()
                self.assertEqual(answer.status, status, path)
                self.assertEqual(answer.headers["Location"], location or (path[:-1] if status == 308 else None), path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.client.request(method, "/v1/").status, 404, method)
        raw = self.server.socket()
        raw.send("GET http://localhost/v1/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(raw.answer().headers["Location"], "/v1")
        raw.close()


class Protection(ServerCase):
    def pages(self):
        yield from (path for path, (_, media) in served().items() if media == HTML)
        yield from ("/problems/bad-json", "/nowhere")

    def test_policies(self):
        """Only scripts, styles and data of this server are allowed, by the rules of Google's CSP evaluator, and no
        framing."""
        for path in self.pages():
            answer = self.client.get(path, Accept=BROWSER)
            policy = policy_of(answer)
            with self.subTest(path=path):
                self.assertEqual(policy["default-src"], ["'none'"])
                for directive in ("base-uri", "form-action", "frame-ancestors"):
                    self.assertEqual(policy[directive], ["'none'"], directive)
                self.assertIn(policy.get("script-src", ["'self'"]), (["'self'"], ))
                self.assertEqual(set(policy) & {"object-src", "plugin-types", "report-uri"}, set())
                for values in policy.values():
                    for value in values:
                        self.assertRegex(value, r"^('none'|'self'|data:|blob:|'sha256-[A-Za-z0-9+/]{43}=')$")
                self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
                self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
                self.assertEqual(answer.headers["Cross-Origin-Opener-Policy"], "same-origin")
                self.assertIn("camera=()", answer.headers["Permissions-Policy"])

    def test_no_model_is_a_script(self):
        for path in ("/v1/models", "/v1/models/puma560", "/v1/models/puma560/document", "/openapi.json", "/v1"):
            for accept in ("*/*", "application/cbor"):
                self.assertEqual(self.client.get(path, Accept=accept).headers["X-Content-Type-Options"], "nosniff", path)

    def test_no_page_needs_more_than_its_policy(self):
        for path in self.pages():
            answer = self.client.get(path, Accept=BROWSER)
            page, policy = Checker(answer.text), policy_of(answer)
            with self.subTest(path=path):
                self.assertEqual([name for name, _ in page.attributes if name.startswith("on") or name == "style"], [])
                for name, value in page.attributes:
                    if name in ("src", "href"):
                        self.assertRegex(value, r"^(/[^/]|/$|#|data:image/|\./|[a-z0-9_-]+/)")
                self.assertEqual([text for text in re.findall(r"<script[^>]*>(.*?)</script>", answer.text, re.S) if text.strip()], [])
                for style in re.findall(r"<style[^>]*>(.*?)</style>", answer.text, re.S):
                    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
                    self.assertIn(f"'sha256-{digest}'", policy["style-src"], "page.c: STYLE_HASH is not that of STYLE")

    def test_no_page_repeats_markup(self):
        """Text of the request or its path appears in a page as text, never as markup."""
        for path in ("/<script>alert(1)</script>", "/%3Cscript%3Ealert(1)%3C/script%3E", "/\"><img src=x onerror=alert(1)>",
                     "/v1/models/<b>x</b>", "/v1/models/%3Cb%3Ex", "/problems/<i>", "/&lt;b&gt;", "/'x'", "/assets/<svg>",
                     "/%ff%fe", "/%C2%85", "/%e2%80%ae"):
            raw = self.server.socket()
            raw.send(f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nAccept: {BROWSER}\r\n\r\n")
            answer = raw.answer()
            raw.close()
            with self.subTest(path=path):
                self.assertEqual(answer.status, 404)
                page = Checker(answer.text)  # the path decodes as UTF-8
                self.assertEqual(set(page.tags), {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "code",
                                                  "header", "blockquote", "a"})
                self.assertLessEqual({name for name, _ in page.attributes}, {"lang", "charset", "name", "content", "href"})
        self.assertIn("/<script>alert(1)</script>", Checker(self.client.get("/<script>alert(1)</script>", Accept=BROWSER).text).text)

    def test_no_target_that_is_no_visible_ascii(self):
        """A target with other bytes than visible ASCII is malformed: it is refused before a page could repeat it."""
        for path in ("/\xe9\xff", "/\x7f"):
            raw = self.server.socket()
            raw.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {BROWSER}\r\n\r\n")
            answer = raw.answer()
            raw.close()
            with self.subTest(path=path):
                self.assertEqual(answer.status, 400)
                self.assertTrue(answer.text.isascii() and "\x7f" not in answer.text, answer.text)

    def test_pages_about_problems(self):
        codes = self.client.get("/openapi.json").json()["components"]["schemas"]["ProblemCode"]["enum"]
        for code in codes:
            page = Checker(self.client.get("/problems/" + code, Accept=BROWSER).text)
            meaning = self.client.get("/problems/" + code).json()
            for text in (meaning["title"], meaning["text"].replace("`", ""), str(meaning["status"]), code):
                self.assertIn(text, page.text, code)


if __name__ == "__main__":
    tap.main()
