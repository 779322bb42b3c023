#include <algorithm>

#include "common/tensor/kernels.h"
#include "common/tensor/ops.h"
#include "common/tensor/shapes.h"

namespace babygpt {

// loss = mean of log(sum(exp(z))) - z[target] over the targets that count; their number is `of`:
// dz = (softmax(z) - 1 at the target) / of; 0 in the rows of the others
Tensor cross_entropy(Tensor logits, const Tokens& targets, size_t of) {
    size_t n = row_length(logits), count = row_count(logits);
    if (count != targets.ids.size())
        fail("cross_entropy: logits ", to_string(logits.shape()), " for targets ", to_string({targets.B, targets.T}));
    for (int id : targets.ids)
        if (id != ignore_index && (id < 0 || size_t(id) >= n))
            fail("cross_entropy: no target ", id, " among ", n, " logits");
    auto for_counted = [n](const std::vector<int>& ids, auto f) {  // f(where the row starts, target)
        for (size_t r = 0; r < ids.size(); ++r)
            if (ids[r] != ignore_index) f(r * n, ids[r]);
    };
    if (of == 0) of = count - size_t(std::ranges::count(targets.ids, ignore_index));
    real scale = real(1) / real(std::max<size_t>(of, 1));
    double total = 0;
    auto loss = make_array({1});
    if (!grad_enabled() || !logits.wants_grad()) {
        const real* z = value(logits).data();
        for_counted(targets.ids, [&](size_t row, int id) { total += cross_entropy_loss(z + row, id, n); });
        (*loss)(0) = real(total) * scale;
        return make_tensor(loss);
    }
    std::shared_ptr<Array> probabilities = take_value(logits);  // a large vocabulary's logits are held once, not twice
    if (!probabilities) probabilities = std::make_shared<Array>(value(logits));
    real* p = probabilities->data();
    for_counted(targets.ids, [&](size_t row, int id) { total += cross_entropy_row(p + row, id, n); });
    (*loss)(0) = real(total) * scale;
    return make_result(loss, {logits}, [logits, probabilities, ids = targets.ids, n, scale](Array& dy) {
        Array& dz = *probabilities;
        for (size_t r = 0; r < ids.size(); ++r)
            if (real* row = dz.data() + r * n; ids[r] == ignore_index)
                std::fill_n(row, n, real(0));
            else
                row[ids[r]] -= 1;
        xt::noalias(dz) *= dy(0) * scale;
        add_grad(logits, std::move(dz));
    });
}

}  // namespace babygpt
