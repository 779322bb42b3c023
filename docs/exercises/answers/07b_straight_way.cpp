// Task 07b: the gradient at the bottom of 30 layers, with and without a way around.
//
// A stack of n layers for a single number; w (n) holds one weight for each layer. x0 goes in at the bottom.
//   plain:     x1 = tanh(w[0] x0),       x2 = tanh(w[1] x1),       ...
//   residual:  x1 = x0 + tanh(w[0] x0),  x2 = x1 + tanh(w[1] x1),  ...
// Return the slope of the last x towards x0: the product of the slopes of all layers. The slope of tanh(w x) towards x
// is w * (1 - tanh(w x)^2); the slope of x towards x is 1. The check then tells what the two slopes are at depth 30.
//
// Check it: make exercise N=07b
// Hint: walk up once. At each layer multiply the slope so far by the layer's own, at the x that came in; then compute
// the x that goes out.
#include <cmath>
#include <vector>

double slope_plain(const std::vector<double>& w, double x) {
    double slope = 1;
    for (double weight : w) {
        double y = std::tanh(weight * x);
        slope *= weight * (1 - y * y);  // below 1 at nearly every layer: the product dies out
        x = y;
    }
    return slope;
}

double slope_residual(const std::vector<double>& w, double x) {
    double slope = 1;
    for (double weight : w) {
        double y = std::tanh(weight * x);
        slope *= 1 + weight * (1 - y * y);  // the 1 is the straight way: the gradient comes through whatever w is
        x += y;
    }
    return slope;
}
