// numbers.cc - compares the server's reading and writing of numbers with dragonbox, fast_float and the C library, for
// the portable code and for the AVX2 code.
//
//     numbers COUNT [SEED]    COUNT doubles and as many texts of each kind, random
//     numbers structured PART PARTS    every PARTS-th, from PART on, of 2^32 doubles: all exponents, signs and
//                                      patterns of the upper and lower bits of the mantissa
//
// Texts and doubles lie in memory of exactly their size, so that a sanitizer notices a read beyond the end. Prints
// every difference and exits with 1 if there is one.
#include <charconv>
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
#include "api/codec/number.h"
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

const char *const targets[] = {"scalar", "avx2"};

// Appends digits * 10^exponent in the layout of Number::toString of ECMA-262.
void append_digits(std::string &to, std::uint64_t significand, int exponent)
{
    char  digits[24];
    char *end = std::to_chars(digits, digits + sizeof digits, significand).ptr;
    while (end - digits > 1 && end[-1] == '0') {
        end--;
        exponent++;
    }
    const auto k = static_cast<int>(end - digits), n = k + exponent;
    const auto size = static_cast<std::size_t>(k), point = static_cast<std::size_t>(std::abs(n));
    if (k <= n && n <= 21) {
        to.append(digits, size).append(point - size, '0');
    } else if (0 < n && n <= 21) {
        to.append(digits, point).append(".").append(digits + n, size - point);
    } else if (-6 < n && n <= 0) {
        to.append("0.").append(point, '0').append(digits, size);
    } else {
        to.append(digits, 1);
        if (k > 1) to.append(".").append(digits + 1, size - 1);
        to.append(n > 0 ? "e+" : "e-").append(std::to_string(std::abs(n - 1)));
    }
}

void append_reference(std::string &to, double value)
{
    if (std::signbit(value)) to += '-';
    if (value == 0) {
        to += '0';
        return;
    }
    auto d = jkj::dragonbox::to_decimal(std::fabs(value), jkj::dragonbox::policy::sign::ignore);
    append_digits(to, d.significand, d.exponent);
}

std::string reference_text(double value)
{
    std::string text;
    append_reference(text, value);
    return text;
}

// Holds texts that are read together in one list, as in a request.
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
        for (const char *target : targets) {
            api_numbers_choose(target);
            check_together(all, width);
            for (std::size_t i = 0; i < texts.size(); i++)
                check_alone(texts[i], values[i]);
        }
        texts.clear();
        values.clear();
    }

  private:
    static constexpr std::size_t MOST = 200;

    void check_together(const std::string &all, std::size_t width)
    {
        std::vector<char>   exact(all.begin(), all.end());
        std::vector<double> got(values.size());
        std::size_t         count = 0, used;
        const api_rows      rows  = {exact.data(), exact.data(), exact.data() + exact.size(), width};
        used                      = api_rows_read(&rows, got.data(), got.size(), &count);
        for (std::size_t i = 0; i < count; i++)
            if (to_bits(got[i]) != to_bits(values[i])) fail("read in a list", texts[i], values[i], got[i]);
        if (count != values.size() || used != all.size())
            fail("a list is not read", all, double(values.size()), double(count));
    }

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

// Numbers with an exponent or many digits have a list of their own: among them, the AVX2 code would read few others.
List usual, unusual;

void add_text(const std::string &text)
{
    (text.size() <= 25 && text.find('e') == std::string::npos ? usual : unusual).add(text);
}

// Holds doubles that are written together and read back from their text.
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
        expected.clear();
        for (double value : values) {
            if (!expected.empty()) expected += ',';
            append_reference(expected, value);
        }
        for (const char *target : targets) {
            api_numbers_choose(target);
            check_written();
            check_read();
        }
        values.clear();
    }

  private:
    void check_written()
    {
        text.resize(values.size() * (API_NUMBER_MAX + 1) + API_NUMBER_ROOM);
        std::size_t length = api_numbers_write(values.data(), values.size(), text.data());
        if (length != expected.size() || std::memcmp(text.data(), expected.data(), length) != 0) find_written();
    }

    void check_read()
    {
        std::size_t count = 0;
        got.resize(values.size());
        exact.assign(expected.begin(), expected.end());
        exact.shrink_to_fit();
        std::size_t used = api_numbers_read(exact.data(), exact.size(), got.data(), got.size(), &count);
        if (used != expected.size() || count != values.size())
            fail("a list is not read", expected, double(values.size()), double(count));
        for (std::size_t i = 0; i < count; i++)
            if (to_bits(got[i]) != to_bits(values[i])) fail("read", reference_text(values[i]), values[i], got[i]);
    }

    [[noreturn]] void find_written()
    {
        for (double value : values) {
            char        alone[API_NUMBER_ROOM];
            std::string written(alone, api_number_write(value, alone));
            if (written != reference_text(value))
                fail("written", written, value, std::strtod(written.c_str(), nullptr));
        }
        std::printf("a list is written otherwise than its numbers: %s\n", expected.c_str());
        std::exit(1);
    }

    std::vector<double> values, got;
    std::string         expected;
    std::vector<char>   text, exact;
};

Block block;

std::string print(const char *format, int precision, double value)
{
    char text[1200];
    std::snprintf(text, sizeof text, format, precision, value);
    return text;
}

// Returns the decimal digits of the point half way between a double and the next one, all of them or the first
// `digits`. Sometimes 1 is added to or subtracted from the last digit, or further digits follow.
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

// Checks powers of two and ten with eight neighbours on either side, and every exponent.
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

// Checks all patterns of the 12 bits of sign and exponent and of the upper and lower ten bits of the mantissa; the bits
// between are all 0 or all 1.
void check_structured(std::uint64_t part, std::uint64_t parts)
{
    for (std::uint64_t i = part; i < (std::uint64_t)1 << 32; i += parts) {
        std::uint64_t lower = i & 0x3FF, upper = i >> 10 & 0x3FF, head = i >> 20;
        std::uint64_t bits = head << 52 | upper << 42 | lower, between = (((std::uint64_t)1 << 32) - 1) << 10;
        double        value = from_bits(i & 1 ? bits | between : bits);
        block.add(value);
    }
    block.check();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 4 && !std::strcmp(argv[1], "structured")) {
        check_structured(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10));
    } else if (argc == 2 || argc == 3) {
        generator.seed(argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1);
        check_powers();
        check_random(std::strtoull(argv[1], nullptr, 10));
        usual.check();
        unusual.check();
        block.check();
    } else {
        std::fprintf(stderr, "usage: numbers COUNT [SEED] | numbers structured PART PARTS\n");
        return 2;
    }
    return 0;
}
