// Numbers as text for the page, in little room.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "common/tensor/real.h"

namespace babygpt::workshop {

std::string base64(std::string_view bytes);

// Shares between 0 and 1, each as two bytes: 65535 is 1.
std::string base64_of_shares(std::span<const real> shares);
std::string base64_of_numbers(std::span<const real> numbers);  // each as a float

}  // namespace babygpt::workshop
