/* sample.c - computes with libdynamics alone, without a server: inverse dynamics, a closed loop, a simulation and an
 * identification. `make sample` builds it; the headers of dynamics/ are the manual. */
#include "samples.h"
#include <stdio.h>

int main(void)
{
    static const struct {
        const char *name;
        bool (*show)(void);
    } samples[] = {{"inverse dynamics", show_inverse_dynamics},
                   {"loop", show_loop},
                   {"simulation", show_simulation},
                   {"identification", show_identification}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        if (samples[i].show()) continue;
        fprintf(stderr, "the sample of %s failed\n", samples[i].name);
        return 1;
    }
    return 0;
}
