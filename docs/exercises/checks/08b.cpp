// as shipped: All of dbias is 0
#include "docs/exercises/check.h"
#include EXERCISE
using namespace exercise;

std::string check() {
    const int N = 4, C = 6;
    Tensor x = random_parameter({N, C}, 1, 2), gain = random_parameter({C}, 2), bias = random_parameter({C}, 3);
    Tensor dy = random_tensor({N, C}, 4), ones = Tensor::zeros({C}), h, s = Tensor::zeros({N});
    fill(ones, 1);
    {
        NoGrad forward;
        h = layer_norm(x, ones, Tensor::zeros({C}));
    }
    for (size_t n = 0; n < size_t(N); ++n) {
        auto row = std::as_const(x).values().subspan(n * C, C);
        double mean = 0, variance = 0;
        for (real v : row) mean += v / double(C);
        for (real v : row) variance += (v - mean) * (v - mean) / double(C);
        s.values()[n] = real(std::sqrt(variance + 1e-5));
    }
    std::vector<Tensor> core = core_gradients([&] { return layer_norm(x, gain, bias); }, {x, gain, bias}, dy);
    Gradients found = normalise_pullback(h, s, gain, dy);

    auto last_row = [&](const Tensor& t) { return Numbers({C}, std::as_const(t).values().last(size_t(C))); };
    std::string last = "Only the last row is in it: add with += over all rows.";
    expect_same("dbias", found.dbias, core[2], "dbias[c] = sum over n of dy[n, c].", {{last, last_row(dy)}});
    expect_same("dgain", found.dgain, core[1], "dgain[c] = sum over n of dy[n, c] * h[n, c].",
                {{last, last_row(dy * h)}, {"h is missing: it is dbias.", core[2]}});

    // dx with some of its terms
    auto partly = [&](bool mean, bool mean_h, bool over_s, bool with_gain) {
        Numbers result = dy;
        for (size_t n = 0; n < size_t(N); ++n) {
            auto dh = [&](size_t c) { return dy.values()[n * C + c] * (with_gain ? gain.values()[c] : 1); };
            double a = 0, b = 0;
            for (size_t c = 0; c < size_t(C); ++c) a += dh(c) / C, b += dh(c) * h.values()[n * C + c] / C;
            for (size_t c = 0; c < size_t(C); ++c)
                result.values[n * C + c] =
                    (dh(c) - (mean ? a : 0) - (mean_h ? h.values()[n * C + c] * b : 0)) / (over_s ? s.values()[n] : 1);
        }
        return result;
    };
    expect_same("dx", found.dx, core[0], "dx = (dh - mean(dh) - h * mean(dh * h)) / s, with the means over one row.",
                {{"Both means are missing: a change of one x moves the mean and the deviation of its row.",
                  partly(false, false, true, true)},
                 {"h * mean(dh * h) is missing: a change of one x changes the row's deviation.",
                  partly(true, false, true, true)},
                 {"mean(dh) is missing: a change of one x moves the row's mean.", partly(false, true, true, true)},
                 {"The division by s[n] is missing.", partly(true, true, false, true)},
                 {"The gain is missing: dh = dy * gain.", partly(true, true, true, false)}});
    return "dx, dgain and dbias are the core's.";
}
