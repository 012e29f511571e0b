// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include <stdexcept>

namespace sim_net
{

namespace
{

constexpr size_t MOST_RUNS = 10000;

[[noreturn]] void wrong(const std::string &key, const std::string &why)
{
    throw std::runtime_error("--sweep " + key + ": " + why);
}

// JSON, or else a text: names of modes need no quotes.
SweepValue value_of(const std::string &text, const std::string &key)
{
    if (text.empty()) wrong(key, "a value is empty");
    json_error_t fault;
    if (json_t *value = json_loads(text.c_str(), JSON_DECODE_ANY, &fault)) return {text, Json(value)};
    json_t *value = json_string(text.c_str());
    if (!value) wrong(key, "a value is not UTF-8");
    return {text, Json(value)};
}

// Commas within brackets do not separate values.
SweepKey read_sweep(const std::string &text)
{
    const size_t equals = text.find('=');
    SweepKey key = {text.substr(0, equals), {}};
    std::string value;
    int depth = 0;
    for (size_t i = equals + 1; i < text.size(); i++) {
        const char c = text[i];
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        if (c == ',' && depth <= 0) {
            key.values.push_back(value_of(value, key.name));
            value.clear();
        } else {
            value += c;
        }
    }
    key.values.push_back(value_of(value, key.name));
    return key;
}

// Sets the field at `path` in `at`. A list without an index stands for each of its elements.
void set(json_t *at, const std::string &path, json_t *value, const std::string &key)
{
    const size_t end = path[0] == '[' ? path.find(']') : path.find_first_of(".[");
    const std::string name = path.substr(0, end);
    std::string rest = end == std::string::npos ? "" : path.substr(end + (path[0] == '['));
    const bool dot = !rest.empty() && rest[0] == '.';
    if (dot) rest.erase(0, 1);
    if (name.empty() || (dot && rest.empty())) wrong(key, "it is not a path of names, as link.loss or jobs[0].workers");
    if (path[0] == '[') {
        const std::string number = name.substr(1);
        const bool is_number =
            !number.empty() && number.size() < 7 && number.find_first_not_of("0123456789") == std::string::npos;
        const size_t index = is_number ? std::stoul(number) : 0;
        if (!is_number || end == std::string::npos || !json_is_array(at) || index >= json_array_size(at))
            wrong(key, "the scenario has no " + name + "] there");
        if (rest.empty())
            json_array_set(at, index, value);
        else
            set(json_array_get(at, index), rest, value, key);
        return;
    }
    if (json_is_array(at)) {
        for (size_t i = 0; i < json_array_size(at); i++) set(json_array_get(at, i), path, value, key);
        return;
    }
    if (!json_is_object(at)) wrong(key, "what " + name + " is to be in is not an object");
    if (rest.empty()) {
        json_object_set(at, name.c_str(), value);
        return;
    }
    if (!json_object_get(at, name.c_str()) && dot) json_object_set_new(at, name.c_str(), json_object());
    json_t *below = json_object_get(at, name.c_str());
    if (!below) wrong(key, "the scenario has no list " + name);
    set(below, rest, value, key);
}

void apply(Setup &setup, const std::string &key, const json_t *value)
{
    if (key == "seed") {
        if (!json_is_integer(value) || json_integer_value(value) < 0) wrong(key, "a seed is an integer from 0 on");
        setup.seed = static_cast<uint64_t>(json_integer_value(value));
    } else {
        set(setup.scenario.get(), key, own(json_deep_copy(value)).get(), key);
    }
}

}  // namespace

std::vector<SweepKey> read_sweeps(const gn_sim_net_options &options)
{
    std::vector<SweepKey> keys;
    size_t runs = 1;
    for (size_t i = 0; i < options.sweep_count; i++) {
        keys.push_back(read_sweep(options.sweeps[i]));
        runs *= keys.back().values.size();
        if (runs > MOST_RUNS) wrong(keys.back().name, "more than " + std::to_string(MOST_RUNS) + " runs");
    }
    return keys;
}

std::vector<Setup> setups_of(const json_t *root, const std::vector<SweepKey> &keys, const gn_sim_net_options &options)
{
    size_t runs = 1;
    for (const SweepKey &key : keys) runs *= key.values.size();
    std::vector<Setup> setups(runs);
    for (size_t i = 0; i < runs; i++) {
        Setup &setup = setups[i];
        setup.scenario = own(json_deep_copy(root));
        setup.seed = options.seed;
        setup.name = options.scenario;
        size_t below = runs;  // runs with the same values of the keys so far
        for (const SweepKey &key : keys) {
            below /= key.values.size();
            const SweepValue &value = key.values[i / below % key.values.size()];
            setup.values.push_back(&value);
            apply(setup, key.name, value.value.get());
            setup.name += (setup.values.size() == 1 ? " with " : ", ") + key.name + "=" + value.text;
        }
    }
    return setups;
}

}  // namespace sim_net
