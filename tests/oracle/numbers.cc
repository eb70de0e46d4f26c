// numbers.cc - compare how the server reads and writes numbers with dragonbox, fast_float and the C library.
// Everything is done with the portable code and with that for AVX2.
//
//     numbers COUNT [SEED]    COUNT doubles and as many texts of each kind, random
//     numbers structured PART PARTS    2^32 doubles: every exponent, sign and pattern of the upper and lower bits of
//     the
//                                      mantissa; only every PARTS-th of them, from PART on
//
// Every text and its double lie at the end of memory of exactly their size. Prints what differs and exits with 1.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dragonbox/dragonbox.h>
#include <fast_float/fast_float.h>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "api/wire/number.h"
}

namespace
{

std::mt19937_64 generator;

std::uint64_t random_bits()
{
    return generator();
}

std::uint64_t below(std::uint64_t n)
{
    return random_bits() % n;
}

double from_bits(std::uint64_t bits)
{
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint64_t to_bits(double value)
{
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

[[noreturn]] void fail(const char *what, const std::string &text, double expected, double got)
{
    std::printf("%s: \"%s\": expected %.17g (%016" PRIx64 "), got %.17g (%016" PRIx64 ")\n", what, text.c_str(),
                expected, to_bits(expected), got, to_bits(got));
    std::exit(1);
}

// ECMA-262, Number::toString, of digits * 10^exponent.
std::string lay_out(std::uint64_t significand, int exponent)
{
    std::string s = std::to_string(significand);
    while (s.size() > 1 && s.back() == '0') {
        s.pop_back();
        exponent++;
    }
    const int k = static_cast<int>(s.size()), n = k + exponent;
    if (k <= n && n <= 21) return s + std::string(static_cast<std::size_t>(n - k), '0');
    if (0 < n && n <= 21) return s.insert(static_cast<std::size_t>(n), ".");
    if (-6 < n && n <= 0) return "0." + std::string(static_cast<std::size_t>(-n), '0') + s;
    if (k > 1) s.insert(1, ".");
    return s + (n > 0 ? "e+" : "e-") + std::to_string(std::abs(n - 1));
}

std::string reference_text(double value)
{
    const std::string sign = std::signbit(value) ? "-" : "";
    if (value == 0) return sign + "0";
    auto d = jkj::dragonbox::to_decimal(std::fabs(value), jkj::dragonbox::policy::sign::ignore);
    return sign + lay_out(d.significand, d.exponent);
}

// Texts that are read together in one list, as they stand in a request.
class List
{
  public:
    void add(const std::string &text)
    {
        double expected = std::strtod(text.c_str(), nullptr), other = 0;
        fast_float::from_chars(text.data(), text.data() + text.size(), other);
        if (to_bits(expected) != to_bits(other)) fail("strtod and fast_float differ", text, expected, other);
        if (!std::isfinite(expected)) return;
        texts.push_back(text);
        values.push_back(expected);
        if (texts.size() == MOST) check();
    }

    void check()
    {
        const std::size_t width = below(3) ? 1 + below(9) : 0;
        std::string       all;
        for (std::size_t i = 0; i < texts.size(); i++)
            all += (i == 0 ? "" : width > 0 && i % width == 0 ? "],[" : ",") + texts[i];
        std::vector<char>   exact(all.begin(), all.end());
        std::vector<double> got(values.size());
        std::size_t         count = 0, used;
        const api_rows      rows  = {exact.data(), exact.data(), exact.data() + exact.size(), width};
        used                      = api_rows_read(&rows, got.data(), got.size(), &count);
        for (std::size_t i = 0; i < count; i++)
            if (to_bits(got[i]) != to_bits(values[i])) fail("read in a list", texts[i], values[i], got[i]);
        if (count != values.size() || used != all.size())
            fail("a list is not read", all, double(values.size()), double(count));
        for (std::size_t i = 0; i < texts.size(); i++)
            check_alone(texts[i], values[i]);
        texts.clear();
        values.clear();
    }

  private:
    static constexpr std::size_t MOST = 200;

    void check_alone(const std::string &text, double expected)
    {
        std::vector<char> exact(text.begin(), text.end());
        double            got = 0;
        if (api_number_read(exact.data(), exact.size(), &got) != text.size() || to_bits(got) != to_bits(expected))
            fail("read alone", text, expected, got);
    }

    std::vector<std::string> texts;
    std::vector<double>      values;
};

// Numbers with an exponent or many digits stand apart, or few of the others would be read by the code for AVX2.
List usual, unusual;

void add_text(const std::string &text)
{
    (text.size() <= 25 && text.find('e') == std::string::npos ? usual : unusual).add(text);
}

// Doubles that are written together.
class Block
{
  public:
    void add(double value)
    {
        if (!std::isfinite(value)) return;
        values.push_back(value);
        if (values.size() == 40) check();
    }

    void check()
    {
        std::string expected;
        for (double value : values)
            expected += (expected.empty() ? "" : ",") + reference_text(value);
        std::vector<char> text(values.size() * (API_NUMBER_MAX + 1) + API_NUMBER_ROOM);
        std::size_t       length = api_numbers_write(values.data(), values.size(), text.data());
        if (std::string(text.data(), length) != expected) find(expected);
        values.clear();
    }

  private:
    [[noreturn]] void find(const std::string &expected)
    {
        for (double value : values) {
            char        text[API_NUMBER_ROOM];
            std::string got(text, api_number_write(value, text));
            if (got != reference_text(value)) fail("written", got, value, std::strtod(got.c_str(), nullptr));
        }
        std::printf("a list is written otherwise than its numbers: %s\n", expected.c_str());
        std::exit(1);
    }

    std::vector<double> values;
};

Block block;

std::string print(const char *format, int precision, double value)
{
    char text[1200];
    std::snprintf(text, sizeof text, format, precision, value);
    return text;
}

// The decimal digits of the point half way between a double and the next one, all of them or the first `digits`; one is
// added to the last digit or taken away from it, or others follow.
std::string near_halfway(std::uint64_t bits, int digits)
{
    long double half = (static_cast<long double>(from_bits(bits)) + from_bits(bits + 1)) / 2; // exact: 64 bits
    char        text[1300];
    std::snprintf(text, sizeof text, "%.*Le", digits > 0 ? digits - 1 : 800, half);
    std::string all(text), mantissa = all.substr(0, all.find('e')), exponent = all.substr(all.find('e'));
    if (digits == 0)
        while (mantissa.size() > 3 && mantissa.back() == '0')
            mantissa.pop_back();
    switch (below(5)) {
    case 0: mantissa.back() = static_cast<char>(mantissa.back() == '9' ? '8' : mantissa.back() + 1); break;
    case 1: mantissa.back() = static_cast<char>(mantissa.back() == '0' ? '1' : mantissa.back() - 1); break;
    case 2: mantissa += std::to_string(below(1000)); break;
    case 3: mantissa += std::string(800, '0') + "1"; break;
    default: break;
    }
    return mantissa + exponent;
}

std::string random_decimal()
{
    std::size_t whole = below(2) ? 1 : 1 + below(20), places = below(24);
    std::string text = below(2) ? "-" : "";
    for (std::size_t i = 0; i < whole; i++)
        text += static_cast<char>('0' + (i == 0 && whole > 1 ? 1 + below(9) : below(10)));
    if (places > 0) text += '.';
    bool zeros = below(3) == 0;
    for (std::size_t i = 0; i < places; i++)
        text += static_cast<char>('0' + (zeros && i < places / 2 ? 0 : below(10)));
    return below(6) ? text : text + "e" + std::to_string(static_cast<int>(below(720)) - 360);
}

std::uint64_t random_double()
{
    std::uint64_t bits = random_bits();
    switch (below(6)) {
    case 0: return bits;                                                                                    // any
    case 1: return to_bits(std::ldexp(static_cast<double>(bits >> 11), -50 + static_cast<int>(below(12)))); // usual
    case 2: return bits & 0x800FFFFFFFFFFFFF;                                                               // subnormal
    case 3: return to_bits(static_cast<double>(static_cast<std::int64_t>(bits) >> below(64)));              // integer
    case 4:
        return to_bits(static_cast<double>(below(2000000)) / std::pow(10, static_cast<double>(below(7)))); // few places
    default:
        return (bits & 0xFFF0000000000000) |
               (below(2) ? below(64) : 0x000FFFFFFFFFFFFF - below(64)); // near a power of 2
    }
}

void add_text_of(std::uint64_t bits)
{
    double value = from_bits(bits);
    if (!std::isfinite(value)) return;
    add_text(print("%.*g", 17, value));
    add_text(reference_text(value));
    add_text(print("%.*e", static_cast<int>(below(22)), value));
    if (std::fabs(value) < 1e20) add_text(print("%.*f", static_cast<int>(below(20)), value));
    add_text(random_decimal());
    std::uint64_t size = bits & 0x7FFFFFFFFFFFFFFF;
    if (size < to_bits(1e300)) add_text(near_halfway(size, below(8) == 0 ? 0 : 16 + static_cast<int>(below(15))));
}

void check_random(std::uint64_t count)
{
    for (std::uint64_t i = 0; i < count; i++) {
        std::uint64_t bits = random_double();
        block.add(from_bits(bits));
        if (i % 8 == 0) add_text_of(bits);
    }
}

// Powers of two and ten with eight neighbours on either side, and every exponent.
void check_powers()
{
    for (int e = -1074; e < 1024; e++)
        for (std::uint64_t bits = to_bits(std::ldexp(1, e)), i = bits > 8 ? bits - 8 : 0; i <= bits + 8; i++) {
            block.add(from_bits(i));
            add_text_of(i);
        }
    for (int e = -345; e <= 308; e++) {
        std::uint64_t bits = to_bits(std::strtod(("1e" + std::to_string(e)).c_str(), nullptr));
        for (std::uint64_t i = bits > 8 ? bits - 8 : 0; i <= bits + 8; i++) {
            block.add(from_bits(i));
            add_text_of(i);
        }
        for (int digits = 1; digits <= 25; digits++)
            add_text(std::string(static_cast<std::size_t>(digits), '9') + "e" + std::to_string(e - digits));
    }
}

// 12 bits of sign and exponent, then the upper and the lower ten bits of the mantissa; those between are all 0 or
// all 1.
void check_structured(std::uint64_t part, std::uint64_t parts)
{
    for (std::uint64_t i = part; i < (std::uint64_t)1 << 32; i += parts) {
        std::uint64_t lower = i & 0x3FF, upper = i >> 10 & 0x3FF, head = i >> 20;
        std::uint64_t bits = head << 52 | upper << 42 | lower, between = (((std::uint64_t)1 << 32) - 1) << 10;
        double        value = from_bits(i & 1 ? bits | between : bits);
        if (!std::isfinite(value)) continue;
        block.add(value);
        char   text[API_NUMBER_ROOM];
        double back   = 0;
        size_t length = api_number_write(value, text);
        if (api_number_read(text, length, &back) != length || to_bits(back) != to_bits(value))
            fail("read", std::string(text, length), value, back);
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 4 && !std::strcmp(argv[1], "structured")) {
        for (const char *target : {"scalar", "avx2"}) {
            api_numbers_choose(target);
            check_structured(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
            block.check();
        }
    } else if (argc == 2 || argc == 3) {
        generator.seed(argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1);
        for (const char *target : {"scalar", "avx2"}) {
            api_numbers_choose(target);
            check_powers();
            check_random(std::strtoull(argv[1], nullptr, 10));
            usual.check();
            unusual.check();
            block.check();
        }
    } else {
        std::fprintf(stderr, "usage: numbers COUNT [SEED] | numbers structured PART PARTS\n");
        return 2;
    }
    return 0;
}
