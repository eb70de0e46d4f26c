// nlohmann.cc - nlohmann::json: nlohmann cbor|msgpack encode|decode turns JSON on standard input into bytes, or bytes
// into JSON.
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

int main(int, char **argv)
{
    using nlohmann::json;
    bool                      cbor = std::string(argv[1]) == "cbor";
    std::vector<std::uint8_t> input(std::istreambuf_iterator<char>(std::cin), {});
    if (std::string(argv[2]) == "decode") {
        std::cout << (cbor ? json::from_cbor(input) : json::from_msgpack(input));
        return 0;
    }
    json value  = json::parse(input);
    auto output = cbor ? json::to_cbor(value) : json::to_msgpack(value);
    std::cout.write(reinterpret_cast<const char *>(output.data()), static_cast<std::streamsize>(output.size()));
}
