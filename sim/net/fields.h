// SPDX-License-Identifier: Apache-2.0
// The fields of one object of JSON. A field that nobody has asked for is an error, for it is
// misspelt.
#pragma once

#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

#include <jansson.h>

namespace sim_net
{

class Fields
{
  public:
    Fields(json_t *object, std::string where) : object_(object), where_(std::move(where))
    {
        if (object && !json_is_object(object)) throw std::runtime_error(where_ + " is not an object");
    }
    const std::string &where() const { return where_; }
    [[noreturn]] void wrong(const std::string &name, const std::string &why) const
    {
        throw std::runtime_error(where_ + "." + name + " " + why);
    }
    json_t *get(const char *name)
    {
        known_.insert(name);
        return json_object_get(object_, name);
    }
    uint64_t number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
    {
        json_t *value = get(name);
        return value ? number_of(value, name, least, most) : otherwise;
    }
    uint64_t number_of(json_t *value, const char *name, uint64_t least, uint64_t most) const
    {
        const json_int_t n = json_integer_value(value);
        if (!json_is_integer(value) || n < 0 || static_cast<uint64_t>(n) < least || static_cast<uint64_t>(n) > most)
            wrong(name, "has to be an integer from " + std::to_string(least) + " to " + std::to_string(most));
        return static_cast<uint64_t>(n);
    }
    uint64_t power_of_two(const char *name, uint64_t otherwise, uint64_t most)
    {
        const uint64_t n = number(name, otherwise, 1, most);
        if (n & (n - 1)) wrong(name, "has to be a power of two");
        return n;
    }
    double real(const char *name, double otherwise, double least, double most)
    {
        json_t *value = get(name);
        if (!value) return otherwise;
        const double n = json_number_value(value);
        if (!json_is_number(value) || n < least || n > most) {
            char range[64];
            snprintf(range, sizeof range, "has to be a number from %g to %g", least, most);
            wrong(name, range);
        }
        return n;
    }
    // false unless it says true.
    bool flag(const char *name)
    {
        json_t *value = get(name);
        if (value && !json_is_boolean(value)) wrong(name, "has to be true or false");
        return json_is_true(value);
    }
    std::string text(const char *name, const std::string &otherwise)
    {
        json_t *value = get(name);
        if (!value) return otherwise;
        if (!json_is_string(value)) wrong(name, "has to be a text");
        return json_string_value(value);
    }
    // A list of 1 to `most` elements, or NULL when it is not there.
    json_t *list(const char *name, size_t most)
    {
        json_t *value = get(name);
        if (value && (!json_is_array(value) || !json_array_size(value) || json_array_size(value) > most))
            wrong(name, "has to be a list of 1 to " + std::to_string(most) + " elements");
        return value;
    }
    void end() const
    {
        const char *name;
        json_t *value;
        json_object_foreach(object_, name, value) if (!known_.count(name)) wrong(name, "is not a known field");
    }

  private:
    json_t *object_;
    std::string where_;
    std::set<std::string> known_;
};

}  // namespace sim_net
