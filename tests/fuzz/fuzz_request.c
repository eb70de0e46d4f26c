/* fuzz_request.c - arbitrary bodies of evaluation requests. The first byte chooses operation, model and encoding. */
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
    "{\"name\":\"a\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":\"continuous\",\"axis\":[1,1,0]}}]}";

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
        drive_expect(drive_request(d, "PUT", "/v1/models/arm", arm, strlen(arm)) == 201, "the arm is taken");
        drive_expect(drive_request(d, "PUT", "/v1/models/craft", craft, strlen(craft)) == 201, "the craft is taken");
    }
    if (size == 0) return 0;
    char           target[100];
    const unsigned n = sizeof operations / sizeof *operations;
    snprintf(target, sizeof target, "/v1/models/%s/%s", data[0] / n % 2 ? "craft" : "arm", operations[data[0] % n]);
    const char *type = data[0] / n / 2 % 2 ? "application/cbor" : "application/json";
    drive_typed(d, "POST", target, type, (const char *)data + 1, size - 1);
    return 0;
}
