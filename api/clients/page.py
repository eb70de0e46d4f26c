#!/usr/bin/python3
"""page.py VERSION - writes the page /clients, with a line that installs each client which the server serves. pip takes the page as an
index, too: `pip install --find-links URL/clients torqued`."""
import html
import sys

ADDRESS = "http://127.0.0.1:8088"
CLIENTS = (
    ("Python", "torqued-{version}-py3-none-any.whl", "pip install {address}/clients/torqued-{version}-py3-none-any.whl",
     "import torqued\nprint(torqued.Client('{address}').model('puma560').inverse_dynamics([0, 0.5, 3, 0, 0.5, 0]).tau)"),
    ("JavaScript, in browsers", "torqued.js", "import {{Torqued}} from '{address}/clients/torqued.js';",
     "const client = new Torqued('{address}');\nconsole.log(await client.evaluate('puma560', 'inverse-dynamics', {{q: [0, 0.5, 3, 0, 0.5, 0]}}));"),
    ("C, with libcurl", "torqued.c", "curl -sO {address}/clients/torqued.h -sO {address}/clients/torqued.c",
     "cc -c torqued.c    # then link your program with torqued.o and -lcurl -lm"),
)


def page(version):
    parts = []
    for title, file, install, use in CLIENTS:
        fill = {"version": version, "address": ADDRESS}
        parts.append(f'<section>\n<h2>{title}</h2>\n<pre tabindex="0">{html.escape(install.format(**fill), quote=False)}</pre>\n'
                     f'<pre tabindex="0">{html.escape(use.format(**fill), quote=False)}</pre>\n'
                     f'<p><a href="/clients/{file.format(**fill)}">{file.format(**fill)}</a>'
                     + (' <a href="/clients/torqued.h">torqued.h</a>' if file == "torqued.c" else "") + "</p>\n</section>\n")
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<title>Clients - torqued</title>\n<link rel="icon" href="/favicon.ico">\n<link rel="stylesheet" href="/document.css">\n</head>\n<body>\n'
            '<header><a href="/">Console</a><a href="/docs">Reference</a><a href="/document">Model documents</a></header>\n<main>\n'
            f'<h1>Clients</h1>\n<p>The server serves the clients of its version. Elsewhere, its address takes the place of {ADDRESS}.</p>\n'
            + "".join(parts) + "</main>\n</body>\n</html>\n")


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
