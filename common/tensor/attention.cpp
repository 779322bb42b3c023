// Attention a strip of rows at a time: the strip's scores stay in cache from the first product to the last, and since a
// row sees only itself and the rows before it, a strip that ends at row `seen` needs only that many columns.
#include <cmath>

#include "common/tensor/kernels.h"
#include "common/tensor/node.h"
#include "common/tensor/ops.h"
#include "common/tensor/recording.h"
#include "common/tensor/tile.h"

namespace babygpt {

namespace {

constexpr size_t strip = tile_columns;  // as a strip's end must end a panel

// Calls f(first row, rows, columns seen) for each strip of T rows.
template <class F>
void for_strips(size_t T, F f) {
    for (size_t row = 0; row < T; row += strip) {
        size_t rows = std::min(strip, T - row);
        f(row, rows, row + rows);
    }
}

// y = x times its part of the dropout mask
void drop(const Attention& s, size_t row, const real* x, real* y, size_t n) {
    const DropoutMask mask = s.dropout->at(row);
    for (size_t j = 0; j < n; ++j) y[j] = x[j] * mask(static_cast<uint32_t>(j));
}

using Buffer = std::vector<real, ArrayAllocator<real>>;

}  // namespace

void attention(const Attention& s, const real* q, const real* k, const real* v, real* weights, real* out,
               size_t out_stride) {
    const size_t T = s.T, H = s.head_size;
    const real scale = 1 / std::sqrt(static_cast<real>(H));
    thread_local Packed keys, values;
    thread_local Buffer dropped;
    keys.pack(H, T, k, 1, s.stride);  // transposed
    values.pack(T, H, v, s.stride, 1);
    dropped.resize(s.dropout ? strip * T : 0);
    for_strips(T, [&](size_t row, size_t rows, size_t seen) {
        real* w = weights + row * T;
        tile_matmul(rows, seen, H, scale, q + row * s.stride, s.stride, 1, keys, 0, w, T);
        for (size_t i = 0; i < rows; ++i) {
            softmax_row(w + i * T, w + i * T, seen, row + i + 1);
            if (s.dropout) drop(s, row + i, w + i * T, &dropped[i * T], seen);
        }
        tile_matmul(rows, H, seen, 1, s.dropout ? dropped.data() : w, T, 1, values, 0, out + row * out_stride,
                    out_stride);
    });
}

void attention_pullback(const Attention& s, const real* q, const real* k, const real* v, const real* weights,
                        const real* dout, size_t dout_stride, real* dq, real* dk, real* dv) {
    const size_t T = s.T, H = s.head_size;
    const real scale = 1 / std::sqrt(static_cast<real>(H));
    thread_local Packed keys, values, strip_of_q, strip_of_dout;
    thread_local Buffer dropped, dscores;
    keys.pack(T, H, k, s.stride, 1);
    values.pack(H, T, v, 1, s.stride);  // transposed
    dropped.resize(s.dropout ? strip * T : 0);
    dscores.resize(strip * T);
    for (size_t i = 0; i < T; ++i) {
        std::fill_n(dk + i * s.stride, H, real(0));
        std::fill_n(dv + i * s.stride, H, real(0));
    }
    for_strips(T, [&](size_t row, size_t rows, size_t seen) {
        const real *w = weights + row * T, *dout_strip = dout + row * dout_stride, *q_strip = q + row * s.stride;
        // out = drop(w) v: dw = drop(dout v^T); w = softmax(scores)
        tile_matmul(rows, seen, H, 1, dout_strip, dout_stride, 1, values, 0, dscores.data(), T);
        for (size_t i = 0; i < rows; ++i) {
            real* d = &dscores[i * T];
            if (s.dropout) {
                drop(s, row + i, w + i * T, &dropped[i * T], seen);
                drop(s, row + i, d, d, seen);
            }
            softmax_pullback_row(w + i * T, d, d, seen);
        }
        // dv += drop(w)^T dout
        strip_of_dout.pack(rows, H, dout_strip, dout_stride, 1);
        tile_matmul(seen, H, rows, 1, s.dropout ? dropped.data() : w, 1, T, strip_of_dout, 1, dv, s.stride);
        // scores = scale q k^T: dq = scale dscores k, dk += scale dscores^T q
        tile_matmul(rows, H, seen, scale, dscores.data(), T, 1, keys, 0, dq + row * s.stride, s.stride);
        strip_of_q.pack(rows, H, q_strip, s.stride, 1);
        tile_matmul(seen, H, rows, scale, dscores.data(), 1, T, strip_of_q, 1, dk, s.stride);
    });
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, const Mask& visible) {
    if (q.shape().size() != 3 || k.shape().size() != 3 || n_head < 1 || q.size(2) % n_head)
        fail("attention: queries ", to_string(q.shape()), " and keys ", to_string(k.shape()), " for ", n_head,
             " heads: both have to be (B,T,C), with C a multiple of the heads");
    auto heads = [&](const Tensor& x) { return reshape(x, {x.size(0), x.size(1), n_head, -1}); };
    Tensor scores = einsum("bqhd,bkhd->bhqk", heads(q), heads(k)) / std::sqrt(q.size(2) / n_head);
    Tensor weights = softmax(masked_fill(scores, !visible, -INFINITY));
    return reshape(einsum("bhqk,bkhd->bqhd", weights, heads(v)), q.shape());
}

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v, int n_head, double p, uint64_t key,
                        int first_row) {
    Shape shape = q.shape();
    if (shape.size() != 3 || k.shape() != shape || v.shape() != shape)
        fail("causal_attention: queries ", to_string(shape), ", keys ", to_string(k.shape()), " and values ",
             to_string(v.shape()), " have to be (B,T,C), all three alike");
    if (n_head < 1 || shape[2] % n_head != 0)
        fail("causal_attention: ", to_string(shape), " cannot be shared by ", n_head, " heads");
    if (!(p >= 0 && p < 1)) fail("causal_attention: a dropout of ", p, " is not in [0, 1)");
    size_t B = size_t(shape[0]), T = size_t(shape[1]), C = size_t(shape[2]), heads = size_t(n_head);
    DropoutMask mask(key, p);
    auto for_heads = [=](auto f) {  // f(settings, where the head's numbers start, number of its weights)
        for (size_t i = 0; i < B * heads; ++i) {
            size_t row = i / heads, head = i % heads;
            DropoutMask own = mask.at(size_t(first_row) + row).at(head);
            f(Attention{.T = T, .head_size = C / heads, .stride = C, .dropout = p > 0 ? &own : nullptr},
              row * T * C + head * (C / heads), i);
        }
    };
    auto y = make_array({B, T, C});
    bool keep = is_recorded() || (grad_enabled() && (q.wants_grad() || k.wants_grad() || v.wants_grad()));
    auto weights = make_array({keep ? B * heads : 1, T, T});
    if (is_recorded()) weights->fill(0);  // the kernel leaves most of the future untouched
    for_heads([&](const Attention& s, size_t at, size_t i) {
        attention(s, value(q).data() + at, value(k).data() + at, value(v).data() + at,
                  weights->data() + (keep ? i * T * T : 0), y->data() + at, C);
    });
    if (is_recorded()) recorded({}, reshape(make_tensor(weights), {shape[0], n_head, shape[1], shape[1]}));
    return make_result(y, {q, k, v}, [q, k, v, weights, for_heads, C, T](Array& dy) {
        Array dq(dy.shape()), dk(dy.shape()), dv(dy.shape());
        for_heads([&](const Attention& s, size_t at, size_t i) {
            attention_pullback(s, value(q).data() + at, value(k).data() + at, value(v).data() + at,
                               weights->data() + i * T * T, dy.data() + at, C, dq.data() + at, dk.data() + at,
                               dv.data() + at);
        });
        add_grad(q, std::move(dq)), add_grad(k, std::move(dk)), add_grad(v, std::move(dv));
    });
}

}  // namespace babygpt
