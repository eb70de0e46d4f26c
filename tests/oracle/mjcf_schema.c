/* mjcf_schema.c - prints the MJCF table of api/robots/mjcf_schema/mjcf_schema.c, for tests and for the reference page:
 * one line of JSON per row, with lists of names as texts. */
#include "api/robots/mjcf_schema/mjcf_schema.h"
#include <stdio.h>

/* Names of the values of api_mjcf_use in mjcf_schema.h, in lower case. */
static const char *const uses[API_MJCF_USES] = {"held",     "expanded", "silent",   "irrelevant", "contact",
                                                "softness", "control",  "reported", "not_held",   "old"};

int main(void)
{
    size_t                n;
    const api_mjcf_known *known = api_mjcf_schema(&n);
    for (size_t i = 0; i < n; i++) {
        printf("{\"in\":\"%s\",\"names\":\"%s\",\"use\":\"%s\",\"class\":\"%s\",\"attributes\":{", known[i].in,
               known[i].names, uses[known[i].use], api_mjcf_use_name(known[i].use));
        const char *comma = "";
        for (api_mjcf_use use = 0; use < API_MJCF_USES; use++) {
            if (!known[i].attributes[use]) continue;
            printf("%s\"%s\":[\"%s\",\"%s\"]", comma, uses[use], api_mjcf_use_name(use), known[i].attributes[use]);
            comma = ",";
        }
        printf("}}\n");
    }
    return 0;
}
