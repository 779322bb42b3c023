// einsum and matmul: against plain loops over every label, finite differences, the forms that attention is written in,
// and two other authors' attention.
#include <map>

#include "common/tensor/ops.h"
#include "tests/check.h"
#include "tests/fixture.h"

using namespace babygpt;

namespace {

// Every label is a loop: y[...] += a[...] * b[...].
Tensor by_loops(const std::string& formula, const Tensor& a, const Tensor& b) {
    std::string la = formula.substr(0, formula.find(',')), ly = formula.substr(formula.find('>') + 1);
    std::string lb = formula.substr(la.size() + 1, formula.size() - la.size() - ly.size() - 3), names;
    std::map<char, int> size, at;
    for (size_t i = 0; i < la.size(); ++i) size[la[i]] = a.size(int(i));
    for (size_t i = 0; i < lb.size(); ++i) size[lb[i]] = b.size(int(i));
    for (auto [name, n] : size) names += name;
    Shape shape;
    for (char c : ly) shape.push_back(size[c]);
    if (shape.empty()) shape = {1};
    Tensor y = Tensor::zeros(shape);
    std::vector<double> totals(y.count());
    auto place = [&](const std::string& labels) {
        size_t result = 0;
        for (char c : labels) result = result * size_t(size[c]) + size_t(at[c]);
        return result;
    };
    for (size_t next = 0; next < names.size();) {
        totals[place(ly)] += double(a.values()[place(la)]) * double(b.values()[place(lb)]);
        for (next = 0; next < names.size() && ++at[names[next]] == size[names[next]]; ++next) at[names[next]] = 0;
    }
    for (size_t i = 0; i < totals.size(); ++i) y.values()[i] = real(totals[i]);
    return y;
}

struct Heads {  // (B, T, n_head * H) seen as n_head heads, and back
    int n_head;
    Tensor split(const Tensor& x) const { return reshape(x, {x.size(0), x.size(1), n_head, x.size(2) / n_head}); }
    Tensor merge(const Tensor& x) const { return reshape(x, {x.size(0), x.size(1), x.size(2) * x.size(3)}); }
};

struct Attended {
    Tensor y, weights;
};
Attended einsum_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& hidden, double divisor) {
    Tensor scores = einsum("bqhd,bkhd->bhqk", q, k) / divisor;                        // (B, n_head, T, T)
    Tensor weights = softmax(masked_fill(scores, hidden, -INFINITY));                 // (B, n_head, T, T)
    return {Heads{q.size(2)}.merge(einsum("bhqk,bkhd->bqhd", weights, v)), weights};  // (B, T, C)
}

Shape shape_of(const std::string& labels, const std::map<char, int>& of) {
    Shape shape;
    for (char c : labels) shape.push_back(of.at(c));
    return shape;
}

// Two random tensors for a formula, whose labels have these sizes; einsum of them is what the loops say.
std::pair<Tensor, Tensor> check_values(const std::string& formula, const std::map<char, int>& of) {
    size_t comma = formula.find(',');
    Tensor a = random_tensor(shape_of(formula.substr(0, comma), of), 1);
    Tensor b = random_tensor(shape_of(formula.substr(comma + 1, formula.find('-') - comma - 1), of), 2);
    Tensor y = einsum(formula, a, b), expected = by_loops(formula, a, b);
    CHECK(to_string(y.shape()) == to_string(expected.shape()));
    CHECK(difference(y.values(), expected.values()) < rounding);
    return {a, b};
}

}  // namespace

TEST_SUITE("einsum") {
    const std::vector<std::string> formulas{
        "ij,jk->ik",       "ij,jk->ki",       "ji,jk->ik",       "ij,kj->ik",
        "ji,kj->ki",                                                                 // matrices
        "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "bqhd,bkhd->bhkq", "bqhd,bkhd->qkbh",  // heads
        "bhqd,qkd->bhqk",  "bqhd,qkd->bhqk",  "bkhd,qkd->bhqk",                      // relative positions
        "bqhd,hde->bqhe",  "bqc,chd->bqhd",   "bqhd,chd->bqc",                       // weights by head
        "bhqk,h->bhqk",    "b,bh->bh",        "bh,bh->bh",       "bh,bh->hb",
        "bqh,bkh->bqkh",   "hb,kb->hkb",  // batch labels inside
        "i,j->ij",         "i,j->ji",         "i,i->i",          "i,i->",
        "ij,ij->",         "ij,ji->",         "bij,bij->b",      "bij,bji->b",
        "ijk,k->ij",       "i,ijk->jk",       "abcd,cbae->de",   "abcd,bd->ca",
        "abc,dbe->ecad",  // anything goes
        "ij,j->j",         "ij,k->ik",        "ij,k->",          "i,jk->k",
        "ab,cd->ad"};  // summed in one alone
    const std::map<char, int> sizes{{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}, {'e', 2},
                                    {'h', 2}, {'i', 3}, {'j', 4}, {'k', 7}, {'q', 5}};

    TEST_CASE("einsum: values equal plain loops and gradients finite differences, whatever the formula") {
        for (const std::string& formula : formulas)
            for (char single : std::string("-bhqij")) {  // and with one label of size 1
                CAPTURE(formula);
                CAPTURE(single);
                std::map<char, int> of = sizes;
                if (single != '-') of[single] = 1;
                auto inputs = check_values(formula, of);
                const Tensor &a = inputs.first, &b = inputs.second;
                if (single == '-') check_gradients([&] { return einsum(formula, a, b); }, {a, b});
            }
    }

    TEST_CASE("einsum: axes that become one in a copy, values and gradients, the second added to the first") {
        const std::map<char, int> of{{'b', 3}, {'h', 2}, {'q', 18}, {'k', 35}, {'d', 5}};  // more than a copied block
        for (std::string formula : {"bqhd,qkd->bhqk", "bkhd,qkd->bhqk", "kbdh,qkd->qbhk", "bhqk,bkhd->qdbh"}) {
            CAPTURE(formula);
            auto inputs = check_values(formula, of);
            const Tensor &a = inputs.first, &b = inputs.second;
            check_gradients([&] { return einsum(formula, a, b) + einsum(formula, a, b) * 2.0; }, {a, b}, 100);
        }
    }

    TEST_CASE("einsum: a gradient is added to what is there, and a tensor may meet itself") {
        Tensor x = random_tensor({3, 4, 4}, 1);
        check_gradients([&] { return einsum("bij,bjk->bik", x, x) + x; }, {x});
        check_gradients(
            [&] {
                return einsum("bij,bik->jbk", x, x) + reshape(einsum("bij,bij->jb", x, x * 2.0), {4, 3, 1});
            },
            {x});
    }

    TEST_CASE("by hand: einsum") {
        Tensor a({2, 2}, {1, 2, 3, 4}), b({2, 2}, {5, 6, 7, 8}), row({2}, {10, 20});
        check_values(einsum("ij,jk->ik", a, b), {2, 2}, {19, 22, 43, 50});
        check_values(einsum("ij,ij->", a, b), {1}, {70});
        check_values(einsum("ij,j->i", a, row), {2}, {50, 110});
        check_values(einsum("ij,k->jk", a, row), {2, 2}, {40, 80, 60, 120});
    }

    TEST_CASE("formulas that cannot be are an error with the label and the sizes") {
        Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({4, 5});
        check_error([&] { einsum("ij,jk->ik", a, b); }, {"einsum ij,jk->ik", "j is 3 in (2,3) and 4 in (4,5)"});
        check_error([&] { einsum("ij,k->ik", a, b); }, {"einsum", "\"k\" names 1 axes", "(4,5)"});
        check_error([&] { einsum("ijk,lm->i", a, b); }, {"einsum", "\"ijk\" names 3 axes", "(2,3)"});
        check_error([&] { einsum("ii,jk->k", a, b); }, {"einsum", "i stands twice", "\"ii\""});
        check_error([&] { einsum("ij,kl->ikk", a, b); }, {"einsum", "k stands twice", "\"ikk\""});
        check_error([&] { einsum("ij,kl->im", a, b); }, {"einsum", "m of the result is in neither input"});
        check_error([&] { einsum("ij,kl", a, b); }, {"einsum ij,kl:", "\"ij,jk->ik\""});
        check_error([&] { einsum("ij->ij", a, b); }, {"einsum ij->ij:", "both inputs"});
        check_error([&] { einsum("", a, b); }, {"einsum", "\"ij,jk->ik\""});
        check_error([&] { einsum("i-,kl->i", a, b); }, {"einsum", "'-' is no letter"});
        check_error([&] { einsum("ij,kl,mn->i", a, b); }, {"einsum", "names 5 axes"});
    }

    TEST_CASE("matmul: leading axes broadcast both ways, values and gradients") {
        const std::vector<std::pair<Shape, Shape>> pairs{{{4, 5}, {5, 3}},
                                                         {{2, 4, 5}, {5, 3}},
                                                         {{4, 5}, {2, 5, 3}},
                                                         {{2, 4, 5}, {2, 5, 3}},
                                                         {{2, 1, 4, 5}, {3, 5, 3}},
                                                         {{1, 4, 5}, {2, 5, 3}},
                                                         {{2, 3, 4, 5}, {2, 1, 5, 3}},
                                                         {{3, 4, 5}, {2, 1, 5, 3}},
                                                         {{2, 3, 1, 5}, {2, 3, 5, 1}},
                                                         {{1, 1}, {4, 1, 1}}};
        for (const auto& [sa, sb] : pairs) {
            CAPTURE(to_string(sa) + " @ " + to_string(sb));
            Tensor a = random_tensor(sa, 1), b = random_tensor(sb, 2);
            check_gradients([&] { return matmul(a, b); }, {a, b});
            Tensor y = matmul(a, b);
            Shape spread = y.shape();  // every leading axis at its full size
            spread[spread.size() - 2] = spread.back() = 1;
            auto stack = [&](const Tensor& x) {
                Tensor full = x + Tensor::zeros(spread);
                return reshape(full, {int(full.count()) / x.size(-2) / x.size(-1), x.size(-2), x.size(-1)});
            };
            CHECK(difference(y.values(), by_loops("bij,bjk->bik", stack(a), stack(b)).values()) < rounding);
        }
    }

    TEST_CASE(
        "attention by einsum, by reshape, transpose and matmul as BERT's authors write it, and head by head: all "
        "equal") {
        const int T = 6, n_head = 4, H = 3;
        Heads heads{n_head};
        std::vector<Tensor> qkv;
        for (uint64_t seed : {1, 2, 3}) qkv.push_back(random_tensor({2, T, n_head * H}, seed));
        Mask hidden = !(tril(T) && padding({4, 6}, T));
        auto by_einsum = [&] {
            return einsum_attention(heads.split(qkv[0]), heads.split(qkv[1]), heads.split(qkv[2]), hidden, std::sqrt(H))
                .y;
        };
        auto by_transposing = [&] {
            const Tensor &q = qkv[0], &k = qkv[1], &v = qkv[2];
            //> transposed
            auto split = [&](const Tensor& x) {                                          // (B, T, C)
                return transpose(reshape(x, {x.size(0), x.size(1), n_head, -1}), 1, 2);  // (B, n_head, T, H)
            };
            Tensor scores = matmul(split(q), transpose(split(k))) / std::sqrt(H);              // (B, n_head, T, T)
            Tensor parts = matmul(softmax(masked_fill(scores, hidden, -INFINITY)), split(v));  // (B, n_head, T, H)
            return reshape(transpose(parts, 1, 2), q.shape());                                 // (B, T, C)
            //< transposed
        };
        auto head_by_head = [&] {
            std::vector<Tensor> parts;
            for (int h = 0; h < n_head; ++h) {
                auto head = [&](const Tensor& x) { return slice(x, -1, h * H, (h + 1) * H); };  // (B, T, H)
                Tensor scores = matmul(head(qkv[0]), transpose(head(qkv[1]))) / std::sqrt(H);
                Mask of_three_axes{{2, T, T}, hidden.values};
                parts.push_back(matmul(softmax(masked_fill(scores, of_three_axes, -INFINITY)), head(qkv[2])));
            }
            return concat(parts);
        };
        std::vector<std::vector<real>> expected;
        for (const std::function<Tensor()>& way :
             {std::function<Tensor()>(by_einsum), {by_transposing}, {head_by_head}}) {
            for (Tensor& x : qkv) x.clear_grad();
            Tensor y = way();
            std::vector<std::vector<real>> found{copy(y.values())};
            sum(y * random_constant(y.shape(), 9)).backward();
            for (Tensor& x : qkv) found.push_back(copy(x.grad()));
            if (expected.empty()) expected = found;
            for (size_t i = 0; i < found.size(); ++i) CHECK(difference(found[i], expected[i]) < 5 * rounding);
        }
        check_gradients(by_einsum, qkv);
    }

    TEST_CASE("another BERT's attention: result, weights and all gradients of sum(y * y)") {
        Fixture fixture("multi_headed_attention");
        Heads heads{4};
        std::map<std::string, Tensor> parameters;
        auto parameter = [&](const std::string& file_name, const std::string& name) {
            return parameters[name] = fixture.parameter(file_name + name);
        };
        auto layer = [&](const std::string& name, const Tensor& x) {
            Tensor weight = parameter("model.", name + ".weight");
            return linear(x, weight, parameter("model.", name + ".bias"));
        };
        Tensor query = parameter("in.", "query"), key = parameter("in.", "key"), value = parameter("in.", "value");
        auto [sums, weights] =
            einsum_attention(heads.split(layer("linear_layers.0", query)), heads.split(layer("linear_layers.1", key)),
                             heads.split(layer("linear_layers.2", value)), !fixture.mask("in.mask"), std::sqrt(4));
        Tensor y = layer("output_linear", sums);
        check_answer(weights, fixture.constant("out.attention"));
        check_answer(y, fixture.constant("out.y"));
        sum(y * y).backward();
        for (const auto& [name, tensor] : parameters) {
            CAPTURE(name);
            Tensor gradient(tensor.shape(), tensor.grad());
            if (name != "linear_layers.1.bias")
                check_answer(gradient, fixture.constant("grad." + name));
            else  // the key's bias moves all scores of a row alike, which softmax does not see: theirs is but rounding
                check_answer(gradient, Tensor::zeros(tensor.shape()), in_double ? 1e-12 : 1e-4, 1);
        }
    }

    TEST_CASE("an einsum tutorial's attention: as written, with its layers called, and scaled by the head's size") {
        Fixture fixture("einsum_attention");
        Heads heads{4};
        Tensor x = heads.split(fixture.constant("in.x"));  // (B, T, 4, 4)
        auto check = [&](const std::string& answer, bool call_layers, double divisor) {
            CAPTURE(answer);
            auto layer = [&](const std::string& name) {
                return call_layers ? linear(x, fixture.constant("model." + name + ".weight")) : x;
            };
            auto [sums, weights] =
                einsum_attention(layer("queries"), layer("keys"), layer("values"), !fixture.mask("in.mask"), divisor);
            Tensor y = linear(sums, fixture.constant("model.fc_out.weight"), fixture.constant("model.fc_out.bias"));
            check_answer(weights, fixture.constant("out." + answer + ".attention"));
            check_answer(y, fixture.constant("out." + answer + ".y"));
        };
        check("as_written", false, std::sqrt(16));
        check("projected", true, std::sqrt(16));
        check("projected_by_head", true, std::sqrt(4));
        CHECK(fixture.mask("in.mask").values == (tril(6) && padding({6, 6}, 6)).values);
    }
}
