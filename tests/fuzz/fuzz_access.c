/* fuzz_access.c - parses arbitrary proxy headers and files of clients. The first byte of the input chooses what is
 * parsed: Forwarded and X-Forwarded-For, a header of the PROXY protocol, or a file of clients. */
#define _GNU_SOURCE /* memfd_create */
#include "drive.h"
#include "server/access/clients.h"
#include "server/access/forwarded.h"
#include "server/net/proxy_header.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_forwarded(char *text)
{
    srv_networks proxies;
    srv_ip       client, again;
    char         printed[SRV_IP_TEXT], *second = strchr(text, '\n');
    drive_expect(srv_networks_parse("10.0.0.0/8,2001:db8::/32,unix", &proxies), "the networks are valid");
    if (second) *second++ = '\0';
    if (!srv_forwarded_client(&proxies, text, second, &client)) return;
    srv_ip_print(&client, printed);
    drive_expect(srv_ip_parse(printed, &again) && memcmp(&client, &again, sizeof client) == 0,
                 "a printed address reads back");
    srv_networks_parse(text, &proxies);
}

static void check_proxy_header(const uint8_t *data, size_t size)
{
    srv_proxy_header        header = {.length = 0};
    struct sockaddr_storage client;
    socklen_t               length;
    int                     missing;
    while ((missing = srv_proxy_header_missing(&header)) > 0) {
        drive_expect(header.length + (size_t)missing <= sizeof header.bytes, "the header fits into its buffer");
        if ((size_t)missing > size - header.length) return;
        memcpy(header.bytes + header.length, data + header.length, (size_t)missing);
        header.length += (size_t)missing;
    }
    if (missing < 0 || !srv_proxy_header_source(&header, &client, &length)) return;
    drive_expect(length <= sizeof client, "the address fits into its buffer");
}

static void check_clients(const uint8_t *data, size_t size)
{
    char path[40], error[700];
    int  file = memfd_create("clients", 0);
    drive_expect(file >= 0 && fchmod(file, 0600) == 0 && write(file, data, size) == (ssize_t)size,
                 "the file is written");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    *error               = '\0';
    srv_clients *clients = srv_clients_read(path, error, sizeof error);
    drive_expect(clients || *error, "a refused file has a message");
    if (clients) drive_expect(!srv_clients_by_token(clients, "no token", 0).name, "an unknown token names no client");
    srv_clients_free(clients);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *text = malloc(size);
    drive_expect(text != NULL, "memory");
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 3 == 0) check_forwarded(text);
    if (data[0] % 3 == 1) check_proxy_header(data + 1, size - 1);
    if (data[0] % 3 == 2) check_clients(data + 1, size - 1);
    free(text);
    return 0;
}
