/* machine_names.h - collect the names and addresses by which clients call this machine, for its certificate. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { SRV_MACHINE_NAMES_MOST = 64, SRV_COMMON_NAME_MOST = 64, SRV_HOST_NAME = 254 };

/* A host name, or an address as bytes in network order. */
typedef struct srv_machine_name {
    char          text[SRV_HOST_NAME]; /* text of the name or address */
    unsigned char address[16];
    size_t        address_bytes; /* 4 or 16; 0: a host name */
} srv_machine_name;

typedef struct srv_machine_names {
    srv_machine_name name[SRV_MACHINE_NAMES_MOST];
    size_t           n;
} srv_machine_names;

/* Adds a host name or an IP address, once. False: neither, or the list is full. */
bool srv_machine_names_add(srv_machine_names *names, const char *text);

/* Adds the host name, its full name in DNS or /etc/hosts, its name in mDNS, localhost, and the addresses of all
 * interfaces except link-local ones, which need a zone. Names that do not fit are left out. False with errno. */
bool srv_machine_names_collect(srv_machine_names *names);
