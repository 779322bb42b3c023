// The loops over rows that every step runs, each in one pass: softmax, layer norm, cross-entropy, dropout, AdamW, and
// attention. Plain functions on plain memory, without gradients. A row holds n numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/tensor/real.h"

namespace babygpt {

// Softmax over the row's first `seen` numbers; the rest become 0, and all of it if these are all -inf. x may be y.
void softmax_row(const real* x, real* y, size_t n, size_t seen);
// dx = y * (dy - sum(dy * y)); dx may be dy.
void softmax_pullback_row(const real* y, const real* dy, real* dx, size_t n);

struct RowStats {
    real mean, inverse_deviation;
};
// y = (x - mean) / sqrt(variance + epsilon) * gain + bias
RowStats layer_norm_row(const real* x, const real* gain, const real* bias, real epsilon, real* y, size_t n);
// dx = pullback of the row (may be dy); dgain and dbias are added to
void layer_norm_pullback_row(const real* x, RowStats stats, const real* gain, const real* dy, real* dx, real* dgain,
                             real* dbias, size_t n);

// Turns a row of logits into probabilities in place and returns -log(probability of target).
real cross_entropy_row(real* logits, int target, size_t n);
// The same loss, and the logits left as they are.
real cross_entropy_loss(const real* logits, int target, size_t n);

// The dropout mask of the stream `key` at element i of a row: 1 / (1 - p) if it stays, 0 if it is dropped. It is
// computed from the element's coordinates, so that the pullback computes the same again instead of keeping it, and so
// that a part of a batch has the mask that it has in the whole.
struct DropoutMask {
    DropoutMask(uint64_t key, double p);
    DropoutMask at(size_t coordinate) const;  // of one part of the first axis
    real operator()(uint32_t i) const {
        uint32_t x = (i ^ low) * 0x7feb352d + high;
        x ^= x >> 15;
        x *= 0x846ca68b;
        x ^= x >> 16;
        return x < limit ? scale : 0;
    }
    uint32_t low, high, limit;
    real scale;
};

void gelu(std::span<real> x, std::span<real> y);  // y = gelu(x), and x becomes the slope there, dy/dx
void tanh(std::span<real> x);                     // in place

void add(std::span<const real> x, std::span<real> sum);  // sum += x
double sum_of_squares(std::span<const real> x);
void add_rows(const real* x, real* sum, size_t rows, size_t n);  // sum (n) += every row of x (rows, n)

struct AdamWStep {
    double learning_rate, beta1, beta2, epsilon, weight_decay, gradient_scale;
    int step;  // from 1
};
void adamw(const AdamWStep& s, std::span<real> value, std::span<const real> gradient, std::span<real> mean,
           std::span<real> square);

// Causal self-attention of one head over one sequence of T positions. q, k, v and their gradients are (T, head_size)
// inside rows `stride` apart; weights is (T, T), the softmax before dropout, which the pullback needs.
struct Attention {
    size_t T, head_size, stride;
    const DropoutMask* dropout = nullptr;  // of the head's weights, if any
};
void attention(const Attention& s, const real* q, const real* k, const real* v, real* weights, real* out,
               size_t out_stride);
// dq, dk, dv are written, not added to
void attention_pullback(const Attention& s, const real* q, const real* k, const real* v, const real* weights,
                        const real* dout, size_t dout_stride, real* dq, real* dk, real* dv);

}  // namespace babygpt
