/* libcbor.c - libcbor: libcbor encode|decode turns JSON on standard input into CBOR, or CBOR of maps, arrays, texts and
 * numbers into JSON. Jansson reads the JSON. */
#include <cbor.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_cbor(cbor_item_t *item);

static void print_cbor_array(cbor_item_t *array)
{
    printf("[");
    for (size_t i = 0; i < cbor_array_size(array); i++) {
        cbor_item_t *entry = cbor_array_get(array, i);
        printf(i > 0 ? "," : "");
        print_cbor(entry);
        cbor_decref(&entry);
    }
    printf("]");
}

static void print_cbor_map(cbor_item_t *map)
{
    printf("{");
    for (size_t i = 0; i < cbor_map_size(map); i++) {
        printf(i > 0 ? "," : "");
        print_cbor(cbor_map_handle(map)[i].key);
        printf(":");
        print_cbor(cbor_map_handle(map)[i].value);
    }
    printf("}");
}

static void print_cbor(cbor_item_t *item)
{
    if (cbor_isa_array(item))
        print_cbor_array(item);
    else if (cbor_isa_map(item))
        print_cbor_map(item);
    else if (cbor_isa_string(item))
        printf("\"%.*s\"", (int)cbor_string_length(item), (const char *)cbor_string_handle(item));
    else if (cbor_is_float(item))
        printf("%.17g", cbor_float_get_float(item));
    else if (cbor_isa_uint(item))
        printf("%llu", (unsigned long long)cbor_get_int(item));
    else
        printf("null");
}

static cbor_item_t *built_cbor(json_t *value)
{
    const char  *key;
    json_t      *entry;
    cbor_item_t *item;
    if (json_is_array(value)) {
        item = cbor_new_definite_array(json_array_size(value));
        for (size_t i = 0; i < json_array_size(value); i++)
            cbor_array_push(item, cbor_move(built_cbor(json_array_get(value, i))));
        return item;
    }
    if (!json_is_object(value)) return cbor_build_float8(json_number_value(value));
    item = cbor_new_definite_map(json_object_size(value));
    json_object_foreach (value, key, entry) {
        struct cbor_pair pair = {cbor_move(cbor_build_string(key)), cbor_move(built_cbor(entry))};
        cbor_map_add(item, pair);
    }
    return item;
}

int main(int n, char **arguments)
{
    static unsigned char    input[1 << 20];
    unsigned char          *output;
    struct cbor_load_result result;
    size_t                  length = fread(input, 1, sizeof input, stdin), room;
    if (n == 2 && strcmp(arguments[1], "decode") == 0) {
        cbor_item_t *item = cbor_load(input, length, &result);
        if (!item) return 1;
        print_cbor(item);
        cbor_decref(&item);
        return 0;
    }
    json_t *value = json_loadb((const char *)input, length, 0, NULL);
    if (!value) return 1;
    length = cbor_serialize_alloc(built_cbor(value), &output, &room);
    fwrite(output, 1, length, stdout);
    return 0;
}
