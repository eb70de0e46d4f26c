/* published.h - declares two robots whose parameters and results are printed in the literature, as descriptions.
 *
 * three_link  Lynch & Park 2017, the example of the book's library: home frames, spatial inertias and screw axes, the
 *             first of which is not of unit length
 * puma560     Corke & Armstrong-Hélouvry 1994, with the numbers of the Robotics Toolbox: standard DH, motors with gears
 */
#pragma once
#include "dynamics/model/model.h"

typedef struct published {
    dyn_description description;
    dyn_link        link[6];
    dyn_pose        tip; /* pose in the frame of the last link */
} published;

/* Builds a robot. description.links points into `*robot`, so `*robot` must not be copied. */
void published_three_link(published *robot);
void published_puma560(published *robot);
