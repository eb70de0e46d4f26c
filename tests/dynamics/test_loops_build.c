/* test_loops_build.c - builds the loops of small trees: which coordinates are actuated, which joints move loops, what
 * is refused, and allocations that fail. */
#include "tests/dynamics/support/check.h"
#include "dynamics/loops/loops_build.h"
#include "dynamics/loops/mechanism.h"
#include "dynamics/math/geometry.h"
#include "dynamics/memory/arena.h"
#include <stdint.h>
#include <string.h>

enum { LINKS = 5 };

/* A tree of two branches, links 0 and 1 in series and link 2, whose ends are closed to a loop. Link 3 is a child of
   link 2 outside the loop; link 4 mimics link 0. */
typedef struct sample {
    dyn_arena      arena;
    dyn_model     *tree;
    dyn_loop_joint joint[LINKS];
    dyn_loop       loop;
    dyn_frame_pair pair;
    dyn_loops      loops;
} sample;

static dyn_link hinge(int parent, double x)
{
    return (dyn_link){.parent  = parent,
                      .joint   = DYN_REVOLUTE,
                      .before  = dyn_pose_translation(x, 0, 0),
                      .axis    = {0, 0, 1},
                      .after   = dyn_pose_identity(),
                      .ratio   = 1,
                      .inertia = {.mass = 1, .about_com = {1, 0, 0, 1, 0, 1}}};
}

static void open_sample(sample *s)
{
    dyn_link links[LINKS] = {hinge(DYN_WORLD, 0), hinge(0, 1), hinge(DYN_WORLD, 2), hinge(2, 0.5), hinge(2, 1.5)};
    links[4].mimic        = true;
    links[4].leader       = 0;
    links[4].ratio        = -3;
    const dyn_description description = {.n_links = LINKS, .links = links};
    *s                                = (sample){.loop = {.kind = DYN_LOOP_REVOLUTE, .u = {0, 0, 1}}};
    assert_int_equal(dyn_model_build(&description, &s->tree, NULL), DYN_OK);
    s->pair             = (dyn_frame_pair){{1, dyn_pose_translation(2, 0, 0)}, {2, dyn_pose_translation(1, 0, 0)}};
    s->loops            = (dyn_loops){.n = 1, .loop = &s->loop, .pair = &s->pair};
    s->joint[1].passive = s->joint[2].passive = true;
}

static void close_sample(sample *s)
{
    dyn_arena_free(&s->arena);
    dyn_model_free(s->tree);
}

static dyn_loops_result build(sample *s, size_t *where)
{
    return dyn_loops_build(dyn_arena_memory(&s->arena), s->tree, s->joint, &s->loops, where);
}

static void coordinates_are_sorted(void **state)
{
    sample       s;
    const double home = -0.5;
    open_sample(&s);
    s.joint[1].home = &home;
    assert_int_equal(build(&s, NULL), DYN_LOOPS_BUILT);
    const dyn_loops *l = &s.loops;
    assert_true(l->nq == 4 && l->nv == 4 && l->n_passive == 2 && l->n_passive_q == 2 && l->rows == 5);
    assert_true(l->active_v[0] == 0 && l->active_v[1] == 3 && l->passive_q[0] == 1 && l->passive_q[1] == 2);
    assert_true(l->active_index_v[0] == 0 && l->active_index_v[1] == -1 && l->active_index_v[3] == 1);
    assert_true(l->home[0] == 0 && l->home[1] == -0.5 && !l->has_home[0] && l->has_home[1]);
    assert_true(l->length == 2);
    /* The mimic follows link 0 with a ratio of -3. Link 3 moves no loop. */
    assert_true(l->travel[0] == 3 && l->travel[1] == 1 && l->travel[2] == 1 && l->travel[3] == 0);
    const dyn_mechanism mechanism = dyn_mechanism_of(s.tree, l);
    assert_true(mechanism.nq == 2 && mechanism.nv == 2);
    close_sample(&s);
}

static void wrong_loops_are_refused(void **state)
{
    sample s;
    size_t where = 9;
    open_sample(&s);
    s.joint[3].passive = true;
    assert_int_equal(build(&s, &where), DYN_LOOPS_UNDETERMINED);
    assert_int_equal(where, 3);
    close_sample(&s);

    open_sample(&s);
    s.joint[1].passive = s.joint[2].passive = false;
    assert_int_equal(build(&s, &where), DYN_LOOPS_ALL_ACTUATED);
    close_sample(&s);

    open_sample(&s);
    for (size_t i = 0; i < LINKS; i++)
        s.joint[i].passive = true;
    assert_int_equal(build(&s, &where), DYN_LOOPS_ALL_PASSIVE);
    close_sample(&s);

    open_sample(&s);
    s.pair.b.body = s.pair.a.body;
    assert_int_equal(build(&s, &where), DYN_LOOPS_ONE_BODY);
    assert_int_equal(where, 0);
    close_sample(&s);
}

/* An allocator that fails after a given number of allocations. */
typedef struct few_pieces {
    dyn_arena arena;
    size_t    left;
} few_pieces;

static void *take_few(void *arg, size_t bytes)
{
    few_pieces *few = arg;
    return few->left-- > 0 ? dyn_take(dyn_arena_memory(&few->arena), bytes) : NULL;
}

static void refused_memory_is_reported(void **state)
{
    dyn_loops_result result = DYN_LOOPS_NO_MEMORY;
    for (size_t pieces = 0; result != DYN_LOOPS_BUILT; pieces++) {
        sample     s;
        few_pieces few = {.left = pieces};
        open_sample(&s);
        result = dyn_loops_build((dyn_memory){take_few, &few}, s.tree, s.joint, &s.loops, NULL);
        assert_int_equal(result, pieces < 11 ? DYN_LOOPS_NO_MEMORY : DYN_LOOPS_BUILT);
        dyn_arena_free(&few.arena);
        close_sample(&s);
    }
}

static void pieces_of_an_arena_are_aligned(void **state)
{
    dyn_arena  arena    = {0};
    dyn_memory memory   = dyn_arena_memory(&arena);
    char      *piece[5] = {0};
    for (size_t i = 0; i < 5; i++) {
        piece[i] = dyn_take(memory, 63 * i);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % DYN_ALIGN, 0);
        memset(piece[i], (int)i, 63 * i);
    }
    for (size_t i = 1; i < 5; i++)
        assert_true(piece[i][0] == (char)i && piece[i][63 * i - 1] == (char)i);
    assert_null(dyn_take(memory, SIZE_MAX));
    dyn_arena_free(&arena);
    assert_null(arena.last);
    assert_non_null(dyn_take(memory, 1));
    dyn_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_are_sorted),
        cmocka_unit_test(wrong_loops_are_refused),
        cmocka_unit_test(refused_memory_is_reported),
        cmocka_unit_test(pieces_of_an_arena_are_aligned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
