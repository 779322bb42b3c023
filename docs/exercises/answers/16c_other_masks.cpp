// Bug hunt 16c: the gradients are right, until there is dropout.
//
// A layer that forgets what it computed and computes it again when the gradient comes. Several of them stand one behind
// the other and draw their dropout masks from the same stream.
//
// The symptom: without dropout all gradients are right to the last digit. With dropout the loss still falls, and looks
// as it should. But the gradients are wrong, though the results of the layers are right.
//
// Check it: make exercise N=16c
#include <cmath>
#include <optional>
#include <vector>

#include "common/base/rng.h"
using babygpt::Rng;
using Row = std::vector<double>;

struct ForgetfulLayer {
    double weight, p;  // y = dropout(tanh(weight x))
    Rng& stream;
    double weight_gradient = 0;

    Row forward(const Row& x) {
        input = x;
        noted = stream;  // a copy: where the stream stands now
        Row y, mask;
        compute(x, stream, y, mask);
        return y;  // the mask is forgotten, and so is what tanh gave
    }

    Row backward(const Row& dy) {
        // The stream has gone on since, through all later layers, so its next mask is another, and another part of x
        // would seem to have been dropped. The copy gives the same one, and the stream itself is left alone.
        Row y, mask, dx;
        Rng same = *noted;
        compute(input, same, y, mask);  // again
        for (size_t i = 0; i < input.size(); ++i) {
            double h = std::tanh(weight * input[i]), slope = dy[i] * mask[i] * (1 - h * h);
            weight_gradient += slope * input[i];
            dx.push_back(slope * weight);
        }
        return dx;
    }

    Row input = {};
    std::optional<Rng> noted = {};

    void compute(const Row& x, Rng& numbers, Row& y, Row& mask) const {
        for (double number : x) {
            mask.push_back(numbers.uniform() < p ? 0 : 1 / (1 - p));
            y.push_back(std::tanh(weight * number) * mask.back());
        }
    }
};
