/* networks.c - see networks.h. */
#include "networks.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* RFC 4291, section 2.5.5.2 */

static bool is_ipv4(const srv_ip *ip)
{
    return memcmp(ip->bytes, mapped, sizeof mapped) == 0;
}

bool srv_ip_parse(const char *text, srv_ip *ip)
{
    memcpy(ip->bytes, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, ip->bytes + sizeof mapped) == 1 || inet_pton(AF_INET6, text, ip->bytes) == 1;
}

bool srv_ip_of(const struct sockaddr *address, srv_ip *ip)
{
    memcpy(ip->bytes, mapped, sizeof mapped);
    if (address->sa_family == AF_INET)
        memcpy(ip->bytes + sizeof mapped, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    else if (address->sa_family == AF_INET6)
        memcpy(ip->bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    else
        return false;
    return true;
}

void srv_ip_print(const srv_ip *ip, char text[SRV_IP_TEXT])
{
    bool        ipv4 = is_ipv4(ip);
    const void *from = ipv4 ? ip->bytes + sizeof mapped : ip->bytes;
    if (!inet_ntop(ipv4 ? AF_INET : AF_INET6, from, text, SRV_IP_TEXT)) *text = '\0';
}

/* Reads "ADDRESS" or "ADDRESS/BITS". Bits beyond the prefix must be zero: "10.1.0.0/8" is probably a mistake. */
static bool parse_network(char *text, srv_ip *ip, unsigned *bits)
{
    char *slash = strchr(text, '/');
    if (slash) *slash = '\0';
    if (!srv_ip_parse(text, ip)) return false;
    unsigned base = is_ipv4(ip) ? 96 : 0, most = 128 - base;
    *bits = 128;
    if (!slash) return true;
    size_t digits = strspn(slash + 1, "0123456789");
    if (digits == 0 || digits > 3 || slash[1 + digits] || (unsigned)atoi(slash + 1) > most) return false;
    *bits = base + (unsigned)atoi(slash + 1);
    for (unsigned i = *bits; i < 128; i++)
        if (ip->bytes[i / 8] >> (7 - i % 8) & 1) return false;
    return true;
}

bool srv_networks_parse(const char *text, srv_networks *networks)
{
    *networks = (srv_networks){0};
    for (const char *p = text; p; p++) {
        char   one[SRV_IP_TEXT + 4];
        size_t length = strcspn(p, ",");
        if (length >= sizeof one) return false;
        snprintf(one, sizeof one, "%.*s", (int)length, p);
        if (strcmp(one, "unix") == 0)
            networks->unix_sockets = true;
        else if (networks->n == SRV_NETWORKS ||
                 !parse_network(one, &networks->list[networks->n].ip, &networks->list[networks->n].bits))
            return false;
        else
            networks->n++;
        p += length;
        if (!*p) return true;
    }
    return true;
}

static bool has_prefix(const srv_ip *ip, const srv_ip *network, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(ip->bytes, network->bytes, whole) != 0) return false;
    return rest == 0 || (ip->bytes[whole] ^ network->bytes[whole]) >> (8 - rest) == 0;
}

bool srv_networks_contain(const srv_networks *networks, const srv_ip *ip)
{
    for (size_t i = 0; i < networks->n; i++)
        if (has_prefix(ip, &networks->list[i].ip, networks->list[i].bits)) return true;
    return false;
}
