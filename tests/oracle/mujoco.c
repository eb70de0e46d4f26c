/* mujoco.c - prints the dynamics that MuJoCo computes for a model file, for tests of the MJCF and SDF readers.
 *
 *     mujoco FILE <STATES     states: lines of nq positions, nv velocities and nv accelerations
 *     mujoco FILE --compile   prints the compiled model as MJCF instead
 *
 * The first line describes the model as JSON; one line of JSON per state follows. Coordinates and their conventions are
 * MuJoCo's. Contacts, limits, equalities and dry friction are off. */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_numbers(const char *name, const mjtNum *v, int n)
{
    printf("\"%s\":[", name);
    for (int i = 0; i < n; i++)
        printf("%s%.17g", i > 0 ? "," : "", v[i]);
    printf("]");
}

static void print_names(const mjModel *m, const char *key, int type, int n)
{
    printf("\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        const char *name = mj_id2name(m, type, i);
        printf("%s\"%s\"", i > 0 ? "," : "", name ? name : "");
    }
    printf("],");
}

static void print_model(const mjModel *m)
{
    printf("{\"nq\":%d,\"nv\":%d,", m->nq, m->nv);
    print_names(m, "joints", mjOBJ_JOINT, m->njnt);
    print_names(m, "bodies", mjOBJ_BODY, m->nbody);
    print_names(m, "sites", mjOBJ_SITE, m->nsite);
    printf("\"types\":[");
    for (int i = 0; i < m->njnt; i++)
        printf("%s%d", i > 0 ? "," : "", m->jnt_type[i]);
    printf("],");
    print_numbers("frictionloss", m->dof_frictionloss, m->nv);
    printf(",");
    print_numbers("mass", m->body_mass, m->nbody);
    printf(",");
    print_numbers("qpos0", m->qpos0, m->nq);
    printf("}\n");
}

static int read_numbers(mjtNum *v, int n)
{
    for (int i = 0; i < n; i++)
        if (scanf("%lf", &v[i]) != 1) return 0;
    return 1;
}

static void print_state(const mjModel *m, mjData *d, mjtNum *M)
{
    mj_inverse(m, d);
    mj_fullM(m, M, d->qM);
    printf("{");
    print_numbers("mass_matrix", M, m->nv * m->nv);
    printf(",");
    print_numbers("bias", d->qfrc_bias, m->nv);
    printf(",");
    print_numbers("passive", d->qfrc_passive, m->nv);
    printf(",");
    print_numbers("inverse", d->qfrc_inverse, m->nv);
    printf(",");
    print_numbers("xpos", d->xpos, 3 * m->nbody);
    printf(",");
    print_numbers("xquat", d->xquat, 4 * m->nbody);
    printf(",");
    print_numbers("site_xpos", d->site_xpos, 3 * m->nsite);
    printf(",");
    print_numbers("site_xmat", d->site_xmat, 9 * m->nsite);
    printf("}\n");
}

static void answer_states(const mjModel *m)
{
    mjData *d = mj_makeData(m);
    mjtNum *M = calloc((size_t)m->nv * (size_t)m->nv + 1, sizeof *M);
    if (!d || !M) abort();
    print_model(m);
    while (read_numbers(d->qpos, m->nq) && read_numbers(d->qvel, m->nv) && read_numbers(d->qacc, m->nv))
        print_state(m, d, M);
    free(M);
    mj_deleteData(d);
}

int main(int argc, char *argv[])
{
    char     why[1000] = "";
    mjModel *m         = argc > 1 ? mj_loadXML(argv[1], NULL, why, sizeof why) : NULL;
    if (!m) {
        fprintf(stderr, "%s\n", argc > 1 ? why : "mujoco FILE [--compile]");
        return 1;
    }
    m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_EQUALITY | mjDSBL_FRICTIONLOSS;
    int status = 0;
    if (argc > 2 && strcmp(argv[2], "--compile") == 0)
        status = mj_saveLastXML("/dev/stdout", m, why, sizeof why) ? 0 : 1;
    else
        answer_states(m);
    mj_deleteModel(m);
    return status;
}
