/* test_buffer.c - checks the growable buffer and the arena: limits hold, a failed buffer stays failed, nothing
 * leaks. */
#include "api/base/memory/arena.h"
#include "api/base/memory/buffer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void buffers_grow_and_are_taken(void **state)
{
    api_buffer b;
    api_buffer_init(&b, 1 << 20);
    for (int i = 0; i < 10000; i++)
        api_buffer_format(&b, "%d,", i);
    api_buffer_text(&b, "end");
    size_t length = b.length;
    char  *text   = api_buffer_take(&b);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    assert_memory_equal(text, "0,1,2,", 6);
    assert_string_equal(text + length - 8, "9999,end");
    assert_null(b.data); /* the caller owns the memory now */
    free(text);
    api_buffer_free(&b);
}

static void buffers_keep_their_limit(void **state)
{
    api_buffer b;
    for (size_t maximum = 0; maximum < 600; maximum += 7) {
        api_buffer_init(&b, maximum);
        for (size_t i = 0; i < maximum; i++)
            api_buffer_put(&b, "x", 1);
        assert_false(b.failed);
        assert_int_equal(b.length, maximum);
        assert_true(b.capacity <= maximum);
        api_buffer_put(&b, "x", 1);
        assert_true(b.failed);
        assert_int_equal(b.length, maximum);
        api_buffer_free(&b);
    }
}

static void failed_buffers_stay_failed(void **state)
{
    api_buffer b;
    api_buffer_init(&b, 8);
    api_buffer_text(&b, "1234");
    api_buffer_format(&b, "%s", "56789"); /* one byte too long: the buffer must not take even a part */
    assert_true(b.failed);
    api_buffer_text(&b, "5");
    assert_int_equal(b.length, 4);
    assert_null(api_buffer_room(&b, 0));
    assert_null(api_buffer_take(&b));
    assert_null(b.data);
    assert_true(b.failed);
    api_buffer_text(&b, "x");
    assert_int_equal(b.length, 0);
    api_buffer_init(&b, SIZE_MAX);
    api_buffer_text(&b, "x");
    assert_null(api_buffer_room(&b, SIZE_MAX - 1)); /* the sum of sizes must not wrap around */
    assert_null(api_buffer_take(&b));
}

static void empty_buffers_are_empty_text(void **state)
{
    api_buffer b;
    api_buffer_init(&b, 0);
    char *text = api_buffer_take(&b);
    assert_string_equal(text, "");
    free(text);
}

static void reserved_bytes_count_once_added(void **state)
{
    api_buffer b;
    api_buffer_init(&b, 100);
    char *room = api_buffer_room(&b, 50);
    assert_non_null(room);
    assert_int_equal(b.length, 0);
    memset(room, 'y', 50);
    b.length += 50;
    api_buffer_text(&b, "z");
    assert_memory_equal(b.data + 49, "yz", 2);
    api_buffer_free(&b);
}

static void arena_pieces(void **state)
{
    api_arena arena = {0};
    char     *piece[200];
    for (size_t i = 0; i < 200; i++) {
        size_t size = i * 37 % 9000;
        piece[i]    = api_arena_take(&arena, size, 1);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(piece[i][k], 0);
        memset(piece[i], (int)i, size);
    }
    for (size_t i = 0; i < 200; i++) /* no piece may overlap another */
        for (size_t k = 0; k < i * 37 % 9000; k++)
            assert_int_equal((unsigned char)piece[i][k], i);
    assert_true(arena.bytes >= 200 * 4000);
    assert_string_equal(api_arena_text(&arena, "text"), "text");
    assert_null(api_arena_take(&arena, SIZE_MAX, 8));
    assert_null(api_arena_take(&arena, SIZE_MAX / 8 + 1, 8));
    assert_null(api_arena_take(&arena, 1, SIZE_MAX - 3));
    api_arena_free(&arena);
    assert_int_equal(arena.bytes, 0);
    api_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_grow_and_are_taken),      cmocka_unit_test(buffers_keep_their_limit),
        cmocka_unit_test(failed_buffers_stay_failed),      cmocka_unit_test(empty_buffers_are_empty_text),
        cmocka_unit_test(reserved_bytes_count_once_added), cmocka_unit_test(arena_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
