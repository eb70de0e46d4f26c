/* node_build.c - see node_build.h: stack open arrays and objects, and pack their numbers. */
#include "node_build.h"
#include <string.h>

enum { FIRST_NODES = 24, FIRST_ROOM = 1024, MOST_ROOM = 64 * 1024, FIRST_NUMBERS = 32 };
enum { COPY_LOOK = 256 * 1024 /* numbers copied between two checks of the deadline; up to 2 ms on fresh pages */ };

/* --- memory ----------------------------------------------------------------------------------------------------- */

/* Allocates a small piece, aligned for nodes, from the current block; a large piece gets a block of its own. */
static void *take_piece(api_builder *b, size_t bytes)
{
    bytes = (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    if (bytes > (size_t)(b->room_end - b->room)) {
        size_t block = bytes > MOST_ROOM / 8 ? bytes : MOST_ROOM / 8;
        char  *more  = api_take(b->pool, block);
        if (!more || block == bytes) return more; /* a large piece: keep using the rest of the current block */
        b->room     = more;
        b->room_end = more + block;
    }
    void *piece = b->room;
    b->room += bytes;
    return piece;
}

static char *copy_text(api_builder *b, const char *text, size_t length)
{
    char *copy = take_piece(b, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

bool api_build_start(api_builder *b, const api_read_options *options, size_t numbers)
{
    size_t open = options->nesting * sizeof *b->open, stack = FIRST_NODES * sizeof *b->stack;
    *b = (api_builder){
        .pool = options->pool, .deadline = options->deadline, .nesting = options->nesting, .capacity = FIRST_NODES};
    char *memory = api_take(b->pool, open + stack + FIRST_ROOM);
    if (!memory) return false;
    b->open     = (api_open_value *)(void *)memory;
    b->stack    = (api_node *)(void *)(memory + open);
    b->room     = memory + open + stack;
    b->room_end = b->room + FIRST_ROOM;
    return api_build_grow_numbers(b, numbers > FIRST_NUMBERS ? numbers : FIRST_NUMBERS);
}

static bool move_numbers(api_builder *b, double *to, const double *from, size_t count)
{
    for (size_t done = 0; done < count && !b->late; done += COPY_LOOK) {
        size_t more = count - done < COPY_LOOK ? count - done : COPY_LOOK;
        memcpy(to + done, from + done, more * sizeof *to);
        b->late = count > COPY_LOOK && !api_deadline_check(b->deadline, b->pool->problem);
    }
    return !b->late;
}

/* Moves the numbers of open arrays to a larger block. The numbers of closed arrays stay, since nodes point to them. */
bool api_build_grow_numbers(api_builder *b, size_t count)
{
    size_t d = 0;
    if (count <= b->numbers_capacity - b->n_numbers) return true;
    while (d < b->depth && !b->open[d].packing)
        d++;
    size_t from     = d < b->depth ? b->open[d].first_number : b->n_numbers;
    size_t kept     = b->n_numbers - from;
    size_t capacity = kept + (count > kept ? count : kept);
    if (capacity < b->numbers_capacity) capacity = b->numbers_capacity;
    double *numbers = api_take(b->pool, capacity * sizeof *numbers);
    if (!numbers) return false;
    if (kept > 0 && !move_numbers(b, numbers, b->numbers + from, kept)) return false;
    for (; d < b->depth; d++)
        b->open[d].first_number -= b->open[d].packing ? from : 0;
    b->numbers          = numbers;
    b->n_numbers        = kept;
    b->numbers_capacity = capacity;
    return true;
}

static bool grow_stack(api_builder *b)
{
    api_node *stack = api_take(b->pool, 2 * b->capacity * sizeof *stack);
    if (!stack) return false;
    memcpy(stack, b->stack, b->used * sizeof *stack);
    b->stack = stack;
    b->capacity *= 2;
    return true;
}

/* --- values ----------------------------------------------------------------------------------------------------- */

static bool push(api_builder *b, const api_node *node)
{
    if (b->used == b->capacity && !grow_stack(b)) return false;
    b->stack[b->used++] = *node;
    return true;
}

/* Makes a node for each packed item of an array, because its next item is of another kind. */
static bool unpack(api_builder *b, api_open_value *array)
{
    size_t size = 1;
    for (size_t axis = 0; axis < array->rank; axis++)
        size *= array->extent[axis];
    for (size_t i = 0; i < array->count; i++) {
        const double *numbers = b->numbers + array->first_number + i * size;
        api_node      item    = {.kind = API_NUMBER};
        if (array->rank == 0) {
            item.number = *numbers;
        } else {
            item = (api_node){.kind = API_ARRAY, .rank = array->rank, .numbers = (const unsigned char *)numbers};
            memcpy(item.extent, array->extent, sizeof array->extent);
        }
        if (!push(b, &item)) return false;
    }
    array->packing = false;
    return true;
}

/* Adds a value that is not packed with its neighbours in an array. */
static bool add_value(api_builder *b, api_node *node)
{
    if (b->depth == 0) {
        b->root = *node;
        return true;
    }
    api_open_value *top = &b->open[b->depth - 1];
    if (top->packing && !unpack(b, top)) return false;
    if (top->object) {
        node->key        = top->key;
        node->key_length = top->key_length;
        node->key_offset = top->key_offset;
        top->nulls |= node->kind == API_NULL;
    }
    return push(b, node);
}

bool api_build_key(api_builder *b, const char *key, size_t length, size_t offset)
{
    api_open_value *top = &b->open[b->depth - 1];
    top->key            = copy_text(b, key, length);
    top->key_length     = (uint32_t)length;
    top->key_offset     = (uint32_t)offset;
    return top->key != NULL;
}

bool api_build_string(api_builder *b, const char *text, size_t length)
{
    api_node node = {.kind = API_STRING, .extent = {(uint32_t)length}, .text = copy_text(b, text, length)};
    return node.text && add_value(b, &node);
}

bool api_build_constant(api_builder *b, api_kind kind)
{
    api_node node = {.kind = (uint8_t)kind};
    return add_value(b, &node);
}

bool api_build_unpacked_number(api_builder *b, double number)
{
    api_node node = {.kind = API_NUMBER, .number = number};
    return add_value(b, &node);
}

/* --- arrays and objects ----------------------------------------------------------------------------------------- */

/* Returns the innermost open array if it stays packed with an item of this shape; NULL otherwise. */
static api_open_value *find_packing_array(api_builder *b, size_t rank, const uint32_t *extent)
{
    api_open_value *top = b->depth > 0 ? &b->open[b->depth - 1] : NULL;
    if (!top || !top->packing || rank == API_PACKED_RANK) return NULL;
    if (top->count > 0) {
        bool same = top->rank == rank;
        for (size_t axis = 0; axis < rank; axis++)
            same &= top->extent[axis] == extent[axis];
        return same ? top : NULL;
    }
    top->rank = (uint8_t)rank;
    memcpy(top->extent, extent, rank * sizeof *extent);
    return top;
}

bool api_build_packed(api_builder *b, const api_node *numbers)
{
    api_node        node = *numbers;
    api_open_value *top  = find_packing_array(b, node.rank, node.extent);
    size_t          n    = 1;
    if (!top) return add_value(b, &node);
    for (size_t axis = 0; axis < node.rank; axis++)
        n *= node.extent[axis];
    if (!api_build_grow_numbers(b, n)) return false;
    api_node_numbers(&node, 0, n, b->numbers + b->n_numbers);
    b->n_numbers += n;
    top->count++;
    return true;
}

bool api_build_open(api_builder *b, bool object)
{
    bool among_packed = b->depth > 0 && b->open[b->depth - 1].packing;
    if (object && among_packed && !unpack(b, &b->open[b->depth - 1])) return false;
    b->open[b->depth++] =
        (api_open_value){.object = object, .packing = !object, .first_number = b->n_numbers, .first = b->used};
    return true;
}

static bool close_packed(api_builder *b, const api_open_value *array)
{
    api_node node = {.kind = API_ARRAY, .rank = (uint8_t)(array->rank + 1), .extent = {(uint32_t)array->count}};
    memcpy(node.extent + 1, array->extent, array->rank * sizeof *array->extent);
    node.numbers        = (const unsigned char *)(b->numbers + array->first_number);
    api_open_value *top = find_packing_array(b, node.rank, node.extent);
    if (!top) return add_value(b, &node);
    top->count++; /* the numbers need no copy: they already follow the numbers of the previous items */
    return true;
}

static bool check_keys_differ(const api_builder *b, const api_node *object)
{
    const api_node *member = api_node_find_repeated_key(object);
    if (!member) return true;
    api_fail(b->pool->problem, API_DUPLICATE_KEY, NULL, "the key \"%.64s\" appears twice in one object", member->key);
    b->pool->problem->offset = member->key_offset;
    return false;
}

/* Removes the members that are null from an object with members `items`, and sorts its index again. */
static void drop_nulls(api_node *object, api_node *items)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->extent[0]; i++)
        if (items[i].kind != API_NULL) items[kept++] = items[i];
    object->extent[0] = kept;
    api_node_find_repeated_key(object);
}

bool api_build_close(api_builder *b)
{
    api_open_value top = b->open[--b->depth];
    if (top.packing) return close_packed(b, &top);
    size_t    n     = b->used - top.first;
    api_node *items = take_piece(b, top.object ? api_node_members_bytes(n) : n * sizeof *items);
    api_node  node  = {.kind = top.object ? API_OBJECT : API_ARRAY, .extent = {(uint32_t)n}, .items = items};
    if (!items) return false;
    memcpy(items, b->stack + top.first, n * sizeof *items);
    if (top.object && !check_keys_differ(b, &node)) return false;
    if (top.nulls) drop_nulls(&node, items);
    b->used = top.first;
    return add_value(b, &node);
}

api_pointer api_build_pointer(const api_builder *b)
{
    api_pointer p = api_pointer_root();
    for (size_t d = 0; d < b->depth; d++) {
        const api_open_value *open  = &b->open[d];
        size_t                nodes = (d + 1 < b->depth ? b->open[d + 1].first : b->used) - open->first;
        if (open->object && !open->key) break;
        p = open->object ? api_pointer_key(&p, open->key) : api_pointer_index(&p, open->packing ? open->count : nodes);
    }
    return p;
}
