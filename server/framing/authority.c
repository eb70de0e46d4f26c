/* authority.c - check the host and port that Host or an absolute target names (RFC 9110, section 7.2; RFC 3986, section
 * 3.2). Names are those of DNS and of hosts files: percent-encoded bytes and sub-delimiters are refused, since programs
 * read them differently. */
#include "framing.h"
#include <arpa/inet.h>
#include <string.h>

enum { NAME_MOST = 255 /* bytes (RFC 1035, section 2.3.4) */ };

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '~';
}

/* True for labels with dots between, none of them empty; a dot may follow the last one. */
static bool is_name(const char *text, size_t length)
{
    if (length == 0 || length > NAME_MOST) return false;
    for (size_t i = 0; i < length; i++) {
        bool dot = text[i] == '.' && i > 0 && text[i - 1] != '.';
        if (!dot && !is_name_character(text[i])) return false;
    }
    return true;
}

static bool is_ipv6(const char *text, size_t length)
{
    char            copy[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (length >= sizeof copy || memchr(text, '\0', length)) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return inet_pton(AF_INET6, copy, &address) == 1;
}

static bool is_port(const char *text, size_t length)
{
    unsigned port = 0;
    if (length > 5) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        port = 10 * port + (unsigned)(text[i] - '0');
    }
    return port <= 65535;
}

bool srv_is_authority(const char *text, size_t length)
{
    bool        bracket = length > 0 && *text == '[';
    const char *end = text + length, *stop = memchr(text, bracket ? ']' : ':', length);
    if (bracket && !stop) return false;
    if (bracket) stop++;
    if (!stop) stop = end;
    if (stop < end && (*stop != ':' || !is_port(stop + 1, (size_t)(end - stop - 1)))) return false;
    size_t host = (size_t)(stop - text);
    return bracket ? is_ipv6(text + 1, host - 2) : is_name(text, host);
}
