// SPDX-License-Identifier: Apache-2.0
// JSON values that are freed by themselves.
#pragma once

#include <memory>
#include <new>

#include <jansson.h>

namespace sim_net
{

struct JsonRelease {
    void operator()(json_t *value) const { json_decref(value); }
};
using Json = std::unique_ptr<json_t, JsonRelease>;

// Takes over `value`. NULL: memory is short.
inline Json own(json_t *value)
{
    if (!value) throw std::bad_alloc();
    return Json(value);
}

}  // namespace sim_net
