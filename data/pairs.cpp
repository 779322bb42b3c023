#include "data/pairs.h"

#include <array>
#include <unordered_set>

#include "data/grammar.h"

namespace babygpt {

namespace {

// The rules of the tales once more, with the same alternatives in the same order. Chinese puts the place before the
// verb, and counts things by the piece: each kind of thing has its measure word. What a bird sings stays as it is.
const char* const rules = R"(
tale = <start><song><hide><count><find><end>

start = <name>在<place><got>一<toy.piece><thing>。
    | 在<place>，<name><got>一<toy.piece><thing>。
song = 一只<bird>对<name>唱道：“<sound> <sound>”。
    | “<sound> <sound>”，一只<bird>对<name>唱道。
hide = <name>在<place>把<thing><put>一<box.piece><box>里。
    | 在<place>，<name>把<thing><put>一<box.piece><box>里。
count = <pronoun><ate><sums>，一共<sum><food.piece>。
    | <name><ate><sums>，就是<sum><food.piece>。
find = <place>的<box>里是那<toy.piece><thing>。
    | 那<toy.piece><thing>在<place>的<box>里。
end = <name>很<mood>。
    | “我那<toy.piece><thing>！”<name>说。

name = <girl> | <boy>
pronoun = 她 | 他
girl = 艾达 | 科拉 | 伊娃 | 哈娜 | 伊达 | 金姆 | 米娅 | 奥佳 | 罗莎 | 苔丝 | 乌玛 | 薇拉 | 佐伊
boy = 本恩 | 丹恩 | 芬恩 | 格斯 | 杰克 | 里奥 | 内德 | 保罗 | 奎因 | 萨姆 | 威尔 | 赞恩 | 尤里

thing = <look><toy>
look = 红 | 蓝 | 粉色的 | 绿 | 巨大的 | 新 | 小 | 扁 | 长 | 软 | 湿 | 暗淡的 | 欢快的 | 沉重的 | 干净的 | 黄
toy = 风筝 | 鼓 | 球 | 硬币 | 苹果 | 戒指 | 帽子 | 鸡蛋 | 灯 | 网 | 笛子 | 星星 | 杯子 | 花瓶 | 旗子 | 酒壶
toy.piece = 只 | 面 | 个 | 枚 | 个 | 枚 | 顶 | 个 | 盏 | 张 | 支 | 颗 | 只 | 只 | 面 | 把
place = 磨坊 | 池塘边 | 井边 | 谷仓 | 大门口 | 山上 | 湖边 | 橡树下 | 渡口 | 客栈 | 海边 | 路边 | 兽穴旁 | 塔下 | 洞口
box = 盒子 | 罐子 | 袋子 | 锅 | 木箱 | 木盆 | 大缸 | 盘子 | 水壶 | 鸟窝
box.piece = 个 | 个 | 只 | 口 | 只 | 只 | 口 | 个 | 把 | 个

sound = <hum><tone><ring>
hum = b | d | h | l | m | p | r | s | t | v | z
tone = a | e | i | o | u
ring = l | m | n | p | ng
bird = 鹪鹩 | 知更鸟 | 云雀 | 乌鸦 | 鸭子 | 母鸡 | 鹅 | 燕雀 | 喜鹊 | 鸽子 | 松鸦 | 燕鸥

got = 找到了 | 做了 | 赢了 | 买了 | 得到了 | 存了
put = 放在 | 藏在 | 留在 | 收在 | 搁在 | 摆在
ate = 吃了 | 挑了 | 卖了 | 洗了 | 分了 | 煮了
mood = 高兴 | 开心 | 快活 | 自豪 | 平静 | 疲倦 | 幸运 | 害羞 | 勇敢 | 善良
)";

// As in the tales: every sum of two numbers from two on that makes at most nine.
std::string sums() {
    constexpr std::array words{"两", "三", "四", "五", "六", "七"};
    std::string rule = "sums =";
    for (size_t a = 2; a <= 7; a++)
        for (size_t b = 2; a + b <= 9; b++)
            rule += std::string(rule.back() == '=' ? " " : " | ") + words[a - 2] + "<food.piece>加" + words[b - 2] +
                    "<food.piece><food>";
    return rule +
           "\nsum = 四 | 五 | 六 | 七 | 八 | 九"
           "\nfood = 无花果 | 坚果 | 李子 | 梨 | 豆子 | 豌豆 | 面包 | 蛋糕 | 馅饼 | 青柠 | 鸡蛋 | 红枣 | 韭葱 | 甜菜 | "
           "果挞 | 山药"
           "\nfood.piece = 个 | 颗 | 个 | 个 | 粒 | 粒 | 个 | 块 | 张 | 个 | 个 | 颗 | 根 | 棵 | 个 | 根\n";
}

const Grammar& chinese() {
    static const Grammar grammar = [] {
        Grammar telling(rules + sums());
        telling.must_tell(tales());
        return telling;
    }();
    return grammar;
}

}  // namespace

std::optional<std::string> translation(std::string_view english) {
    std::optional<Derivation> derivation = tales().read_sentence(english);
    if (!derivation) return {};
    return chinese().tell(*derivation);
}

std::vector<Pair> pairs(uint64_t seed, size_t count) {
    for (size_t bytes = 50 * (count + 1);; bytes *= 2) {  // a sentence has 36 on average; some come twice
        std::vector<Pair> pairs;
        std::unordered_set<std::string> seen;
        for (const Document& tale : tales().documents(seed, bytes))
            for (const Sentence& sentence : tale) {
                if (pairs.size() == count) return pairs;
                if (!seen.insert(sentence.text).second) continue;
                pairs.push_back({sentence.text, *translation(sentence.text)});
            }
    }
}

std::string to_lines(const std::vector<Pair>& pairs) {
    std::string lines;
    for (const Pair& pair : pairs) lines += pair.source + "\t" + pair.target + "\n";
    return lines;
}

}  // namespace babygpt
