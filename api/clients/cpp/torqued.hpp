// torqued.hpp - the C client for C++: vectors in and out, problems as exceptions.
// cc -c ../c/torqued.c && c++ -std=c++17 one.cc torqued.o -lcurl -lpthread
#pragma once
#include "../c/torqued.h"
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace torqued
{

/// What went wrong, as torqued_problem describes it; what() is the detail.
struct Problem : std::runtime_error {
    explicit Problem(const torqued_problem &given) : std::runtime_error(given.detail), problem(given) {}
    torqued_problem problem;
};

/// A field of a request: one state, or `rows` of them, row by row.
struct Input {
    std::string         name;
    std::vector<double> values;
    std::size_t         rows = 0; ///< 0: one state
};

/// A connection to one server, for one thread at a time.
class Client
{
  public:
    explicit Client(const std::string &url)
    {
        torqued_server server{};
        server.url = url.c_str();
        torqued_problem problem;
        client.reset(torqued_open(&server, &problem));
        if (!client) throw Problem(problem);
    }

    /// The output of an operation, such as "tau", row by row. `options` are further fields as JSON.
    std::vector<double> evaluate(const std::string &model, const std::string &operation,
                                 const std::vector<Input> &inputs, const std::string &output,
                                 const std::string &options = "{}")
    {
        std::vector<torqued_input> arrays;
        for (const Input &input : inputs) {
            torqued_input array{input.name.c_str(), input.values.data(), {input.values.size()}};
            if (input.rows) {
                array.shape[0] = input.rows;
                array.shape[1] = input.values.size() / input.rows;
            }
            arrays.push_back(array);
        }
        torqued_call call{model.c_str(), operation.c_str(), options.c_str(), arrays.data(), arrays.size(), nullptr, 0};
        require(torqued_evaluate(client.get(), &call));
        std::size_t count = 0;
        require(torqued_numbers(client.get(), output.c_str(), nullptr, 0, &count));
        std::vector<double> values(count);
        require(torqued_numbers(client.get(), output.c_str(), values.data(), count, &count));
        return values;
    }

    /// The C client, for everything else: torqued.h is its manual.
    torqued_client *get()
    {
        return client.get();
    }

  private:
    void require(torqued_status status)
    {
        if (status != TORQUED_OK) throw Problem(*torqued_last_problem(client.get()));
    }

    struct Close {
        void operator()(torqued_client *opened) const
        {
            torqued_close(opened);
        }
    };
    std::unique_ptr<torqued_client, Close> client;
};

} // namespace torqued
