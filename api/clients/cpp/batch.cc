// batch.cc - writes the torques of a Panda along a motion of 10 000 states as CSV.
#include "torqued.hpp"
#include <cstdio>

int main(int count, char **arguments)
{
    constexpr std::size_t rows = 10000, joints = 7;
    const double from[joints] = {0, -0.5, 0, -2, 0, 1.5, 0.5}, to[joints] = {1, 0.5, -0.5, -1, 0.5, 2, -0.5}; // rad
    std::vector<double> q, qd, qdd;

    for (std::size_t i = 0; i < rows; i++) { // from rest to rest in 2 s, the jerk as small as possible
        const double s = double(i) / 9999;
        for (std::size_t j = 0; j < joints; j++) {
            const double way = to[j] - from[j];
            q.push_back(from[j] + way * (s * s * s * (10 + s * (6 * s - 15))));
            qd.push_back(way * (30 * s * s * (1 - s) * (1 - s) / 2));
            qdd.push_back(way * (60 * s * (1 - s) * (1 - 2 * s) / 4));
        }
    }
    torqued::Client client(count > 1 ? arguments[1] : "http://127.0.0.1:8088");
    const auto      tau =
        client.evaluate("panda", "inverse-dynamics", {{"q", q, rows}, {"qd", qd, rows}, {"qdd", qdd, rows}}, "tau");

    std::puts("t,tau1,tau2,tau3,tau4,tau5,tau6,tau7");
    for (std::size_t i = 0; i < rows; i++) {
        std::printf("%.17g", double(i) / 9999 * 2);
        for (std::size_t j = 0; j < joints; j++)
            std::printf(",%.17g", tau[i * joints + j]);
        std::printf("\n");
    }
}
