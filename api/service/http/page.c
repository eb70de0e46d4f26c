/* page.c - build replies for browsers: embedded files, and pages about problems (call.h). The headers follow the OWASP
 * HTTP Security Response Headers Cheat Sheet. */
#include "call.h"
#include "api/codec/compress.h"
#include "api/codec/utf8.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_MAX = 16 * 1024 }; /* largest page about a problem, bytes: a detail with every character escaped fits */

/* The style of pages about problems. Their policy allows exactly this text, by its SHA-256 in base 64. */
#define STYLE                                                                                                          \
    ":root{color-scheme:light "                                                                                        \
    "dark;--page:#f4f6f8;--surface:#fff;--text:#17202a;--muted:#56626f;--line:#d8dee5;--accent:#0b6b8a}"               \
    "@media(prefers-color-scheme:dark){:root{--page:#11161b;--surface:#182027;--text:#e6ebf0;--muted:#9fadba;--line:#" \
    "2b3742;"                                                                                                          \
    "--accent:#52b9da}}"                                                                                               \
    "body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif}a{color:var(--accent)}" \
    "header{display:flex;flex-wrap:wrap;gap:.3rem 1.25rem;padding:.7rem 1.25rem;background:var(--surface);"            \
    "border-bottom:1px solid "                                                                                         \
    "var(--line)}header>a:first-child{font-weight:700;color:var(--text);text-decoration:none;letter-spacing:-.02em}"   \
    "main{max-width:42rem;margin:8vh auto;padding:0 "                                                                  \
    "1.25rem}h1{font-size:1.5rem;margin:0}h2{font-size:1rem;margin:1.4rem 0 .2rem}"                                    \
    "p{margin:.3rem 0;overflow-wrap:anywhere}code{font-size:.95em}h1+p{color:var(--muted)}"                            \
    "blockquote{margin:.3rem 0;padding:.7rem .9rem;border:1px solid var(--line);border-left:4px solid "                \
    "var(--accent);border-radius:8px;"                                                                                 \
    "background:var(--surface)}"
#define STYLE_HASH "sha256-JGp00vacdNQ6Xc5kI4z7cZkC3j23jv9tm7ZRbC1gXjc="

#define NO_FRAMES "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char console_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; " NO_FRAMES;
static const char problem_policy[] = "default-src 'none'; style-src '" STYLE_HASH "'; " NO_FRAMES;

static void add_page_headers(api_call *call, const char *policy)
{
    api_reply_static_header(call, "Content-Security-Policy", policy);
    api_reply_static_header(call, "X-Content-Type-Options", "nosniff");
    api_reply_static_header(call, "Referrer-Policy", "no-referrer");
    api_reply_static_header(call, "Cross-Origin-Opener-Policy", "same-origin");
    api_reply_static_header(call, "Cross-Origin-Resource-Policy", "same-origin");
    api_reply_static_header(call, "Permissions-Policy",
                            "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()");
}

/* --- embedded files --------------------------------------------------------------------------------------------- */

static bool reply_content(api_call *call, const api_file *file, api_problem *problem)
{
    api_buffer body;
    if (!api_claim(&call->share, file->length, problem)) return false;
    api_buffer_init(&body, file->length);
    bool done = api_gunzip(file->gzip, file->gzip_length, file->length, &body, problem) &&
                api_reply_body(call, 200, file->content_type, &body, problem);
    api_buffer_free(&body);
    return done;
}

/* Each content coding has an entity tag of its own (RFC 9110, section 8.8.3). */
bool api_reply_file(api_call *call, api_problem *problem)
{
    const api_file *file = call->file;
    char            content[API_TAG_MAX], tag[API_TAG_MAX];
    snprintf(content, sizeof content, "%.32s%s", file->hash, call->takes_gzip ? "-gzip" : "");
    api_tag_write(content, API_MEDIA_JSON, tag);
    api_reply_header(call, "ETag", tag);
    api_reply_static_header(call, "Cache-Control",
                            file->never_changes ? "public, max-age=31536000, immutable" : "no-cache");
    if (call->takes_gzip) api_reply_static_header(call, "Content-Encoding", "gzip");
    add_page_headers(call, console_policy);

    api_preconditions conditions = api_call_conditions(call);
    call->unchanged              = api_preconditions_unchanged(&conditions, content, API_MEDIA_JSON);
    bool decompress              = !call->takes_gzip && !file->content;
    if (decompress && !call->unchanged && !call->reply.head) return reply_content(call, file, problem);
    api_reply_empty(call, 200);
    call->reply.content_type = file->content_type;
    call->reply.static_body  = call->takes_gzip ? file->gzip : file->content;
    call->reply.length       = call->takes_gzip ? file->gzip_length : file->length;
    return true;
}

/* --- pages about problems --------------------------------------------------------------------------------------- */

static void put_character(api_buffer *b, const char *text, size_t length)
{
    switch (*text) {
    case '&': api_buffer_text(b, "&amp;"); return;
    case '<': api_buffer_text(b, "&lt;"); return;
    case '>': api_buffer_text(b, "&gt;"); return;
    case '"': api_buffer_text(b, "&quot;"); return;
    case '\'': api_buffer_text(b, "&#39;"); return;
    default: api_buffer_put(b, text, length);
    }
}

/* Writes text so that it cannot be markup. Control characters and bytes that are not UTF-8 become question marks. */
static void put_escaped(api_buffer *b, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        size_t length = api_utf8_character(text, left);
        bool   plain  = length > 1 || (length == 1 && (unsigned char)*text >= ' ' && *text != 0x7F);
        if (length == 0) length = 1;
        if (plain)
            put_character(b, text, length);
        else
            api_buffer_text(b, "?");
        text += length;
        left -= length;
    }
}

/* Writes a text of the table of problems, in which `...` marks code. */
static void put_meaning(api_buffer *b, const char *text)
{
    for (bool code = false;; code = !code) {
        char   part[1024];
        size_t length = strcspn(text, "`");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        put_escaped(b, part);
        if (text[length] == '\0') return;
        api_buffer_text(b, code ? "</code>" : "<code>");
        text += length + 1;
    }
}

bool api_reply_problem_page(api_call *call, const api_problem_kind *kind, const char *detail, api_problem *problem)
{
    api_buffer b;
    api_buffer_init(&b, PAGE_MAX);
    api_buffer_format(&b,
                      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<title>%s - torqued</title>\n<style>" STYLE "</style>\n</head>\n<body>\n"
                      "<header><a href=\"/\">torqued</a> <a href=\"/\">Console</a> <a href=\"/docs\">Reference</a> "
                      "<a href=\"/document\">Model documents</a></header>\n<main>\n"
                      "<h1>%s</h1>\n<p>%u <code>%s</code></p>\n",
                      kind->title, kind->title, kind->status, kind->code);
    if (detail) {
        api_buffer_text(&b, "<h2>In this request</h2>\n<blockquote>");
        put_escaped(&b, detail);
        api_buffer_text(&b, ".</blockquote>\n");
    }
    api_buffer_text(&b, "<h2>Meaning and remedy</h2>\n<p>");
    put_meaning(&b, kind->text);
    api_buffer_text(&b, "</p>\n</main>\n</body>\n</html>\n");
    add_page_headers(call, problem_policy);
    return api_reply_body(call, 200, "text/html; charset=utf-8", &b, problem);
}
