#include "docs/workshop/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace babygpt::workshop {

std::string base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL adds
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                    int(bytes.size()));
    text.pop_back();
    return text;
}

std::string base64_of_shares(std::span<const real> shares) {
    std::string bytes(shares.size() * 2, '\0');
    for (size_t i = 0; i < shares.size(); ++i) {
        auto number = uint16_t(std::clamp(double(shares[i]), 0.0, 1.0) * 65535 + 0.5);
        bytes[2 * i] = char(number & 255), bytes[2 * i + 1] = char(number >> 8);
    }
    return base64(bytes);
}

std::string base64_of_numbers(std::span<const real> numbers) {
    std::vector<float> floats(numbers.begin(), numbers.end());
    return base64({reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float)});
}

}  // namespace babygpt::workshop
