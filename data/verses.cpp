#include "data/grammar.h"

namespace babygpt {

namespace {

// Four lines of five or seven characters. The flower decides the season; it and the place return in the last line.
const char* const rules = R"(
verse = <flower!><blooms>/<place!><season?><mild>/<someone><does>/<place?><loves><flower?>
    | <place!><when><flower!><opens!>/<season?>风吹<over><yonder>/<someone><often><does>/<again><place?><flower?><opens?>

flower = 3 <spring><season!春> | 2 <summer><season!夏> | 2 <autumn><season!秋> | <winter><season!冬>
season = 春 | 夏 | 秋 | 冬
spring = 桃花 | 杏花 | 梨花 | 樱花 | 兰花 | 海棠 | 牡丹 | 杜鹃 | 蔷薇 | 丁香
summer = 荷花 | 莲花 | 榴花 | 茉莉 | 栀子 | 紫薇
autumn = 菊花 | 桂花 | 芦花 | 芙蓉 | 木槿 | 桔梗
winter = 梅花 | 腊梅 | 水仙 | 山茶
blooms = 满山明 | 映碧波 | 绕旧篱 | 满小园 | 近酒杯 | 照眼新 | 倚东墙 | 傍水生 | 带露香 | 笑晚风 | 入画屏 | 隔疏帘
    | 对夕阳 | 覆苔阶 | 伴竹林 | 临古渡
place = 江南 | 西湖 | 长安 | 洛阳 | 扬州 | 苏州 | 杭州 | 金陵 | 钱塘 | 潇湘 | 洞庭 | 庐山 | 黄山 | 峨眉 | 巴蜀 | 燕京
    | 塞北 | 岭南 | 辽东 | 天台 | 阳关 | 玉门 | 襄阳 | 会稽
mild = 意浓 | 日晴 | 色深 | 夜静 | 风起 | 雨细 | 水清 | 山远 | 云淡 | 月明 | 梦长 | 光好
someone = 故人 | 游子 | 渔翁 | 牧童 | 樵夫 | 老僧 | 书生 | 佳人 | 行客 | 隐士 | 将军 | 道士 | 歌女 | 船家 | 诗仙 | 邻翁
does = 倚高楼 | 望天涯 | 听钟声 | 吹玉笛 | 卧松云 | 弹素琴 | 煮新茶 | 钓寒潭 | 泛轻舟 | 踏歌行 | 醉不归 | 写相思 | 饮千杯
    | 扫落英 | 读残书 | 数归鸿 | 唤黄鹂 | 舞长剑
loves = 忆 | 看 | 问 | 寻 | 梦 | 赏 | 惜 | 爱 | 恋 | 折
when = 昨夜 | 今日 | 一夜 | 几度 | 依旧 | 处处 | 年年 | 十里
opens = 开 | 落 | 香 | 新 | 好 | 残
over = 过 | 入 | 到 | 遍 | 动 | 向
yonder = 旧池塘 | 小桥西 | 石桥东 | 白云间 | 画楼前 | 古寺门 | 野人家 | 草堂边 | 杨柳岸 | 芳草地 | 读书窗 | 青石巷
often = 独自 | 今夜 | 几回 | 终日 | 月下 | 灯前 | 雨中 | 闲来
again = 又见 | 长忆 | 梦里 | 不负 | 犹记 | 最爱 | 为问 | 还看
)";

}  // namespace

const Grammar& verses() {
    static const Grammar grammar(rules);
    return grammar;
}

}  // namespace babygpt
