/* published.h - two robots whose figures and results are printed in the literature, as descriptions.
 *
 *   three_link  Lynch & Park 2017, the example of the book's library: home frames, spatial inertias
 *               and screw axes, the first of which is not of unit length
 *   puma560     Corke & Armstrong-Hélouvry 1994, as the Robotics Toolbox carries it: standard DH, motors with gears */
#pragma once
#include "dynamics/model/model.h"

typedef struct published {
    dyn_description description;
    dyn_link        link[6];
    dyn_pose        tip; /* in the last link's frame */
} published;

/* description.links points into the result: keep it where it is. */
void published_three_link(published *robot);
void published_puma560(published *robot);
