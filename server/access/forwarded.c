/* forwarded.c - see forwarded.h. */
#include "forwarded.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A part of the value of a header Forwarded or X-Forwarded-For. */
typedef struct piece {
    const char *start;
    size_t      length;
} piece;

/* Reads "192.0.2.7", "192.0.2.7:80", "[2001:db8::7]:80" or "2001:db8::7", perhaps in quotes. */
static bool parse_node(piece node, srv_ip *ip)
{
    char text[SRV_IP_TEXT + 10], *start = text, *end;
    if (node.length >= 2 && *node.start == '"' && node.start[node.length - 1] == '"')
        node = (piece){node.start + 1, node.length - 2};
    if (node.length >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)node.length, node.start);
    if (*text == '[') {
        start = text + 1;
        end   = strchr(start, ']');
        if (!end) return false;
        *end = '\0';
    } else if ((end = strchr(text, ':')) && !strchr(end + 1, ':')) {
        *end = '\0'; /* one colon: a port follows an IPv4 address */
    }
    return srv_ip_parse(start, ip);
}

static piece trim(piece p)
{
    for (; p.length > 0 && strchr(" \t", *p.start); p.length--)
        p.start++;
    while (p.length > 0 && strchr(" \t", p.start[p.length - 1]))
        p.length--;
    return p;
}

/* Finds the last `separator` outside quotes in the text; returns the part after it and shortens the text to the part
 * before it, to length 0 if there is none. */
static piece take_last(piece *text, char separator)
{
    bool   quoted = false;
    size_t at     = text->length;
    while (at > 0 && (quoted || text->start[at - 1] != separator))
        quoted ^= text->start[--at] == '"';
    piece last   = {text->start + at, text->length - at};
    text->length = at > 0 ? at - 1 : 0;
    return trim(last);
}

/* Finds the value of "for" in an element of Forwarded. */
static piece find_for(piece element)
{
    while (element.length > 0) {
        piece pair = take_last(&element, ';');
        if (pair.length > 4 && strncasecmp(pair.start, "for=", 4) == 0) return (piece){pair.start + 4, pair.length - 4};
    }
    return (piece){0};
}

static bool find_client(const srv_networks *proxies, const char *header, bool has_pairs, srv_ip *client)
{
    piece  rest  = {header, strlen(header)};
    bool   found = false;
    srv_ip ip;
    while (rest.length > 0) {
        piece element = take_last(&rest, ',');
        if (!parse_node(has_pairs ? find_for(element) : element, &ip)) return found;
        *client = ip;
        found   = true;
        if (!srv_networks_contain(proxies, &ip)) return true;
    }
    return found;
}

bool srv_forwarded_client(const srv_networks *proxies, const char *forwarded, const char *x_forwarded_for,
                          srv_ip *client)
{
    srv_ip first, second;
    bool   has_first  = forwarded && find_client(proxies, forwarded, true, &first);
    bool   has_second = x_forwarded_for && find_client(proxies, x_forwarded_for, false, &second);
    if (!has_first && !has_second) return false;
    *client = has_first ? first : second;
    return !forwarded || !x_forwarded_for || (has_first && has_second && memcmp(&first, &second, sizeof first) == 0);
}
