// The fast paths against plain ones: matrix products against three loops, the fused ops against their composition from
// small ones. Sizes are odd on purpose, so that every vector and tile has a rest.
#include "common/tensor/kernels.h"

#include <limits>

#include "common/tensor/gemm.h"
#include "common/tensor/ops.h"
#include "tests/check.h"

using namespace babygpt;

namespace {

std::vector<real> random_numbers(size_t count, uint64_t seed) {
    std::vector<real> numbers(count);
    Rng rng(seed, "test");
    for (real& v : numbers) v = real(2 * rng.uniform() - 1);
    return numbers;
}

// c = alpha a b + beta c by gemm, or another, and by three loops. Rows lie further apart than they are long: what is
// between them must stay as it was.
void check_product(size_t m, size_t n, size_t k, bool a_transposed, bool b_transposed, real alpha, real beta,
                   decltype(gemm)* product = gemm) {
    INFO("m " << m << ", n " << n << ", k " << k << ", transposed " << a_transposed << b_transposed << ", beta "
              << beta);
    size_t a_stride = (a_transposed ? m : k) + 3, b_stride = (b_transposed ? k : n) + 1, c_stride = n + 2;
    std::vector<real> a = random_numbers(a_stride * (a_transposed ? k : m), 1);
    std::vector<real> b = random_numbers(b_stride * (b_transposed ? n : k), 2);
    std::vector<real> c = random_numbers(c_stride * m, 3);
    if (beta == 0)
        for (size_t i = 0; i < m; ++i) std::fill_n(&c[i * c_stride], n, std::numeric_limits<real>::quiet_NaN());
    std::vector<double> expected(c.begin(), c.end());
    for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
            const real *x = a.data() + i * (a_transposed ? 1 : a_stride),
                       *y = b.data() + j * (b_transposed ? b_stride : 1);
            size_t x_step = a_transposed ? a_stride : 1, y_step = b_transposed ? 1 : b_stride;
            double total = 0;
            for (size_t p = 0; p < k; ++p) total += double(x[p * x_step]) * double(y[p * y_step]);
            double& out = expected[i * c_stride + j];
            out = double(alpha) * total + (beta == 0 ? 0 : double(beta) * out);
        }
    product(m, n, k, alpha, {a.data(), a_stride, a_transposed}, {b.data(), b_stride, b_transposed}, beta, c.data(),
            c_stride);
    double worst = 0, tolerance = std::sqrt(double(k)) * (in_double ? 1e-14 : 1e-5);
    bool rest_untouched = true;
    for (size_t i = 0; i < c.size(); ++i) {
        double gap = std::abs(double(c[i]) - expected[i]);
        worst = std::isnan(gap) ? INFINITY : std::max(worst, gap);
        if (i % c_stride >= n && gap != 0) rest_untouched = false;
    }
    CHECK(worst <= tolerance);
    CHECK(rest_untouched);
}

// Attention as the stages 03 to 08 write it, head by head. Columns of qkv are picked by a matrix of zeros and ones.
Tensor composed_attention(const Tensor& qkv, int n_head, double p = 0, uint64_t key = 0, int first_row = 0) {
    int C = qkv.size(-1) / 3, H = C / n_head;
    auto columns = [&](int first) {
        Tensor picks = Tensor::zeros({H, 3 * C});
        for (int i = 0; i < H; ++i) picks.values()[size_t(i * 3 * C + first + i)] = 1;
        return linear(qkv, picks);  // (B, T, H)
    };
    std::vector<Tensor> weights, heads;
    int B = qkv.size(0), T = qkv.size(1);
    for (int h = 0; h < n_head; ++h) {
        Tensor q = columns(h * H), k = columns(C + h * H);
        Tensor scores = matmul(q, transpose(k)) / std::sqrt(H);
        weights.push_back(reshape(softmax(masked_fill(scores, !tril(T), -INFINITY)), {B, 1, T, T}));
    }
    Tensor all = concat(weights, 1);  // (B, n_head, T, T)
    if (p > 0) all = dropout(all, p, key, first_row);
    for (int h = 0; h < n_head; ++h)
        heads.push_back(matmul(reshape(slice(all, 1, h, h + 1), {B, T, T}), columns(2 * C + h * H)));
    return concat(heads);
}

// Two ways to compute the same: values, and gradients of a weighted sum.
void check_same(const std::function<Tensor()>& fused, const std::function<Tensor()>& composed,
                std::vector<Tensor> inputs) {
    Tensor weights = random_constant(fused().shape(), 99);
    std::vector<std::vector<real>> results[2];
    for (int way : {0, 1}) {
        for (Tensor& input : inputs) input.clear_grad();
        Tensor y = way ? composed() : fused();
        results[way].push_back(copy(y.values()));
        sum(y * weights).backward();
        for (const Tensor& input : inputs) results[way].push_back(copy(input.grad()));
    }
    for (size_t i = 0; i < results[0].size(); ++i) {
        CAPTURE(i);  // 0: the values; from 1 on the inputs' gradients
        CHECK(difference(results[0][i], results[1][i]) < 5 * rounding);
    }
}

}  // namespace

TEST_SUITE("kernels") {
    TEST_CASE("gemm: products of odd sizes, transposed or not, equal three loops; beta 0 overwrites even NaN") {
        const size_t sizes[] = {1, 3, 8, 17, 33, 65, 128};
        for (size_t m : sizes)
            for (size_t n : sizes)
                for (size_t k : sizes)
                    for (int way = 0; way < 4; ++way) {
                        check_product(m, n, k, way & 1, way & 2, 1, 0);
                        check_product(m, n, k, way & 1, way & 2, real(0.5), way == 3 ? real(0.25) : real(1));
                    }
    }

    TEST_CASE("gemm: large products, which go to BLAS, equal three loops") {
        for (int way = 0; way < 4; ++way)
            for (real beta : {real(0), real(1)}) {
                check_product(70, 370, 401, way & 1, way & 2, 1, beta);
                check_product(70, 370, 401, way & 1, way & 2, 1, beta, gemm_shared);
                check_product(1, 400, 400, way & 1, way & 2, 1, beta);
                check_product(300, 1, 900, way & 1, way & 2, real(0.5), beta);
                check_product(5, 3, 50'000, way & 1, way & 2, 1, beta);
            }
    }

    TEST_CASE("attention: fused equals composed") {
        for (int T : {1, 8, 33, 64, 65})
            for (int head_size : {1, 3, 17, 32})
                for (int heads : {1, 2, 5}) {
                    int B = (T + head_size + heads) % 2 ? 3 : 1;
                    if (T * heads * head_size > 5000) B = 1;
                    INFO("B " << B << ", T " << T << ", head_size " << head_size << ", heads " << heads);
                    Tensor qkv = random_tensor({B, T, 3 * heads * head_size}, 1);
                    check_same([&] { return fused_attention(qkv, heads); },
                               [&] { return composed_attention(qkv, heads); }, {qkv});
                }
    }

    TEST_CASE("attention: with the causal mask it is causal_attention, gradients too") {
        Tensor q = random_tensor({2, 9, 12}, 1), k = random_tensor({2, 9, 12}, 2), v = random_tensor({2, 9, 12}, 3);
        check_same([&] { return causal_attention(q, k, v, 3); }, [&] { return attention(q, k, v, 3, tril(9)); },
                   {q, k, v});
        check_error([&] { attention(q, k, v, 5, tril(9)); }, {"attention", "(2,9,12)", "5 heads"});
        check_error([&] { attention(q, k, v, 3, tril(8)); }, {"masked_fill", "(8,8)"});
    }

    TEST_CASE("attention: fused equals composed with dropout on the weights") {
        for (int T : {1, 8, 33, 65})
            for (int B : {1, 3}) {
                Tensor qkv = random_tensor({B, T, 3 * 12}, 1);
                for (int first_row : {0, 5})
                    check_same([&] { return fused_attention(qkv, 3, 0.3, 77, first_row); },
                               [&] { return composed_attention(qkv, 3, 0.3, 77, first_row); }, {qkv});
            }
    }

    TEST_CASE("attention: each head of each sequence has a dropout mask of its own") {
        // q and k are 0, so all weights of row t are 1 / (t + 1); v is 1, so a row tells which share of it was kept.
        Tensor qkv = Tensor::zeros({2, 40, 3 * 2});
        for (size_t i = 0; i < qkv.count(); ++i)
            if (i % 6 >= 4) qkv.values()[i] = 1;
        Tensor y = fused_attention(qkv, 2, 0.5, 7);  // (2, 40, 2): one number a head
        std::vector<real> kept[4];
        for (size_t i = 0; i < y.count(); ++i) kept[i / 80 * 2 + i % 2].push_back(y.values()[i]);
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < a; ++b) CHECK_FALSE(same_bytes(kept[a], kept[b]));
        CHECK_FALSE(same_bytes(y.values(), fused_attention(qkv, 2, 0.5, 8).values()));
        CHECK(same_bytes(y.values(), fused_attention(qkv, 2, 0.5, 7).values()));
    }

    TEST_CASE("attention: the future does not reach the past, bit for bit") {
        for (int T : {5, 33, 65}) {
            Tensor qkv = random_tensor({1, T, 3 * 6}, 1);
            Tensor before = fused_attention(qkv, 2);
            for (int t = 1; t < T; t += 3) {
                Tensor changed = random_tensor({1, T, 3 * 6}, 1);
                for (real& v : changed.values().subspan(size_t(t * 18))) v = 3 * v + 1;
                Tensor after = fused_attention(changed, 2);
                CHECK(same_bytes(before.values().first(size_t(t * 6)), after.values().first(size_t(t * 6))));
            }
        }
    }

    TEST_CASE("softmax: the future gets exactly zero") {
        Tensor weights = softmax(masked_fill(random_tensor({3, 17, 17}), !tril(17), -INFINITY));
        for (size_t i = 0; i < weights.count(); ++i)
            if (i % 17 > i / 17 % 17)
                CHECK(weights.values()[i] == 0);
            else
                CHECK(weights.values()[i] > 0);
    }

    TEST_CASE("softmax: rows sum to 1 at every length, and huge scores do not overflow") {
        for (int n = 1; n <= 40; ++n) {
            Tensor x = random_tensor({2, n}, uint64_t(n), 3);
            x.values()[0] = 3e4;
            x.values()[size_t(n)] = -3e4;
            Tensor y = softmax(x);
            CHECK(double(y.values()[0]) == doctest::Approx(1));
            double total = 0;
            for (real p : y.values().last(size_t(n))) total += double(p);
            CHECK(total == doctest::Approx(1).epsilon(1e-5));
        }
    }

    TEST_CASE("softmax_row: only the first `seen` numbers count, the rest become 0, in place too") {
        for (size_t seen = 1; seen <= 35; ++seen) {
            std::vector<real> x = random_numbers(40, seen), y(40, 7), first(seen), in_place = x;
            softmax_row(x.data(), y.data(), 40, seen);
            softmax_row(x.data(), first.data(), seen, seen);
            softmax_row(in_place.data(), in_place.data(), 40, seen);
            CHECK(same_bytes(y, in_place));
            CHECK(same_bytes(first, std::span(y).first(seen)));
            CHECK(std::count(y.begin() + std::ptrdiff_t(seen), y.end(), 0) == std::ptrdiff_t(40 - seen));
        }
    }

    TEST_CASE("layer_norm: fused equals composed") {
        for (int n : {1, 2, 3, 8, 17, 33, 65}) {
            CAPTURE(n);
            Tensor x = random_tensor({5, n}, 1), gain = random_tensor({n}, 2), bias = random_tensor({n}, 3);
            Tensor mean({n, n}, std::vector<real>(size_t(n * n), real(1) / real(n)));
            // The root of the variance by Newton's steps, as there is no op for it: r = r (3 - v r r) / 2.
            auto composed = [&] {
                Tensor centred = x - matmul(x, mean);
                Tensor variance = matmul(centred * centred, mean) + Tensor({1}, {real(1e-5)});
                Tensor root = variance * 0.0 + Tensor({1}, {real(n == 1 ? 300 : 0.3)}), three({1}, {3});
                for (int i = 0; i < 20; ++i) root = root * (three - variance * root * root) * 0.5;
                return centred * root * gain + bias;
            };
            if (n > 2)
                check_same([&] { return layer_norm(x, gain, bias); }, composed, {x, gain, bias});
            else if (n == 1)
                CHECK(same_bytes(layer_norm(x, gain, bias).values(), (x * 0.0 + bias).values()));
            else  // one number above the mean, one as far below it: the gradient all but vanishes, so only values
                  // compare
                for (size_t r = 0; r < 5; ++r)
                    for (size_t i : {0, 1}) {
                        double half = (double(x.values()[2 * r + i]) - double(x.values()[2 * r + 1 - i])) / 2;
                        double h = half / std::sqrt(half * half + 1e-5);
                        CHECK(layer_norm(x, gain, bias).values()[2 * r + i] ==
                              doctest::Approx(h * double(gain.values()[i]) + double(bias.values()[i])).epsilon(1e-5));
                    }
        }
    }

    TEST_CASE("layer_norm: a row of equal numbers becomes the bias, and large numbers keep their precision") {
        Tensor one({3}, {1, 1, 1}), bias({3}, {1, 2, 3});
        check_values(layer_norm(Tensor({1, 3}, {5, 5, 5}), one, bias), {1, 3}, {1, 2, 3});
        Tensor far({1, 3}, {10000, 10001, 10002});
        double unit = 1 / std::sqrt(2.0 / 3 + 1e-5);
        check_values(layer_norm(far, one, Tensor::zeros({3})), {1, 3}, {-unit, 0, unit}, 1e-3);
    }

    TEST_CASE("cross_entropy: equals -log of softmax, with and without a graph") {
        for (int V : {2, 7, 8, 17, 65, 300}) {
            Tensor logits = random_tensor({2, 3, V}, uint64_t(V), 3);
            Tokens targets(2, 3, {0, V - 1, V / 2, 1, 0, V - 1});
            Tensor probabilities = softmax(logits);
            double expected = 0;
            for (size_t r = 0; r < 6; ++r)
                expected -= std::log(double(probabilities.values()[r * size_t(V) + size_t(targets.ids[r])])) / 6;
            CHECK(double(cross_entropy(logits, targets).item()) == doctest::Approx(expected).epsilon(1e-5));
            NoGrad evaluation;
            CHECK(double(cross_entropy(logits, targets).item()) == doctest::Approx(expected).epsilon(1e-5));
        }
    }

    TEST_CASE("cross_entropy: certain and wrong costs the distance of the scores, without overflow") {
        Tensor logits = Tensor::parameter({1, 3});
        std::ranges::copy(std::vector<real>{20000, 0, -20000}, logits.values().begin());
        CHECK(double(cross_entropy(logits, Tokens(1, 1, {0})).item()) == 0);
        CHECK(double(cross_entropy(logits, Tokens(1, 1, {2})).item()) == doctest::Approx(40000));
    }

    TEST_CASE("cross_entropy: the losses of a batch's parts add up to the whole's") {
        Tensor logits = random_tensor({4, 9}, 1);
        Tokens targets(4, 1, {1, 5, 8, 0});
        double whole = double(cross_entropy(logits, targets).item()), parts = 0;
        for (size_t r = 0; r < 4; ++r)
            parts += double(
                cross_entropy(Tensor({1, 9}, logits.values().subspan(r * 9, 9)), Tokens(1, 1, {targets.ids[r]}), 4)
                    .item());
        CHECK(parts == doctest::Approx(whole));
    }

    TEST_CASE("cross_entropy: targets of ignore_index do not count, however the batch is cut") {
        const int x = ignore_index;
        Tensor logits = random_tensor({4, 3, 9}, 1);
        Tokens targets(4, 3, {1, x, 8, x, x, x, 0, 5, x, 7, x, 2});  // 6 count, none in row 1
        double expected = 0;
        Tensor probabilities = softmax(logits);
        for (size_t r = 0; r < 12; ++r)
            if (targets.ids[r] != x)
                expected -= std::log(double(probabilities.values()[r * 9 + size_t(targets.ids[r])])) / 6;
        Tensor loss = cross_entropy(logits, targets);
        CHECK(double(loss.item()) == doctest::Approx(expected));
        loss.backward();
        std::vector<real> whole = copy(logits.grad());
        for (size_t i = 0; i < whole.size(); ++i) CHECK((whole[i] == 0) == (targets.ids[i / 9] == x));
        logits.clear_grad();
        double parts = 0;
        for (int row = 0; row < 4; ++row) {
            auto ids = targets.ids.begin() + row * 3;
            Tensor part = cross_entropy(slice(logits, 0, row, row + 1), Tokens(1, 3, {ids, ids + 3}), 6);
            parts += double(part.item());
            part.backward();
        }
        CHECK(parts == doctest::Approx(expected));
        CHECK(difference(logits.grad(), whole) < rounding);
        NoGrad evaluation;
        CHECK(double(cross_entropy(logits, targets).item()) == doctest::Approx(expected));
    }

    TEST_CASE("cross_entropy: when every target is ignored, loss and gradient are 0") {
        Tensor logits = random_tensor({2, 9}, 1);
        Tensor loss = cross_entropy(logits, Tokens(2, 1, {ignore_index, ignore_index}));
        CHECK(loss.item() == 0);
        loss.backward();
        CHECK(std::ranges::count(logits.grad(), real(0)) == 18);
        NoGrad evaluation;
        CHECK(cross_entropy(logits, Tokens(1, 2, {ignore_index, ignore_index})).item() == 0);
    }

    TEST_CASE("gelu and tanh: equal the standard library's erf and tanh at every length and size") {
        for (int n : {1, 7, 8, 9, 33}) {
            Tensor x = random_tensor({n}, uint64_t(n), 4), bent = gelu(x), squashed = tanh(x);
            for (size_t i = 0; i < x.count(); ++i) {
                double v = double(x.values()[i]);
                CHECK(std::abs(double(bent.values()[i]) - v / 2 * (1 + std::erf(v / std::sqrt(2)))) < rounding);
                CHECK(std::abs(double(squashed.values()[i]) - std::tanh(v)) < rounding);
            }
        }
    }

    TEST_CASE("dropout: a share p becomes 0, the rest is scaled, and the mean stays") {
        const int n = 100'000;
        Tensor ones({n}, std::vector<real>(n, 1));
        for (double p : {0.05, 0.3, 0.5, 0.9}) {
            Tensor y = dropout(ones, p, 12345);
            auto zeroes = std::ranges::count(y.values(), real(0));
            for (real v : y.values())
                if (v != 0) REQUIRE(double(v) == doctest::Approx(1 / (1 - p)));
            CHECK(std::abs(double(zeroes) / n - p) < 4 * std::sqrt(p * (1 - p) / n));
        }
    }

    TEST_CASE("dropout: another key gives another mask, the same key the same") {
        const int n = 10'000;
        Tensor ones({n}, std::vector<real>(n, 1));
        Rng keys(1, "test");
        std::vector<Tensor> thrown;
        std::vector<uint64_t> key{0, 1, 2};
        for (int i = 0; i < 10; ++i) key.push_back(keys.next());
        for (uint64_t k : key) thrown.push_back(dropout(ones, 0.5, k));
        for (size_t a = 0; a < key.size(); ++a) {
            CHECK(same_bytes(thrown[a].values(), dropout(ones, 0.5, key[a]).values()));
            for (size_t b = 0; b < a; ++b) {
                int alike = 0;
                for (size_t i = 0; i < n; ++i) alike += thrown[a].values()[i] == thrown[b].values()[i];
                CAPTURE(key[a]);
                CAPTURE(key[b]);
                CHECK(std::abs(alike - n / 2) < 4 * std::sqrt(n) / 2);
            }
            for (size_t step : {1, 2, 3, 8, 64, 1000}) {  // nor do neighbours in a row, or in a column, agree
                int alike = 0, pairs = n - int(step);
                for (size_t i = 0; i + step < n; ++i) alike += thrown[a].values()[i] == thrown[a].values()[i + step];
                CAPTURE(key[a]);
                CAPTURE(step);
                CHECK(std::abs(alike - pairs / 2) < 4 * std::sqrt(n) / 2);
            }
        }
    }

    TEST_CASE("dropout: a part of a batch, or a batch with less padding, loses what it loses in the whole") {
        Tensor ones({6, 3, 7, 9}, std::vector<real>(6 * 3 * 7 * 9, 1)), whole = dropout(ones, 0.5, 12345);
        Tensor part({2, 3, 4, 5}, std::vector<real>(2 * 3 * 4 * 5, 1));
        Tensor expected = slice(slice(slice(whole, 0, 3, 5), 2, 0, 4), 3, 0, 5);
        CHECK(same_bytes(dropout(part, 0.5, 12345, 3).values(), expected.values()));
        CHECK_FALSE(same_bytes(dropout(part, 0.5, 12345).values(), expected.values()));
        int alike = 0;  // nor do two rows, two heads or two places agree
        for (size_t i = 0; i + 9 < whole.count(); ++i) alike += whole.values()[i] == whole.values()[i + 9];
        CHECK(std::abs(alike - int(whole.count() - 9) / 2) < 4 * std::sqrt(whole.count()) / 2);
    }

    TEST_CASE("dropout: only inside a DropoutScope, with a new mask each time") {
        Tensor x = random_constant({1000}), qkv = random_constant({1, 9, 12});
        Dropout half{0.5}, none{0};
        CHECK(same_bytes(half(x).values(), x.values()));
        CHECK(same_bytes(fused_attention(qkv, 2, half).values(), fused_attention(qkv, 2).values()));
        Rng stream(1, "dropout"), again(1, "dropout");
        std::vector<real> first;
        {
            DropoutScope training(stream);
            first = copy(half(x).values());
            CHECK_FALSE(same_bytes(first, x.values()));
            CHECK_FALSE(same_bytes(first, half(x).values()));
            CHECK(same_bytes(none(x).values(), x.values()));
            CHECK_FALSE(same_bytes(fused_attention(qkv, 2, half).values(), fused_attention(qkv, 2).values()));
        }
        CHECK(same_bytes(half(x).values(), x.values()));
        DropoutScope training(again);
        CHECK(same_bytes(half(x).values(), first));
    }
}
