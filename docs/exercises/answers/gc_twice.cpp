// Bug hunt gc: a slope that is too small.
//
// A whole autograd engine for single numbers. Every number is an entry on a tape, in the order of computing; an entry
// knows which entries it was made of and its slope towards each. backward(y) fills in the gradients.
//
// The symptom: y = a * b + c gives the right gradients of a, b and c. y = a * a gives a the gradient a, not 2 a. And
// y = a * b + a gives a the gradient 1 although y clearly depends on b * a as well.
//
// Check it: make exercise N=gc
#include <utility>
#include <vector>

struct Tape {
    struct Entry {
        double value, grad;
        std::vector<std::pair<int, double>> inputs;  // the number of an entry, and the slope towards it
    };
    std::vector<Entry> entries;

    int number(double value) { return push({value, 0, {}}); }
    int add(int a, int b) { return push({value(a) + value(b), 0, {{a, 1}, {b, 1}}}); }
    int multiply(int a, int b) { return push({value(a) * value(b), 0, {{a, value(b)}, {b, value(a)}}}); }

    double value(int i) const { return entries[size_t(i)].value; }
    double grad(int i) const { return entries[size_t(i)].grad; }

    void backward(int y) {
        for (Entry& entry : entries) entry.grad = 0;
        entries[size_t(y)].grad = 1;
        for (int i = y; i >= 0; --i) {  // from y back: an entry's gradient is whole before it is passed on
            const Entry& entry = entries[size_t(i)];
            // += : an entry that was used twice gets two shares, and the second must not wipe out the first. It was =.
            for (auto [input, slope] : entry.inputs) entries[size_t(input)].grad += slope * entry.grad;
        }
    }

  private:
    int push(Entry entry) {
        entries.push_back(std::move(entry));
        return int(entries.size()) - 1;
    }
};
