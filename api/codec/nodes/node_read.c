/* node_read.c - see node_read.h: choose the reader of a format, and check the numbers that readers left
 * unchecked. */
#include "node_read.h"
#include "format.h"

bool api_read_request(const api_read_options *r, api_media content, const char *body, size_t length, api_node *root)
{
    return api_format_of(content)->read(r, body, length, root);
}

static size_t count_of(const api_node *numbers)
{
    size_t n = 1;
    for (size_t axis = 0; axis < numbers->rank; axis++)
        n *= numbers->extent[axis];
    return n;
}

bool api_check_members_finite(api_problem *problem, const api_node *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t count    = count_of(&members[i]),
               infinite = members[i].unchecked ? api_node_find_non_finite(&members[i], count) : count;
        if (infinite == count) continue;
        api_pointer root = api_pointer_root(), pointer = api_pointer_key(&root, members[i].key);
        return api_fail_non_finite(problem, &pointer, &members[i], infinite);
    }
    return true;
}

bool api_fail_non_finite(api_problem *problem, const api_pointer *pointer, const api_node *numbers, size_t i)
{
    api_pointer entry = *pointer;
    size_t      size  = count_of(numbers);
    for (size_t axis = 0; axis < numbers->rank; axis++) {
        size /= numbers->extent[axis];
        entry = api_pointer_index(&entry, i / size);
        i %= size;
    }
    return api_fail(problem, API_NON_FINITE, api_pointer_text(&entry), "the number is not finite");
}
