/* networks.h - IP addresses, and lists of networks such as the trusted proxies. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

/* An IPv6 address, or an IPv4 address mapped to IPv6. */
typedef struct srv_ip {
    uint8_t bytes[16];
} srv_ip;

enum { SRV_IP_TEXT = 46, SRV_NETWORKS = 32 };

typedef struct srv_networks {
    size_t n;
    bool   unix_sockets; /* the list names "unix": programs at the other end of Unix-domain sockets */
    struct {
        srv_ip   ip;
        unsigned bits; /* length of the prefix, 0 to 128 */
    } list[SRV_NETWORKS];
} srv_networks;

/* Parses addresses and networks such as "10.0.0.0/8,2001:db8::/32,192.0.2.7,unix". NULL is the empty list. False if an
 * element is malformed or there are too many. */
bool srv_networks_parse(const char *text, srv_networks *networks);
bool srv_networks_contain(const srv_networks *networks, const srv_ip *ip);

bool srv_ip_parse(const char *text, srv_ip *ip);            /* "192.0.2.7" or "2001:db8::7" */
bool srv_ip_of(const struct sockaddr *address, srv_ip *ip); /* false: no IP address */
void srv_ip_print(const srv_ip *ip, char text[SRV_IP_TEXT]);
