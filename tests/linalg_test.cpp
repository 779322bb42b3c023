// A second opinion on matrix products: xtensor-blas, whose header does not go into one file with <cblas.h>.
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>

#include "common/tensor/ops.h"
#include "tests/check.h"

using namespace babygpt;

TEST_CASE("matmul: equals xt::linalg::dot") {
    for (auto [m, k, n] :
         {std::tuple{1, 1, 1}, {3, 5, 7}, {17, 1, 9}, {33, 65, 31}, {1, 64, 100}, {100, 64, 1}, {200, 300, 400}}) {
        INFO("(" << m << "," << k << ") @ (" << k << "," << n << ")");
        Tensor a = random_tensor({m, k}, 1), b = random_tensor({k, n}, 2);
        auto seen = [](const Tensor& x) {
            xt::xtensor<real, 2> result({size_t(x.size(0)), size_t(x.size(1))});
            std::ranges::copy(x.values(), result.begin());
            return result;
        };
        xt::xtensor<real, 2> expected = xt::linalg::dot(seen(a), seen(b));
        Tensor y = matmul(a, b);
        CHECK(difference(y.values(), {expected.data(), expected.size()}) < 5 * rounding);
        sum(y).backward();  // da = 1 b^T, db = a^T 1
        xt::xtensor<real, 2> ones = xt::ones<real>({m, n});
        xt::xtensor<real, 2> da = xt::linalg::dot(ones, xt::transpose(seen(b)));
        xt::xtensor<real, 2> db = xt::linalg::dot(xt::transpose(seen(a)), ones);
        CHECK(difference(a.grad(), {da.data(), da.size()}) < 5 * rounding);
        CHECK(difference(b.grad(), {db.data(), db.size()}) < 5 * rounding);
    }
}
