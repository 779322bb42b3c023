#include <array>
#include <string>

#include "data/grammar.h"

namespace babygpt {

namespace {

// What has to be remembered, and over about how many characters: the sound over 4, the sum over 20, the box and what is
// in it over 60 to 90, the name over 200, from the first sentence to the last. Name, thing and place return two times
// or more: a model learns to copy late, and only if there is enough to copy.
const char* const rules = R"(
tale = <start> <count> <hide> <song> <find> <end>
    | <start> <song> <hide> <count> <find> <end>
    | <start> <hide> <song> <find> <count> <end>
    | <start> <hide> <count> <find> <song> <end>

start = <name!> of <place!> had a <thing!>.
    | <name!> <got> a <thing!> <at> <place!>.
    | <At> <place!> <name!> <got> a <thing!>.
hide = <name?> <put> the <thing?> in a <box!> <at> <place?>.
    | <name?> <put> the <thing?> <at> <place?> in a <box!>.
    | <At> <place?> <name?> <put> the <thing?> in a <box!>.
song = A <bird> <sang> "<sound!> <sound?>".
    | "<sound!> <sound?>" <sang> a <bird>.
    | A <bird> <sang> "<sound!> <sound?>" to <name?>.
count = <pronoun?> <ate> <sums>, <sum?> in all.
    | <name?> <ate> <sums>, so <sum?>.
find = In the <box?> <at> <place?> was the <thing?>.
    | <At> <place?> the <box?> held the <thing?>.
    | The <thing?> was in the <box?> <at> <place?>.
end = <name?> was <mood>.
    | <name?> <did> and <did>.
    | "My <thing?>!" said <name?>.

# A name's ending decides between she and he.
name = <stem>a<pronoun!She> | <stem>ina<pronoun!She> | <stem>o<pronoun!He> | <stem>en<pronoun!He>
pronoun = She | He
stem = <capital><vowel><middle>
capital = B | D | F | G | H | J | K | L | M | N | R | S | T | V
vowel = a | e | i | o
middle = d | l | n | r | s | v

thing = <look> <toy>
look = red | blue | pink | grey | gold | new | big | tiny | flat | long | soft | thin | tin | fat | wet | neat | pale
    | bent | fine | dull | black | white | green | brown
toy = kite | drum | ball | coin | key | bell | hat | cup | boat | ring | shell | stone | spoon | doll | book | lamp
    | comb | fan | top | bow | jug | pen | bead | mask | sled | net | rope | pipe | star | harp | sock | vase | belt
    | flag | fork | mug | toy | pin | nail
place = <land><mark>
land = Oak | Elm | Ash | Pine | Fern | Moss | Rose | Thorn | Hay | Corn | Plum | Wool | Stone | Fox | Deer | Swan | Crow
    | Wolf | Bear | Frog | Moon | Snow | West | North
mark = mill | pond | well | barn | gate | hill | wall | lane | ford | path | dale | moor | field | bridge | brook | cliff
    | bay | den | port | stead
box = box | bag | jar | sack | pot | pail | bowl | can | case | cart | chest | crate | bin | tub | basket | barrel

sound = <hum><tone><ring>
hum = b | d | h | l | m | p | r | s | t | v | z
tone = a | e | i | o | u
ring = l | m | n | p | ng
bird = wren | robin | lark | crow | duck | hen | goose | dove | finch | swan | thrush | magpie | raven | gull | cuckoo
    | stork | crane | hawk | jay | rook | tern | quail | heron | falcon
sang = sang | said | called | cried | hummed | piped | chirped | sighed

at = 2 at | near
At = 2 At | Near
got = found | made | won | got | bought | saved
put = put | hid | laid | left | kept | set | locked | dropped
ate = ate | picked | washed | bought | sold | shared | cooked | packed
mood = glad | happy | merry | proud | calm | tired | hungry | lucky | shy | brave | bold | kind | jolly | sleepy | warm
    | safe
did = sang | laughed | danced | smiled | slept | waved | jumped | clapped | hummed | ran | bowed | ate | swam | yawned
    | rested | cried
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
