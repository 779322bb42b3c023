#include "common/train/gradient_exchange.h"

#include <algorithm>

#include "common/tensor/kernels.h"
#include "common/tensor/node.h"
#include "common/train/ranks.h"

namespace babygpt {

GradientExchange::GradientExchange(std::vector<std::shared_ptr<Module>> list, size_t bucket_bytes)
    : replicas(std::move(list)),
      numbers(replicas.size()),
      is_whole(replicas.size()) {
    const std::vector<Module::Parameter>& parameters = replicas[0]->parameters;
    size_t count = parameters.size(), total = 0;
    for (const Module::Parameter& parameter : parameters) starts.push_back(total), total += parameter.tensor.count();
    starts.push_back(total);
    sums.resize(total), reached.resize(count + 1), bucket_of.resize(count);
    for (size_t worker = 0; worker < replicas.size(); ++worker)
        for (size_t i = 0; i < count; ++i) numbers[worker][replicas[worker]->parameters[i].tensor.node.get()] = i;
    for (size_t last = count; last > 0; last = buckets.back()->first) {
        buckets.push_back(std::make_unique<Bucket>(last, last));
        while (buckets.back()->first > 0 &&
               (starts[last] - starts[buckets.back()->first]) * sizeof(real) < bucket_bytes)
            bucket_of[--buckets.back()->first] = buckets.size() - 1;
    }
}

void GradientExchange::begin(int count) {
    workers = count, sent = 0;
    std::ranges::fill(reached, 0.0);
    for (Module::Parameter& parameter : replicas[0]->parameters) parameter.tensor.clear_grad();
    for (std::vector<char>& of_worker : is_whole) of_worker.assign(bucket_of.size(), false);
    for (auto& bucket : buckets) bucket->open = workers * int(bucket->last - bucket->first);
}

void GradientExchange::whole(int worker, const Node& parameter) {
    auto& of_worker = numbers[size_t(worker)];
    if (auto found = of_worker.find(&parameter); found != of_worker.end()) whole(worker, found->second);
}

void GradientExchange::whole(int worker) {
    for (size_t i = bucket_of.size(); i-- > 0;) whole(worker, i);
}

void GradientExchange::whole(int worker, size_t parameter) {
    if (std::exchange(is_whole[size_t(worker)][parameter], true)) return;
    --buckets[bucket_of[parameter]]->open;
    if (worker == 0) send_whole_buckets();
}

void GradientExchange::send_whole_buckets() {
    for (; sent < buckets.size() && buckets[sent]->open == 0; ++sent) {  // in order: every rank sends in the same
        const Bucket& bucket = *buckets[sent];
        add_up(bucket);
        ranks::begin_all_reduce(
            std::span(sums).subspan(starts[bucket.first], starts[bucket.last] - starts[bucket.first]));
    }
    ranks::help_all_reduces();
}

void GradientExchange::add_up(const Bucket& bucket) {
    for (size_t i = bucket.first; i < bucket.last; ++i) {
        std::span<real> sum = std::span(sums).subspan(starts[i], starts[i + 1] - starts[i]);
        for (int worker = 0; worker < workers; ++worker) {
            const Tensor& share = replicas[size_t(worker)]->parameters[i].tensor;
            if (!share.has_grad()) continue;
            if (reached[i]++ == 0)
                std::ranges::copy(share.grad(), sum.begin());
            else
                add(share.grad(), sum);
        }
        if (reached[i] == 0) std::ranges::fill(sum, real(0));
    }
}

double GradientExchange::finish(double loss) {
    send_whole_buckets();
    ranks::finish_all_reduces();
    reached.back() = loss;
    ranks::all_reduce(reached);
    for (size_t i = 0; i < bucket_of.size(); ++i)
        if (reached[i] > 0)
            std::copy_n(sums.begin() + std::ptrdiff_t(starts[i]), starts[i + 1] - starts[i],
                        grad_target(replicas[0]->parameters[i].tensor).data);
    return reached.back();
}

}  // namespace babygpt
