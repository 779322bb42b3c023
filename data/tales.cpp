#include <array>
#include <string>

#include "data/grammar.h"

namespace babygpt {

namespace {

// What has to be remembered, and over about how many characters: the sound over 4, the sum over 20, the box and what is
// in it over 60 to 90, the name over 200, from the first sentence to the last. Name, thing and place return two times
// or more: a model learns to copy late, and only if there is enough to copy. Names differ in their first letter, and so
// do the looks and toys, the places and the boxes: a single letter, well remembered, is enough to go on.
const char* const rules = R"(
tale = <start> <song> <hide> <count> <find> <end>

start = <name!> <got> a <thing!> at the <place!>.
    | At the <place!> <name!> <got> a <thing!>.
song = A <bird> sang "<sound!> <sound?>" to <name?>.
    | "<sound!> <sound?>" sang a <bird> to <name?>.
hide = <name?> <put> the <thing?> in a <box!> at the <place?>.
    | At the <place?> <name?> <put> the <thing?> in a <box!>.
count = <pronoun?> <ate> <sums>, <sum?> in all.
    | <name?> <ate> <sums>, so <sum?>.
find = In the <box?> at the <place?> was the <thing?>.
    | The <thing?> was in the <box?> at the <place?>.
end = <name?> was <mood>.
    | "My <thing?>!" said <name?>.

# A name decides between she and he.
name = <girl><pronoun!She> | <boy><pronoun!He>
pronoun = She | He
girl = Ada | Cora | Eva | Hana | Ida | Kim | Mia | Olga | Rosa | Tess | Uma | Vera | Zoe
boy = Ben | Dan | Finn | Gus | Jack | Leo | Ned | Paul | Quin | Sam | Will | Xan | Yuri

thing = <look> <toy>
look = red | blue | pink | green | vast | new | tiny | flat | long | soft | wet | dull | jolly | heavy | clean | yellow
toy = kite | drum | ball | coin | apple | ring | hat | egg | lamp | net | pipe | star | mug | vase | flag | jug
place = mill | pond | well | barn | gate | hill | lake | oak | ford | inn | sea | road | den | tower | cave
box = box | jar | sack | pot | crate | tub | vat | dish | kettle | nest

sound = <hum><tone><ring>
hum = b | d | h | l | m | p | r | s | t | v | z
tone = a | e | i | o | u
ring = l | m | n | p | ng
bird = wren | robin | lark | crow | duck | hen | goose | finch | magpie | dove | jay | tern

got = found | made | won | bought | got | saved
put = put | hid | left | kept | laid | set
ate = ate | picked | sold | washed | shared | cooked
mood = glad | happy | merry | proud | calm | tired | lucky | shy | brave | kind
)";

// Every sum of two numbers from two on that makes at most nine.
std::string sums() {
    constexpr std::array words{"two", "three", "four", "five", "six", "seven", "eight", "nine"};
    std::string rule = "sums =";
    for (size_t a = 2; a <= 7; a++)
        for (size_t b = 2; a + b <= 9; b++)
            rule += std::string(rule.back() == '=' ? " " : " | ") + words[a - 2] + " and " + words[b - 2] +
                    " <food><sum!" + words[a + b - 2] + ">";
    return rule +
           "\nsum = four | five | six | seven | eight | nine"
           "\nfood = figs | nuts | plums | pears | beans | peas | buns | cakes | pies | limes | eggs | dates | leeks | "
           "beets | tarts | yams\n";
}

}  // namespace

const Grammar& tales() {
    static const Grammar grammar(rules + sums());
    return grammar;
}

}  // namespace babygpt
