// one.cc - asks for the torques that move a Puma 560 as wanted.
#include "torqued.hpp"
#include <cstdio>

int main(int count, char **arguments)
{
    torqued::Client           client(count > 1 ? arguments[1] : "http://127.0.0.1:8088");
    const std::vector<double> rates(6, 1.0); // rad/s, rad/s^2
    const auto                tau = client.evaluate(
                       "puma560", "inverse-dynamics",
                       {{"q", {0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0}}, {"qd", rates}, {"qdd", rates}},
                       "tau"); // N m
    for (std::size_t i = 0; i < tau.size(); i++)
        std::printf("%.17g%c", tau[i], i < 5 ? ',' : '\n');
}
