// code.ts - writes the request whose answer is on the screen as a program in several languages. The copied text runs unchanged.
import {modelPath} from './api';
import {credential} from './credential';
import {Store} from './store';

export interface Shown {
    model: string;
    operation: string;
    body: Record<string, unknown>;
}

/** The request whose answer is on the screen. */
export const shownRequest = new Store<Shown | null>(null);

export const LANGUAGES: [string, string][] = [['curl', 'curl'], ['python', 'Python'], ['javascript', 'JavaScript'], ['c', 'C'], ['matlab', 'MATLAB']];

/** Where this page uses a token, the program takes one from the environment: a copied program must not carry a secret. */
const VARIABLE = 'TORQUED_TOKEN';
const withToken = <T>(yes: T, no: T): T => credential.value.token ? yes : no;

const urlOf = (shown: Shown): string => new URL(`${modelPath(shown.model)}/${shown.operation}`, document.baseURI).href;

/** JSON text with one field of the request on each line. */
function layOut(body: Record<string, unknown>, indent: string): string {
    const lines = Object.entries(body).map(([key, value]) => `${indent}  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
}

function curl(shown: Shown): string {
    const body = layOut(shown.body, '').replaceAll('\'', '\'\\\'\'');
    const header = withToken(`  -H "Authorization: Bearer $${VARIABLE}" \\\n`, '');
    return `curl -s '${urlOf(shown)}' \\\n  -H 'Content-Type: application/json' \\\n${header}  -d '${body}'\n`;
}

/** A value as a Python literal; strings are written as in JSON. */
function pythonLiteral(value: unknown): string {
    if (value === null) return 'None';
    if (value === true) return 'True';
    if (value === false) return 'False';
    if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
    if (typeof value === 'object') return `{${Object.entries(value as object).map(([k, v]) => `${JSON.stringify(k)}: ${pythonLiteral(v)}`).join(', ')}}`;
    return JSON.stringify(value);
}

function python(shown: Shown): string {
    const fields = Object.entries(shown.body).map(([k, v]) => `    ${JSON.stringify(k)}: ${pythonLiteral(v)},`).join('\n');
    const header = withToken(`, "Authorization": "Bearer " + os.environ["${VARIABLE}"]`, '');
    return `import json
${withToken('import os\n', '')}import urllib.error
import urllib.request

request = {
${fields}
}
call = urllib.request.Request(
    ${JSON.stringify(urlOf(shown))},
    data=json.dumps(request).encode(), headers={"Content-Type": "application/json"${header}})
try:
    with urllib.request.urlopen(call) as answer:
        print(json.dumps(json.load(answer)))
except urllib.error.HTTPError as problem:
    raise SystemExit(problem.read().decode())
`;
}

function javascript(shown: Shown): string {
    return `const request = ${layOut(shown.body, '')};

fetch(${JSON.stringify(urlOf(shown))}, {
  method: 'POST',
  headers: {'Content-Type': 'application/json'${withToken(`, Authorization: \`Bearer \${process.env.${VARIABLE}}\``, '')}},
  body: JSON.stringify(request),
}).then(answer => answer.json()).then(answer => console.log(JSON.stringify(answer)));
`;
}

/** Text as C string literals, one for each line; bytes beyond ASCII in octal, which ends after three digits. */
function cText(text: string): string {
    const bytes = new TextEncoder();
    return text.split('\n').map((line, i, all) => {
        const escaped = [...bytes.encode(line)].map(b => b === 34 ? '\\"' : b === 92 ? '\\\\' : b === 63 ? '\\?' :
            b < 32 || b > 126 ? `\\${b.toString(8).padStart(3, '0')}` : String.fromCharCode(b)).join('');
        return `    "${escaped}${i < all.length - 1 ? '\\n' : ''}"`;
    }).join('\n');
}

function c(shown: Shown): string {
    const url = new URL(urlOf(shown)), body = layOut(shown.body, ''), port = url.port || '80';
    if (url.protocol === 'https:') return cOverTls(shown, body);
    return `/* cc -o ask ask.c && ./ask */
#define _POSIX_C_SOURCE 200809L
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char body[] =
${cText(body)};

int main(void)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo("${url.hostname.replace(/^\[|\]$/g, '')}", "${port}", &hints, &found)) return 1;
    int server = socket(found->ai_family, found->ai_socktype, 0);
    if (server < 0 || connect(server, found->ai_addr, found->ai_addrlen)) { perror("connect"); return 1; }
    FILE *out = fdopen(dup(server), "w"), *in = fdopen(server, "r");
    fprintf(out, "POST ${url.pathname.replaceAll('%', '%%')} HTTP/1.0\\r\\nHost: ${url.host}\\r\\n"
                 "${withToken('Authorization: Bearer %s\\r\\n', '')}Content-Type: application/json\\r\\nContent-Length: %zu\\r\\n\\r\\n%s", ${withToken(`getenv("${VARIABLE}"), `, '')}strlen(body), body);
    fflush(out);
    char line[65536];
    while (fgets(line, sizeof line, in) && strcmp(line, "\\r\\n") != 0) { }
    for (size_t n; (n = fread(line, 1, sizeof line, in)) > 0; ) fwrite(line, 1, n, stdout);
    putchar('\\n');
    return 0;
}
`;
}

function cOverTls(shown: Shown, body: string): string {
    return `/* cc -o ask ask.c -lcurl && ./ask */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static const char body[] =
${cText(body)};

int main(void)
{
    CURL              *call    = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
${withToken(`    char               token[1024];
    snprintf(token, sizeof token, "Authorization: Bearer %s", getenv("${VARIABLE}"));
    curl_slist_append(headers, token);
`, '')}    curl_easy_setopt(call, CURLOPT_URL, ${JSON.stringify(urlOf(shown))});
    curl_easy_setopt(call, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(call, CURLOPT_POSTFIELDS, body);
    return curl_easy_perform(call) == CURLE_OK ? 0 : 1;
}
`;
}

function matlab(shown: Shown): string {
    const quote = (text: string) => `'${text.replaceAll('\'', '\'\'')}'`;
    const lines = layOut(shown.body, '').split('\n').map(quote).join(', ...\n    ');
    return `% The body is sent as text, so that one-element lists stay lists.
body = [ ...
    ${lines}];
options = weboptions('MediaType', 'application/json', 'Timeout', 60${withToken(`, 'HeaderFields', {'Authorization', ['Bearer ' getenv('${VARIABLE}')]}`, '')});
answer = webwrite(${quote(urlOf(shown))}, body, options)
`;
}

export function codeOf(shown: Shown, language: string): string {
    return ({curl, python, javascript, c, matlab}[language] ?? curl)(shown);
}

const ENDINGS: Record<string, string> = {curl: 'sh', python: 'py', javascript: 'mjs', c: 'c', matlab: 'm'};
export const endingOf = (language: string): string => ENDINGS[language] ?? 'txt';
