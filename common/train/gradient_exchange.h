// Gradients of a step, added up over this rank's workers and then over all ranks. They travel in a few large buckets,
// each of them begun as soon as it is whole here, while the rest of backward() still computes.
#pragma once
#include <atomic>
#include <memory>
#include <unordered_map>

#include "common/nn/nn.h"

namespace babygpt {

class GradientExchange {
  public:
    // Smaller buckets can begin sooner, but each of them pays for its beginning.
    static constexpr size_t usual_bucket = 1 << 20;  // bytes
    // One replica for each worker of this rank.
    explicit GradientExchange(std::vector<std::shared_ptr<Module>> replicas, size_t bucket_bytes = usual_bucket);

    void begin(int workers);  // a step, in which so many take part
    // This worker will add no more to the gradient of a parameter of its replica, or of any. Worker 0, on whose thread
    // the ranks talk, also sends what is whole.
    void whole(int worker, const Node& parameter);
    void whole(int worker);
    // Then the sums are in the gradients of replica 0; a parameter that no worker of any rank reached has none. Returns
    // the sum of all ranks' losses.
    double finish(double loss);

  private:
    struct Bucket {
        size_t first, last;         // parameters
        std::atomic<int> open = 0;  // workers that have not all of it, times parameters
    };
    void whole(int worker, size_t parameter);
    void send_whole_buckets();
    void add_up(const Bucket& bucket);

    std::vector<std::shared_ptr<Module>> replicas;
    std::vector<std::unordered_map<const Node*, size_t>> numbers;  // of each replica's parameters
    std::vector<std::vector<char>> is_whole;                       // for each worker and parameter
    std::vector<size_t> starts;                                    // of each parameter in sums
    std::vector<real> sums;                                        // all parameters, end to end
    std::vector<double> reached;  // how many workers reached each parameter; and the loss, which travels with them
    std::vector<std::unique_ptr<Bucket>> buckets;  // the last parameters first, as backward() comes to them
    std::vector<size_t> bucket_of;
    int workers = 0;
    size_t sent = 0;
};

}  // namespace babygpt
