/* fuzz_request.c - sends arbitrary bodies of evaluation requests. The first byte chooses operation, model and
 * encoding. */
#include "drive.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "{\"links\":["
    "{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"revolute\",\"axis\":[0,0,1]},"
    "\"inertial\":{\"mass\":1,\"com\":[0.1,0,0]}},"
    "{\"name\":\"b\",\"parent\":\"a\",\"joint\":{\"name\":\"k\",\"type\":\"prismatic\",\"axis\":[1,0,0],"
    "\"friction\":{\"coulomb\":0.1},\"rotor_inertia\":0.1},\"inertial\":{\"mass\":1}}],"
    "\"frames\":[{\"name\":\"tip\",\"link\":\"b\"}]}";
static const char craft[] =
    "{\"base\":{\"type\":\"floating\",\"inertial\":{\"solid\":\"sphere\",\"size\":[1],\"mass\":1}},\"links\":["
    "{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"continuous\",\"axis\":[1,1,0]}},"
    "{\"name\":\"b\",\"parent\":\"a\",\"joint\":{\"name\":\"s\",\"type\":\"spherical\",\"origin\":{\"xyz\":[0,0,1]}},"
    "\"inertial\":{\"solid\":\"box\",\"size\":[1,2,3],\"mass\":1}},"
    "{\"name\":\"c\",\"parent\":\"b\",\"joint\":{\"name\":\"f\",\"type\":\"floating\"},"
    "\"inertial\":{\"solid\":\"sphere\",\"size\":[1],\"mass\":2,\"xyz\":[0,1,0]}}]}";
static const char spring[] =
    "{\"links\":["
    "{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"revolute\",\"axis\":[0,1,0],"
    "\"elastic\":{\"stiffness\":50,\"damping\":0.1}},\"inertial\":{\"mass\":1,\"com\":[0.1,0,0.2]}},"
    "{\"name\":\"b\",\"parent\":\"a\",\"joint\":{\"name\":\"k\",\"type\":\"revolute\",\"axis\":[1,0,0]},"
    "\"inertial\":{\"mass\":1,\"com\":[0.1,0.1,0]}}],"
    "\"motors\":[{\"joint\":\"j\",\"link\":\"a\",\"axis\":[0,0.6,0.8],\"gear_ratio\":5,\"spin_inertia\":0.01},"
    "{\"joint\":\"k\",\"link\":\"base\",\"axis\":[1,0,0],\"gear_ratio\":-3,\"spin_inertia\":0.02}],"
    "\"frames\":[{\"name\":\"tip\",\"link\":\"b\",\"xyz\":[0,0,1]}]}";
/* A parallelogram linkage: its third bar closes a loop. */
static const char bars[] =
    "{\"links\":["
    "{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"revolute\",\"axis\":[0,0,1]},"
    "\"inertial\":{\"mass\":1,\"com\":[0.5,0,0]}},"
    "{\"name\":\"b\",\"parent\":\"a\",\"joint\":{\"name\":\"k\",\"type\":\"revolute\",\"axis\":[0,0,1],"
    "\"origin\":{\"xyz\":[1,0,0]},\"actuated\":false,\"home\":-1},\"inertial\":{\"mass\":1,\"com\":[1,0,0]}},"
    "{\"name\":\"c\",\"parent\":\"base\",\"joint\":{\"name\":\"l\",\"type\":\"revolute\",\"axis\":[0,0,1],"
    "\"origin\":{\"xyz\":[2,0,0]},\"actuated\":false,\"home\":1},\"inertial\":{\"mass\":1,\"com\":[0.5,0,0]}}],"
    "\"frames\":[{\"name\":\"tip\",\"link\":\"b\",\"xyz\":[2,0,0]},{\"name\":\"top\",\"link\":\"c\",\"xyz\":[1,0,0]}],"
    "\"loops\":[{\"name\":\"pin\",\"frame_a\":\"tip\",\"frame_b\":\"top\",\"type\":\"revolute\",\"axis\":[0,0,1]}]}";

static const struct {
    const char *name, *document;
} models[] = {{"arm", arm}, {"craft", craft}, {"spring", spring}, {"bars", bars}};

static const char *const operations[] = {"inverse-dynamics", "forward-dynamics", "mass-matrix", "bias",
                                         "kinematics",       "energy",           "evaluate",    "trajectory",
                                         "identify",         "simulate",         "task-space",  "regressor",
                                         "ground-reaction",  "impact",           "coriolis",    "sensitivity"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive *d;
    if (!d) {
        d = drive_open();
        for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
            char target[100];
            snprintf(target, sizeof target, "/v1/models/%s", models[i].name);
            unsigned status = drive_request(d, "PUT", target, models[i].document, strlen(models[i].document));
            drive_expect(status == 201, models[i].name);
        }
    }
    if (size == 0) return 0;
    char           target[100];
    const unsigned n = sizeof operations / sizeof *operations;
    snprintf(target, sizeof target, "/v1/models/%s/%s", models[data[0] / n % 4].name, operations[data[0] % n]);
    const char *type = data[0] / n / 4 % 2 ? "application/cbor" : "application/json";
    drive_typed(d, "POST", target, type, (const char *)data + 1, size - 1);
    return 0;
}
