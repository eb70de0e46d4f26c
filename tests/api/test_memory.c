/* test_memory.c - checks the memory of requests: the budget that all requests share, a request's pool, a worker's
 * scratch memory. */
#include "api/base/memory/pool.h"
#include "dynamics/dynamics.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CLAIM = 64 * 1024 }; /* bytes that a pool claims at once */

static api_problem problem;

static int no_problem(void **state)
{
    api_problem_clear(&problem);
    return 0;
}

static void assert_refused(bool claimed, api_code code, const char *said)
{
    assert_false(claimed);
    assert_int_equal(problem.code, code);
    if (!strstr(problem.detail, said)) fail_msg("\"%s\" does not say \"%s\"", problem.detail, said);
    api_problem_clear(&problem);
}

/* A budget must be exact to the byte, and a refused claim must change nothing. */
static void budgets_are_exact_to_the_byte(void **state)
{
    api_budget budget = {.limit = 1000};
    api_share  a = {.budget = &budget}, b = {.budget = &budget};
    assert_true(api_claim(&a, 600, &problem));
    assert_refused(api_claim(&b, 401, &problem), API_MEMORY_FULL, "401 bytes more; of the budget of 1000 bytes, 600");
    assert_true(b.bytes == 0 && budget.used == 600);
    assert_true(api_claim(&b, 400, &problem));
    assert_true(a.bytes == 600 && b.bytes == 400 && budget.used == 1000);
    assert_true(api_claim(&b, 0, &problem));
    assert_refused(api_claim(&b, 1, &problem), API_MEMORY_FULL, "1000 are in use");
    api_unclaim(&a, 600);
    assert_true(api_claim(&b, 600, &problem));
    assert_true(a.bytes == 0 && b.bytes == 1000 && budget.used == 1000);
    api_unclaim(&b, 1000);
    assert_true(b.bytes == 0 && budget.used == 0);
}

/* A claim above the whole limit must be refused for good; a claim that would fit if other claims were released, as
   temporary. */
static void claims_above_the_limit_are_refused(void **state)
{
    api_budget budget = {.limit = 1000};
    api_share  a = {.budget = &budget}, b = {.budget = &budget};
    assert_refused(api_claim(&a, 1001, &problem), API_TOO_MUCH_MEMORY, "1001 bytes more than its present 0");
    assert_refused(api_claim(&a, SIZE_MAX, &problem), API_TOO_MUCH_MEMORY, "the limit for all requests is 1000");
    assert_true(api_claim(&a, 300, &problem) && api_claim(&b, 500, &problem));
    assert_refused(api_claim(&a, 701, &problem), API_TOO_MUCH_MEMORY, "701 bytes more than its present 300");
    assert_refused(api_claim(&a, 700, &problem), API_MEMORY_FULL, "700 bytes more");
}

enum { THREADS = 4, ROUNDS = 20000 };
static api_budget shared = {.limit = 3 * 70};

/* Four threads claim 70 bytes each of a budget that holds three such shares: there must be refusals, and never more
 * than the limit in use. */
static void *claim_and_give_back(void *refusals)
{
    api_problem mine;
    api_share   share = {.budget = &shared};
    for (int i = 0; i < ROUNDS; i++) {
        api_problem_clear(&mine);
        if (!api_claim(&share, 70, &mine)) {
            ++*(size_t *)refusals;
            continue;
        }
        if (atomic_load(&shared.used) > shared.limit) abort();
        api_unclaim(&share, 70);
    }
    return NULL;
}

static void many_threads(void **state)
{
    pthread_t thread[THREADS];
    size_t    refusals[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, claim_and_give_back, &refusals[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&shared.used), 0);
}

/* A pool must claim pieces of 64 KiB, or the missing bytes if that is more, and return all of them at its end. */
static void pools_claim_in_pieces(void **state)
{
    api_budget  budget  = {.limit = 10 * CLAIM};
    api_share   share   = {.budget = &budget};
    api_scratch scratch = {0};
    api_pool    pool    = {.share = &share, .scratch = &scratch, .problem = &problem};
    assert_non_null(api_take(&pool, 100));
    assert_true(budget.used == CLAIM && pool.used == 100 && pool.claimed == CLAIM);
    assert_true(api_pool_claim(&pool, CLAIM - 100));
    assert_true(budget.used == CLAIM && pool.used == CLAIM);
    assert_true(api_pool_claim(&pool, 1));
    assert_int_equal(budget.used, 2 * CLAIM);
    assert_true(api_pool_claim(&pool, 3 * CLAIM)); /* CLAIM - 1 of these bytes are already claimed */
    assert_true(budget.used == 4 * CLAIM + 1 && pool.used == 4 * CLAIM + 1);
    assert_refused(api_pool_claim(&pool, 6 * CLAIM), API_TOO_MUCH_MEMORY, "the request needs");
    assert_true(pool.used == 4 * CLAIM + 1 && pool.claimed == 4 * CLAIM + 1);
    api_pool_end(&pool);
    assert_true(budget.used == 0 && share.bytes == 0 && pool.used == 0 && pool.claimed == 0);
    budget.limit = CLAIM - 1; /* where a whole piece does not fit, the pool claims only the bytes that it needs */
    assert_true(api_pool_claim(&pool, 100) && budget.used == 100 && pool.claimed == 100);
    assert_true(api_pool_claim(&pool, CLAIM - 101) && budget.used == CLAIM - 1);
    assert_refused(api_pool_claim(&pool, 1), API_TOO_MUCH_MEMORY, "the request needs 1 bytes more");
    api_pool_end(&pool);
    assert_true(budget.used == 0 && share.bytes == 0);
    api_scratch_free(&scratch);
}

static void zeroed_numbers(void **state)
{
    api_budget  budget  = {.limit = 4 * CLAIM};
    api_share   share   = {.budget = &budget};
    api_scratch scratch = {0};
    api_pool    pool    = {.share = &share, .scratch = &scratch, .problem = &problem};
    bool        room    = true;
    memset(api_take(&pool, 800), 0xff, 800);
    api_scratch_reset(&scratch);
    double *numbers = api_take_zeroed(&pool, 100, &room);
    assert_true(room);
    for (int i = 0; i < 100; i++)
        assert_true(numbers[i] == 0);
    assert_null(api_take_zeroed(&pool, CLAIM, &room));
    assert_false(room);
    api_take_zeroed(&pool, 1, &room);
    assert_false(room); /* a failed pool stays failed */
    api_pool_end(&pool);
    api_scratch_free(&scratch);
}

static bool overlaps(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Small pieces come from memory that the scratch keeps, large ones are allocated; no piece may overlap another. */
static void scratch_pieces(void **state)
{
    static const size_t sizes[] = {1, 63, 64, 65, 0, 100000, 150000, 30000, 300000, 8};
    enum { N = sizeof sizes / sizeof sizes[0] };
    api_scratch scratch = {0};
    for (int round = 0; round < 3; round++) {
        char *piece[N];
        for (int i = 0; i < N; i++) {
            piece[i] = api_scratch_take(&scratch, sizes[i]);
            assert_non_null(piece[i]);
            assert_int_equal((uintptr_t)piece[i] % DYN_ALIGN, 0);
            memset(piece[i], i, sizes[i]);
            for (int j = 0; j < i; j++)
                assert_false(overlaps(piece[i], sizes[i], piece[j], sizes[j]));
        }
        api_scratch_reset(&scratch);
        assert_null(scratch.extra);
        assert_int_equal(scratch.used, 0);
    }
    assert_null(api_scratch_take(&scratch, SIZE_MAX));
    assert_null(api_scratch_take(&scratch, SIZE_MAX - DYN_ALIGN));
    api_scratch_free(&scratch);
    assert_null(scratch.kept);
    api_scratch_free(&scratch);
}

enum { SHARED = 15 << 20, LIMIT = 16 << 20 }; /* bytes; a sixteenth of the limit is for light requests */

/* A client that is the only one may use four fifths of the shared part: each client must stay below four times the free
   bytes. */
static void clients_share_what_is_free(void **state)
{
    api_budget        budget = {.limit = LIMIT};
    api_client_memory greedy = {.used = 0}, polite = {.used = 0};
    api_share         a = {.budget = &budget, .client = &greedy}, b = {.budget = &budget, .client = &greedy};
    api_share         c     = {.budget = &budget, .client = &polite};
    const size_t      alone = SHARED / 5 * 4;
    assert_int_equal(api_memory_of_one_client(LIMIT), alone);
    assert_refused(api_claim(&a, alone + 1, &problem), API_TOO_MUCH_MEMORY, "one client may use");
    assert_true(api_claim(&a, alone - 70000, &problem) && api_claim(&b, 70000, &problem));
    assert_refused(api_claim(&b, 70000, &problem), API_CLIENT_MEMORY_FULL, "its share");
    assert_int_equal(greedy.wanted, alone + 70000);
    assert_int_equal(greedy.used, alone);

    /* The second client may use four fifths of the remaining fifth. */
    size_t left = SHARED - alone;
    assert_refused(api_claim(&c, left / 5 * 4 + 5, &problem), API_CLIENT_MEMORY_FULL, "its share");
    assert_true(api_claim(&c, left / 5 * 4, &problem));
    assert_refused(api_claim(&a, 70000, &problem), API_CLIENT_MEMORY_FULL, "its share");
    api_unclaim(&b, 70000);
    api_unclaim(&a, a.bytes);
    assert_true(greedy.used == 0 && a.bytes == 0 && budget.used == c.bytes);
    api_unclaim(&c, c.bytes);
    assert_true(polite.used == 0 && budget.used == 0);
}

/* Light requests get memory from the reserve when other requests get none: those of any client from its first half,
   those of clients that use little memory from its second half, and none beyond the limit. */
static void light_requests_have_a_reserve(void **state)
{
    enum { LIGHT = (1 << 20) / 128 };
    api_budget        budget = {.limit = LIMIT};
    api_client_memory heavy = {.used = 0}, client = {.used = 0};
    api_share         all = {.budget = &budget}, a = {.budget = &budget, .client = &heavy}, small[200];
    assert_true(api_claim(&all, SHARED, &problem)); /* a share without a client may use all of the shared part */
    assert_true(api_budget_is_exhausted(&budget));
    heavy.used = 1 << 20;
    assert_refused(api_claim(&a, LIGHT + 1, &problem), API_MEMORY_FULL, "in use");
    for (int i = 0; i < 64; i++) {
        small[i] = (api_share){.budget = &budget, .client = &heavy};
        assert_true(api_claim(&small[i], LIGHT, &problem));
    }
    assert_refused(
        api_claim(&a, 1, &problem), API_MEMORY_FULL,
        "in use"); /* the client has too much memory in use to be given any of the second half of the reserve */
    int n = 0;
    for (; n < 200; n++) {
        small[n] = (api_share){.budget = &budget, .client = &client};
        if (!api_claim(&small[n], LIGHT, &problem)) break;
    }
    assert_int_equal(n, 16); /* an eighth of the reserve */
    assert_true(budget.used <= budget.limit);
    api_problem_clear(&problem);
}

/* A request counts as light by all of its bytes: many small claims must not add up to a heavy request in the
   reserve. */
static void pieces_of_a_request_are_not_light(void **state)
{
    api_budget        budget = {.limit = LIMIT};
    api_client_memory client = {.used = 0};
    api_share         all = {.budget = &budget}, a = {.budget = &budget, .client = &client};
    assert_true(api_claim(&all, SHARED, &problem));
    assert_true(api_claim(&a, 5000, &problem));
    assert_refused(api_claim(&a, 5000, &problem), API_MEMORY_FULL, "in use");
    assert_int_equal(api_claim_generously(&a, 100, CLAIM, &problem), 100); /* from the reserve only the needed bytes are
                                                                              claimed, not a larger piece */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, no_problem)
    const struct CMUnitTest tests[] = {TEST(budgets_are_exact_to_the_byte),
                                       TEST(claims_above_the_limit_are_refused),
                                       TEST(many_threads),
                                       TEST(clients_share_what_is_free),
                                       TEST(light_requests_have_a_reserve),
                                       TEST(pieces_of_a_request_are_not_light),
                                       TEST(pools_claim_in_pieces),
                                       TEST(zeroed_numbers),
                                       TEST(scratch_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
