/* machine_names.c - collects the names of a machine from the kernel and the resolver (machine_names.h). */
#include "machine_names.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";

/* True for labels of 1 to 63 letters, digits and hyphens with dots between. */
static bool is_host_name(const char *text)
{
    size_t length = strlen(text), label = 0;
    if (length == 0 || length >= SRV_HOST_NAME || strspn(text, letters) != length) return false;
    for (size_t i = 0; i <= length; i++) {
        bool ends = i == length || text[i] == '.';
        if (ends && (label == 0 || label > 63 || text[i - 1] == '-' || text[i - label] == '-')) return false;
        label = ends ? 0 : label + 1;
    }
    return true;
}

/* True if the last label has only digits: such a name would be read as an address. */
static bool ends_in_a_number(const char *text)
{
    const char *dot  = strrchr(text, '.');
    const char *last = dot ? dot + 1 : text;
    return strspn(last, "0123456789") == strlen(last);
}

bool srv_machine_names_add(srv_machine_names *names, const char *text)
{
    srv_machine_name name = {.address_bytes = 0};
    if (inet_pton(AF_INET, text, name.address) == 1)
        name.address_bytes = 4;
    else if (inet_pton(AF_INET6, text, name.address) == 1)
        name.address_bytes = 16;
    else if (!is_host_name(text) || ends_in_a_number(text))
        return false;
    if (name.address_bytes > 0)
        inet_ntop(name.address_bytes == 4 ? AF_INET : AF_INET6, name.address, name.text, sizeof name.text);
    else
        snprintf(name.text, sizeof name.text, "%s", text);
    for (size_t i = 0; i < names->n; i++)
        if (strcasecmp(names->name[i].text, name.text) == 0) return true;
    if (names->n == SRV_MACHINE_NAMES_MOST) return false;
    names->name[names->n++] = name;
    return true;
}

static void add_interface(srv_machine_names *names, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN];
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text, sizeof text);
    else if (address->sa_family == AF_INET6 &&
             !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr))
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text, sizeof text);
    else
        return;
    srv_machine_names_add(names, text);
}

bool srv_machine_names_collect(srv_machine_names *names)
{
    char            host_name[SRV_HOST_NAME], local[SRV_HOST_NAME + 6];
    struct addrinfo hints = {.ai_flags = AI_CANONNAME}, *found = NULL;
    struct ifaddrs *interfaces;
    if (gethostname(host_name, sizeof host_name) != 0) return false;
    host_name[sizeof host_name - 1] = '\0';
    srv_machine_names_add(names, host_name);
    if (getaddrinfo(host_name, NULL, &hints, &found) == 0) {
        if (found->ai_canonname) srv_machine_names_add(names, found->ai_canonname);
        freeaddrinfo(found);
    }
    snprintf(local, sizeof local, "%.*s.local", (int)strcspn(host_name, "."), host_name);
    srv_machine_names_add(names, local);
    srv_machine_names_add(names, "localhost");
    srv_machine_names_add(names, "127.0.0.1");
    srv_machine_names_add(names, "::1");
    if (getifaddrs(&interfaces) != 0) return false;
    for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next)
        if (i->ifa_addr) add_interface(names, i->ifa_addr);
    freeifaddrs(interfaces);
    return true;
}
