// The workshop's server: it answers whatever comes, and changes nothing.
#include "docs/workshop/server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/train/run_directory.h"
#include "docs/workshop/look.h"
#include "tests/check.h"
#include "tests/temporary.h"
#include "tests/workshop_run.h"

using namespace babygpt;
using namespace babygpt::workshop;
using Json = nlohmann::json;

namespace {

// Every file below a directory, its bytes and when it was written.
std::map<std::string, std::string> state_of(const std::filesystem::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
        files[entry.path()] = str(entry.last_write_time().time_since_epoch().count(), " ",
                                  entry.is_regular_file() ? read_file(entry.path()) : "");
    return files;
}

int connected(int port, int buffer = 1 << 16) {
    int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return socket;
}

httplib::Client client_of(int port) {
    httplib::Client one("127.0.0.1", port);
    one.set_read_timeout(120);  // a machine may be busy
    return one;
}

// A server on a port of its own, with one run in its directory.
struct Served {
    TemporaryDirectory directory, packages;
    Server server{{.runs = directory.path, .page = "docs/workshop/page", .packages = packages.path}};
    int port = server.bind(0);
    std::thread thread;

    Served() {
        write_run(directory.path / "run", tiny("10_gpt"));
        thread = std::thread([this] { server.listen(); });
    }
    ~Served() {
        client().Get("/api/runs");  // one that does not listen yet would not hear of its end
        server.stop(), thread.join();
    }

    httplib::Client client() const { return client_of(port); }
    Json get(const std::string& path, int status = 200) const {
        auto response = client().Get(path.c_str());
        REQUIRE(response);
        CHECK_MESSAGE(response->status == status, path, ": ", response->body);
        return Json::parse(response->body);
    }
    Json post(const std::string& path, const std::string& body, int status = 200) const {
        auto response = client().Post(path.c_str(), body, "application/json");
        REQUIRE(response);
        CHECK_MESSAGE(response->status == status, path, ": ", response->body);
        return Json::parse(response->body);
    }
};

}  // namespace

TEST_SUITE("workshop") {
    TEST_CASE("server: runs, texts and answers; nothing in runs/ is changed by looking") {
        Served served;
        auto before = state_of(served.directory.path);
        Json run = served.get("/api/runs")["runs"].at(0);
        CHECK(run["state"] == "finished");
        CHECK(run["snapshots"] == Json{0, 20});
        CHECK(run["rows"] == Json{{0, 3.0, 3.1, 0, 0.1}, {20, 2.5, 2.25, 1000, 1.5}});
        Json question = {{"run", "run"}, {"step", 20}, {"text", text}, {"layer", 1},
                         {"head", 1},    {"row", 3},   {"count", 3}};
        Json seen = served.post("/api/look", question.dump());
        CHECK(seen["heads"] == look(open_tiny(tiny("10_gpt")), {text})["heads"]);
        CHECK(served.post("/api/row", question.dump())["places"].size() == 12);
        CHECK(served.post("/api/write", question.dump())["written"].size() == 3);
        CHECK(served.post("/api/sample", question.dump())["sample"].get<std::string>().size() >= 160);
        CHECK(served.client().Get("/")->body.find("the workshop") != std::string::npos);
        CHECK(state_of(served.directory.path) == before);
        auto first = served.client().Get("/api/runs");
        auto again =
            served.client().Get("/api/runs", httplib::Headers{{"If-None-Match", first->get_header_value("ETag")}});
        CHECK(again->status == 304);
    }

    TEST_CASE("server: baselines and texts are of the text that a run learned from, as soon as it is there") {
        Served served;
        std::string data = (served.packages.path / "letters.txt").string(), bytes;
        for (int i = 0; i < 400; ++i) bytes += i % 3 ? "bad head\n\n" : "he bad\n\n";
        write_whole(data, bytes);
        Corpus corpus = load_corpus(data);
        std::filesystem::path at = served.directory.path / "run";
        write_run(at, tiny("10_gpt"), 0, data, corpus.hash);
        std::filesystem::remove(at / "run.json");
        auto baselines = [&] { return served.get("/api/runs")["runs"][0]["baselines"]; };
        auto texts = [&] { return served.get("/api/texts?run=run")["texts"]; };
        for (const std::string other : {"", "bad bad bad head\n"}) {  // not there, or another one; then it is back
            other.empty() ? void(std::filesystem::remove(data)) : write_whole(data, other);
            CHECK(baselines().is_null());
            CHECK(texts().empty());
            write_whole(data, bytes);
            CHECK(baselines()["bigram"] == measure_baselines(corpus).bigram);
            CHECK(texts().size() == 4);
            for (const Json& one : texts()) CHECK(bytes.find(one.get<std::string>()) != std::string::npos);
        }
        CHECK(served.get("/api/runs")["runs"][0]["per_step"] == 1 * 24 * tiny("10_gpt").batch_size);
        Json run = {{"stage", "10_gpt"},
                    {"options", {{"steps", 20}}},
                    {"steps", 20},
                    {"tokens", 500},
                    {"best", {{"step", 20}, {"val_loss", 2.25}}},
                    {"baselines", {{"uniform", 3.5}, {"unigram", 2.5}}}};
        write_whole((at / "run.json").string(), run.dump());
        CHECK(baselines() == run["baselines"]);
        CHECK(served.get("/api/runs")["runs"][0]["per_step"] == 25);
    }

    TEST_CASE("server: ten readers at once while a run trains") {
        Served served;
        std::filesystem::path at = served.directory.path / "run";
        write_run(served.directory.path / "still", tiny("10_gpt"));
        std::atomic<bool> done = false;
        std::atomic<int> answered = 0;
        {
            DirectoryLock lock(at);
            std::thread trains([&] {
                std::string metrics = read_file(at / "metrics.csv"), model = read_file(at / "model.safetensors");
                for (int step = 40; !done && step < 40 + 50 * 20; step += 20) {  // more would slow down what is asked
                    metrics += str(step, ",2.5,2.25,1000.0,", step, "\n");
                    write_whole((at / "metrics.csv").string(), metrics, Flush::no);
                    write_whole((at / "model.safetensors").string(), model, Flush::no);
                    write_whole((at / "snapshots" / str(step, ".safetensors")).string(), model, Flush::no);
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                }
            });
            std::string question = Json{{"run", "run"}, {"text", text}}.dump();
            std::vector<std::thread> readers;
            for (int i = 0; i < 10; ++i)
                readers.emplace_back([&] {
                    for (int j = 0; j < 5; ++j) {
                        auto runs = served.client().Get("/api/runs");
                        auto seen = served.client().Post("/api/look", question, "application/json");
                        if (!runs || !seen || seen->status != 200) continue;
                        Json run = Json::parse(runs->body)["runs"][0], still = Json::parse(runs->body)["runs"][1];
                        answered += run["state"] == "training" && still["state"] == "finished";
                    }
                });
            for (std::thread& one : readers) one.join();
            done = true, trains.join();
        }
        CHECK(answered == 50);
        CHECK(served.get("/api/runs")["runs"][0]["state"] != "training");
    }

    TEST_CASE("server: a run that was trained anew is asked anew") {
        Served served;
        std::string question = Json{{"run", "run"}, {"step", 20}}.dump();
        Json before = served.post("/api/sample", question), old = served.get("/api/runs")["runs"][0];
        write_run(served.directory.path / "run", tiny("10_gpt"), 100);
        CHECK(served.post("/api/sample", question) != before);
        CHECK(served.get("/api/runs")["runs"][0]["version"] != old["version"]);
    }

    TEST_CASE("server: characters of a step are those of the steps that were counted, also while a run goes on") {
        Served served;
        std::filesystem::path metrics = served.directory.path / "run/metrics.csv";
        CHECK(served.get("/api/runs")["runs"][0]["per_step"] == 100);
        write_whole(metrics.string(), read_file(metrics.string()) + "40,2.5,2.25,1000.0,3\n");
        CHECK(served.get("/api/runs")["runs"][0]["per_step"] == 100);
    }

    TEST_CASE("server: what prunes a BERT, or trains one in less memory, is looked into as a BERT") {
        Served served;
        for (const char* stage : {"15_prune", "16_memory"}) {
            std::filesystem::remove_all(served.directory.path / "run");
            Options options = tiny(stage);
            if (options.stage == "15_prune") options.pruned_heads = "1:0";
            write_run(served.directory.path / "run", options);
            Json run = served.get("/api/runs")["runs"][0];
            CHECK(run["task"] == int(Task::fill));
            CHECK((run["looks"] && run["writes"]));
            CHECK(served.post("/api/look", Json{{"run", "run"}, {"text", "b_d"}}.dump())["read"].size() == 5);
            CHECK(served.post("/api/fill", Json{{"run", "run"}, {"text", "b_d"}}.dump())["blanks"].size() == 1);
        }
    }

    TEST_CASE("server: a port that is taken, or cannot be opened, is refused with the reason") {
        Served served;
        Server another(Places{});
        check_error([&] { another.bind(served.port); }, {str("port ", served.port), "it is taken", "--port"});
        rlimit files, none;
        getrlimit(RLIMIT_NOFILE, &files);
        none = {0, files.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
        check_error([&] { another.bind(0); }, {"cannot be opened: Too many open files"});
        setrlimit(RLIMIT_NOFILE, &files);
    }

    TEST_CASE("server: it is at 127.0.0.1 alone, not at this machine's other addresses") {
        Served served;
        int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET, address.sin_port = htons(uint16_t(served.port));
        address.sin_addr.s_addr = inet_addr("127.0.0.2");
        CHECK(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == -1);
        CHECK(errno == ECONNREFUSED);
        close(socket);
        served.get("/api/runs");
    }

    TEST_CASE("server: a text is kept that can be looked at, however long") {
        Served served;
        std::filesystem::create_directories(served.packages.path / "uplot/dist");
        for (const char* file : {"uPlot.esm.js", "uPlot.min.css"})
            write_whole((served.packages.path / "uplot/dist" / file).string(), " ");
        Json question = {{"run", "run"}, {"text", std::string(50'000, 'a')}};
        served.post("/api/look", question.dump());
        auto keep = [&](const Json& asked) {
            auto response = served.client().Post("/api/export", asked.dump(), "application/json");
            REQUIRE(response);
            return std::pair(response->status, response->body.find(std::string(50'000, 'a')) != std::string::npos);
        };
        CHECK(keep(question) == std::pair(200, true));
        CHECK(keep({{"run", "run"}}) == std::pair(200, false));
        for (const char* body : {R"({"run":"none"})", R"({"run":"run","text":7})", "{}", "x"})
            served.post("/api/export", body, 400);
    }

    TEST_CASE("server: other names, other paths and strange questions get a clear answer") {
        Served served;
        for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1", ""})
            CHECK(served.client().Get("/api/runs", httplib::Headers{{"Host", host}})->status == 403);
        std::string own = str("127.0.0.1:", served.port);
        CHECK(served.client()
                  .Get("/api/runs", httplib::Headers{{"Host", own}, {"Origin", "http://evil.example"}})
                  ->status == 403);
        CHECK(served.client().Get("/api/runs", httplib::Headers{{"Host", own}, {"Origin", "http://" + own}})->status ==
              200);
        auto from = [&](const char* site) {
            return served.client().Get("/api/runs", httplib::Headers{{"Host", own}, {"Sec-Fetch-Site", site}})->status;
        };
        CHECK(from("same-origin") == 200);
        CHECK(from("none") == 200);
        CHECK(from("same-site") == 403);
        CHECK(from("cross-site") == 403);
        for (const char* name : {"..", "../run", "run/snapshots", "/etc", ".", "", "none", "run%00"}) {
            CAPTURE(name);
            Json answer = served.post("/api/look", Json{{"run", name}, {"text", text}}.dump(), 400);
            CHECK(answer["error"].get<std::string>().find("there is no run") == 0);
        }
        for (const char* path : {"/../Makefile", "/docs/../Makefile", "/packages/../Makefile", "/%2e%2e/Makefile"})
            CHECK(served.client().Get(path)->status == 404);
        for (const char* body :
             {"", "{", "[]", "7", "{\"run\":7}", "{\"run\":\"run\"}", "{\"run\":\"run\",\"text\":[]}"}) {
            CAPTURE(body);
            served.post("/api/look", body, 400);
        }
        std::string unknown = Json{{"run", "run"}, {"text", "bad 7"}}.dump();
        CHECK(served.post("/api/look", unknown, 400)["error"].get<std::string>().find("'7'") != std::string::npos);
        served.post("/api/look", Json{{"run", "run"}, {"text", ""}}.dump(), 400);
        served.post("/api/row", Json{{"run", "run"}, {"text", text}, {"layer", 9}, {"head", 0}, {"row", 0}}.dump(),
                    400);
        served.post("/api/write", Json{{"run", "run"}, {"text", ""}, {"top_p", 7}}.dump(), 400);
        served.post("/api/fill", Json{{"run", "run"}, {"text", "_"}}.dump(), 400);
        for (const char* random : {"", "x", "-1", "7 ", "99999999999999999999"})
            served.post("/api/write", Json{{"run", "run"}, {"text", ""}, {"random", random}}.dump(), 400);
        auto says = [](const Json& answer, const char* what) {
            return answer["error"].get<std::string>().find(what) != std::string::npos;
        };
        CHECK(says(served.post("/api/look", std::string(100'000, ' '), 413), "too long"));
        CHECK(says(served.get("/api/texts?run=" + std::string(10'000, 'a'), 414), "at most 8 kB"));
        CHECK(says(served.get("/docs/lessons/99_none.md", 404), "99_none"));
        served.get("/api/runs");
    }

    TEST_CASE("server: a body of unknown length or encoded is refused before it is read") {
        Served served;
        auto answer = [&](const std::string& method, const std::string& headers) {
            int socket = connected(served.port);
            std::string request =
                str(method, " /api/look HTTP/1.1\r\nHost: 127.0.0.1:", served.port, "\r\n", headers, "\r\n");
            CHECK(write(socket, request.data(), request.size()) == ssize_t(request.size()));
            char beginning[12];
            CHECK(read(socket, beginning, sizeof beginning) == sizeof beginning);
            close(socket);
            return std::string(beginning, sizeof beginning);
        };
        for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
            CHECK(answer(method, "") == "HTTP/1.1 411");
            CHECK(answer(method, "Transfer-Encoding: chunked\r\n") == "HTTP/1.1 411");
            for (const std::string encoding : {"gzip", "br"})
                CHECK(answer(method, "Content-Length: 9\r\nContent-Encoding: " + encoding + "\r\n") == "HTTP/1.1 411");
        }
        served.post("/api/look", Json{{"run", "run"}, {"text", text}}.dump());
    }

    TEST_CASE("server: a file is sent once, however many ranges of it are asked for") {
        Served served;
        write_whole((served.packages.path / "large.js").string(), std::string(100'000, ' '));
        std::string ranges = "bytes=0-";
        for (int i = 0; i < 500; ++i) ranges += ",0-";
        auto response = served.client().Get("/packages/large.js", httplib::Headers{{"Range", ranges}});
        REQUIRE(response);
        CHECK(response->status == 200);
        CHECK(response->body.size() == 100'000);
    }

    TEST_CASE("server: a damaged run is told of, one that goes away is missed, and the rest is still there") {
        Served served;
        auto at = served.directory.path;
        write_run(at / "cut", tiny("03_head"));
        std::filesystem::resize_file(at / "cut/model.safetensors", 1000);
        write_run(at / "garbled", tiny("03_head"));
        write_whole((at / "garbled/run.json").string(), "{\"stage\":");
        write_run(at / "gone", tiny("03_head"));
        Json question = {{"run", "gone"}, {"text", text}};
        served.post("/api/look", question.dump());
        std::filesystem::remove_all(at / "gone");
        served.post("/api/look", question.dump(), 400);
        served.post("/api/look", Json{{"run", "cut"}, {"text", text}}.dump(), 400);
        std::filesystem::create_directory_symlink("/", at / "elsewhere");
        Json runs = served.get("/api/runs")["runs"];
        REQUIRE(runs.size() == 3);
        CHECK(runs[1]["state"] == "damaged");
        CHECK(runs[2]["state"] == "finished");
    }

    TEST_CASE("server: a model that is written over while it is read is refused or read, and the server lives") {
        Served served;
        Options large = tiny("10_gpt");
        large.n_embd = 256;
        write_run(served.directory.path / "run", large);
        std::string file = (served.directory.path / "run/model.safetensors").string(), bytes = read_file(file);
        std::atomic<bool> done = false;
        std::thread copying([&] {  // as cp does
            while (!done) std::ofstream(file, std::ios::binary) << bytes;
        });
        std::string question = Json{{"run", "run"}, {"text", "b"}}.dump();
        int answered = 0;
        for (int i = 0; i < 50; ++i) {
            auto response = served.client().Post("/api/look", question, "application/json");
            answered += response && (response->status == 200 || response->status == 400);
        }
        done = true, copying.join();
        CHECK(answered == 50);
        served.post("/api/look", question);
    }

    TEST_CASE("server: a damaged metrics.csv and a damaged snapshot get a clear answer") {
        Served served;
        std::filesystem::path at = served.directory.path / "run";
        std::filesystem::resize_file(at / "snapshots/20.safetensors", 1000);
        Json question = {{"run", "run"}, {"text", text}, {"step", 20}};
        std::string error = served.post("/api/look", question.dump(), 400)["error"];
        CHECK(error.find("snapshots/20.safetensors is damaged") != std::string::npos);
        question["step"] = 0;
        served.post("/api/look", question.dump());
        std::string heading = "step,train_loss,val_loss,tokens_per_second,seconds\n";
        for (const std::string& rows : {std::string("7\n"), heading + "0,3.0,3.1,0.0,0.1\n20,2.5,x\n"}) {
            write_whole((at / "metrics.csv").string(), rows);
            Json run = served.get("/api/runs")["runs"][0];
            CHECK(run["state"] == "damaged");
            CHECK(run["problem"].get<std::string>().find("metrics.csv is ") != std::string::npos);
        }
    }

    TEST_CASE("server: a run.json of other types is damaged, and pipes are no files") {
        Served served;
        std::string file = (served.directory.path / "run/run.json").string();
        Json good = Json::parse(read_file(file));
        for (const char* patch : {R"({"best":{"step":null,"val_loss":null}})", R"({"best":7})", R"({"baselines":{}})",
                                  R"({"stage":7})", R"({"options":[]})", R"({"options":{"steps":"7"}})",
                                  R"({"tokens":"7"})", R"({"judged":[1]})", R"({"sample":{}})"}) {
            CAPTURE(patch);
            Json other = good;
            other.update(Json::parse(patch));
            write_whole(file, other.dump());
            CHECK(served.get("/api/runs")["runs"][0]["state"] == "damaged");
        }
        good.erase("best");  // the page looks at the best, if not told of a step
        write_whole(file, good.dump());
        CHECK(served.get("/api/runs")["runs"][0]["problem"].get<std::string>().find("has no best") !=
              std::string::npos);
        for (const char* name : {"run.json", "metrics.csv"}) {
            std::filesystem::path pipe = served.directory.path / "run" / name;
            std::filesystem::remove(pipe);
            REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
        }
        CHECK(served.get("/api/runs")["runs"].empty());
    }

    TEST_CASE("server: at port 80 a browser's Host has no port") {
        TemporaryDirectory nothing;
        Server server({.runs = nothing.path, .page = "docs/workshop/page", .packages = nothing.path});
        try {
            server.bind(80);
        } catch (const Error&) {  // taken, or only for root
            return;
        }
        std::thread thread([&] { server.listen(); });
        for (const auto& [host, status] : std::map<std::string, int>{
                 {"127.0.0.1", 200}, {"localhost", 200}, {"localhost:80", 200}, {"evil.example", 403}}) {
            auto response = client_of(80).Get("/api/runs", httplib::Headers{{"Host", host}});
            CHECK_MESSAGE((response && response->status == status), host);
        }
        server.stop(), thread.join();
    }

    TEST_CASE("server: ten readers at once, and ten that stop reading, do not keep an eleventh waiting") {
        Served served;
        write_whole((served.packages.path / "large.js").string(), std::string(8'000'000, ' '));
        std::string question = Json{{"run", "run"}, {"text", text}}.dump();
        auto ask_for_much = [&] {  // more than the system keeps for one who does not read
            int socket = connected(served.port, 4096);
            std::string request = str("GET /packages/large.js HTTP/1.1\r\nHost: 127.0.0.1:", served.port, "\r\n\r\n");
            CHECK(write(socket, request.data(), request.size()) == ssize_t(request.size()));
            return socket;
        };
        std::vector<int> idle;
        for (int i = 0; i < 10; ++i) idle.push_back(ask_for_much());
        for (int i = 0; i < 3; ++i) {  // and some go away in the middle of the answer
            int socket = ask_for_much();
            char beginning[1000];
            CHECK(read(socket, beginning, sizeof beginning) > 0);
            CHECK(std::string_view(beginning, 15) == "HTTP/1.1 200 OK");
            close(socket);
        }
        std::atomic<int> answered = 0;
        std::vector<std::thread> asking;
        for (int i = 0; i < 10; ++i)
            asking.emplace_back([&] {
                for (int j = 0; j < 5; ++j) {
                    auto response = served.client().Post("/api/look", question, "application/json");
                    answered += response && response->status == 200;
                }
            });
        for (std::thread& one : asking) one.join();
        CHECK(answered == 50);
        served.get("/api/runs");
        for (int socket : idle) close(socket);
    }
}
