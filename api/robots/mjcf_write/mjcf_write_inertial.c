/* mjcf_write_inertial.c - write poses and inertias of bodies, and find bodies that MuJoCo refuses. */
#include "api/robots/inertia_bounds/bound.h"
#include "mjcf_write.h"
#include <string.h>

static void put_turn(api_xml_writer *w, xmlNode *element, const dyn_pose *X)
{
    double   q[4];
    dyn_pose turn = *X;
    memset(turn.p, 0, sizeof turn.p);
    if (dyn_pose_is_identity(&turn)) return;
    dyn_quaternion_of((const double(*)[3])X->R, q);
    api_xml_put_numbers(w, element, "quat", (double[4]){q[3], q[0], q[1], q[2]}, 4);
}

void api_mjcf_put_pose(api_xml_writer *w, xmlNode *element, const dyn_pose *X)
{
    if (X->p[0] != 0 || X->p[1] != 0 || X->p[2] != 0) api_xml_put_numbers(w, element, "pos", X->p, 3);
    put_turn(w, element, X);
}

bool api_mjcf_has_inertia(const dyn_inertia *inertia)
{
    bool has = inertia->mass != 0;
    for (int i = 0; i < 6; i++)
        has = has || inertia->about_com[i] != 0;
    return has;
}

void api_mjcf_put_inertial(api_xml_writer *w, xmlNode *body, const dyn_inertia *inertia, bool shaped)
{
    const double *t = inertia->about_com; /* xx xy xz yy yz zz */
    if (!api_mjcf_has_inertia(inertia) && !shaped) return;
    xmlNode *inertial = api_xml_put(w, body, "inertial");
    dyn_pose X        = dyn_pose_identity();
    double   I[3]     = {t[0], t[3], t[5]};
    if (t[1] != 0 || t[2] != 0 || t[4] != 0) api_tensor_principal(t, I, X.R);
    api_inertia_round_moments(I);
    memcpy(X.p, inertia->com, sizeof X.p);
    api_xml_put_numbers(w, inertial, "pos", inertia->com, 3);
    put_turn(w, inertial, &X);
    api_xml_put_number(w, inertial, "mass", inertia->mass);
    api_xml_put_numbers(w, inertial, "diaginertia", I, 3);
}

void api_mjcf_report_refused(api_xml_writer *w, const char *name, const dyn_inertia *inertia, bool undetermined)
{
    if (undetermined && inertia->mass < API_SOUND_LEAST)
        api_xml_not_held(w, "/links",
                         "link \"%.*s\" moves without a mass: MuJoCo refuses such a body; --bound mends it",
                         api_text_shown(name), name);
    else if (undetermined || api_inertia_is_impossible(inertia))
        api_xml_not_held(
            w, "/links",
            "the inertia tensor of link \"%.*s\" is of a kind that MuJoCo refuses: the "
            "principal moments of a body are positive, and none exceeds the sum of the others; --bound mends it",
            api_text_shown(name), name);
}
