// numbers.cc - measures nanoseconds to read and to write a number as text, by the kind of number: the server's portable
// and AVX2 code beside the C library, fast_float, dragonbox and, with BASE, the server's code of another commit. The
// runs of all are interleaved; the figures are medians of thread CPU time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dragonbox/dragonbox.h>
#include <fast_float/fast_float.h>
#include <functional>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "api/codec/number.h"
#ifdef HAVE_BASE
size_t base_numbers_read(const char *text, size_t length, double *values, size_t most, size_t *count);
size_t base_numbers_write(const double *values, size_t count, char *text);
#endif
}

namespace
{

constexpr std::size_t COUNT = 7000, WIDTH = 7;

std::mt19937_64 generator(1);

double uniform(double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(generator);
}

double of_bits(std::uint64_t mask)
{
    double value;
    do {
        std::uint64_t bits = generator() & mask;
        std::memcpy(&value, &bits, sizeof value);
    } while (!std::isfinite(value));
    return value;
}

struct kind {
    const char             *name;
    std::function<double()> make;
};

const kind kinds[] = {
    {"q, 17 digits", [] { return uniform(-3, 3); }},
    {"torques", [] { return uniform(-80, 80); }},
    {"two places", [] { return std::round(100 * uniform(-3, 3)) / 100; }},
    {"0 0.5 -1.25",
     [] {
         return std::vector<double>{0, 0.5, -1.25}[generator() % 3];
     }},
    {"integers", [] { return std::round(uniform(-10000, 10000)); }},
    {"zeros", [] { return 0.0; }},
    {"any double", [] { return of_bits(~std::uint64_t{0}); }},
    {"subnormal", [] { return of_bits(0x800FFFFFFFFFFFFF); }},
};

double now()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

// Holds numbers of one kind, and their text in rows.
struct sample {
    std::vector<double> values, got;
    std::vector<char>   out;
    std::string         rows, list;
};

sample make_sample(const kind &k)
{
    sample s;
    for (std::size_t i = 0; i < COUNT; i++)
        s.values.push_back(k.make());
    s.got.resize(COUNT);
    s.out.resize(COUNT * (API_NUMBER_MAX + 8) + API_NUMBER_ROOM);
    s.rows.assign(s.out.data(), api_rows_write(s.values.data(), COUNT, WIDTH, s.out.data()));
    s.list.assign(s.out.data(), api_numbers_write(s.values.data(), COUNT, s.out.data()));
    return s;
}

void read_rows(sample &s, const char *target)
{
    api_numbers_choose(target);
    const api_rows rows = {s.rows.data(), s.rows.data(), s.rows.data() + s.rows.size(), WIDTH};
    std::size_t    count;
    api_rows_read(&rows, s.got.data(), COUNT, &count);
}

void read_by_strtod(sample &s)
{
    char *p = s.list.data();
    for (double &value : s.got)
        value = std::strtod(p, &p), p++;
}

void read_by_fast_float(sample &s)
{
    const char *p = s.list.data(), *end = p + s.list.size();
    for (double &value : s.got)
        p = fast_float::from_chars(p, end, value).ptr + 1;
}

void write_rows(sample &s, const char *target)
{
    api_numbers_choose(target);
    api_rows_write(s.values.data(), COUNT, WIDTH, s.out.data());
}

void write_by_printf(sample &s)
{
    char *p = s.out.data();
    for (double value : s.values)
        p += std::snprintf(p, 32, "%.17g,", value);
}

void find_digits_by_dragonbox(sample &s)
{
    std::uint64_t sum = 0;
    for (double value : s.values)
        if (value != 0) sum += jkj::dragonbox::to_decimal(value).significand;
    std::memcpy(s.out.data(), &sum, sizeof sum);
}

struct way {
    const char                   *name;
    std::function<void(sample &)> run;
};

const way ways[] = {
    {"read: strtod", read_by_strtod},
    {"read: fast_float", read_by_fast_float},
#ifdef HAVE_BASE
    {"read: BASE, lists of 7",
     [](sample &s) {
         std::size_t count, at = 0;
         for (std::size_t i = 0; i < COUNT; i += WIDTH)
             at += base_numbers_read(s.list.data() + at, s.list.size() - at, s.got.data() + i, WIDTH, &count) + 1;
     }},
#endif
    {"read: portable, rows of 7", [](sample &s) { read_rows(s, "scalar"); }},
    {"read: AVX2, rows of 7", [](sample &s) { read_rows(s, "avx2"); }},
    {"write: printf %.17g", write_by_printf},
    {"write: dragonbox, digits only", find_digits_by_dragonbox},
#ifdef HAVE_BASE
    {"write: BASE, lists of 7",
     [](sample &s) {
         char *p = s.out.data();
         for (std::size_t i = 0; i < COUNT; i += WIDTH)
             p += base_numbers_write(s.values.data() + i, WIDTH, p) + 1;
     }},
#endif
    {"write: portable, rows of 7", [](sample &s) { write_rows(s, "scalar"); }},
    {"write: AVX2, rows of 7", [](sample &s) { write_rows(s, "avx2"); }},
};

} // namespace

int main(int argc, char **argv)
{
    const int                        rounds = argc > 1 ? std::atoi(argv[1]) : 51;
    std::vector<std::vector<double>> table;
    std::printf("| ns a number |");
    for (const kind &k : kinds) {
        std::printf(" %s |", k.name);
        sample                           s = make_sample(k);
        std::vector<std::vector<double>> times(std::size(ways));
        for (int round = 0; round < rounds; round++)
            for (std::size_t i = 0; i < std::size(ways); i++) {
                double began = now();
                ways[i].run(s);
                times[i].push_back((now() - began) / COUNT);
            }
        table.emplace_back();
        for (std::vector<double> &of_way : times) {
            std::nth_element(of_way.begin(), of_way.begin() + rounds / 2, of_way.end());
            table.back().push_back(of_way[static_cast<std::size_t>(rounds / 2)]);
        }
    }
    std::printf("\n|---|");
    for (std::size_t k = 0; k < std::size(kinds); k++)
        std::printf("--:|");
    for (std::size_t i = 0; i < std::size(ways); i++) {
        std::printf("\n| %s |", ways[i].name);
        for (const std::vector<double> &column : table)
            std::printf(" %.1f |", column[i]);
    }
    std::printf("\n");
    return 0;
}
