#include "docs/workshop/server.h"

#include <httplib.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>

#include "common/base/error.h"
#include "common/base/format.h"
#include "docs/workshop/export.h"

namespace babygpt::workshop {

namespace {

using Json = nlohmann::json;
using httplib::Request, httplib::Response;

constexpr size_t largest_body = 64 * 1024;
constexpr int seconds_of_patience = 5;
constexpr size_t threads = 32;

// No request leaves the machine, whatever a page or a run holds.
const char* const policy =
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; frame-ancestors 'none'";

void set_json(Response& response, int status, const Json& json) {
    response.status = status;
    response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace), "application/json");
}

// Whatever f throws becomes an answer that says what is wrong.
template <class F>
void guard(Response& response, F f) {
    try {
        f();
    } catch (const Error& error) {
        set_json(response, 400, {{"error", error.what()}});
    } catch (const Json::exception&) {
        set_json(response, 400, {{"error", "this is no question that the page asks"}});
    } catch (const std::exception& error) {
        set_json(response, 500, {{"error", error.what()}});
    }
}

// The library stops a body that says itself how long it is and comes as it is; of others it would read without end.
bool is_bounded(const Request& request) {
    bool without = request.method == "GET" || request.method == "HEAD";
    return !request.has_header("Transfer-Encoding") && !request.has_header("Content-Encoding") &&
           (without || request.has_header("Content-Length"));
}

}  // namespace

struct Server::Inside {
    Places places;
    Answers answers;
    httplib::Server http;
    int port = 0;

    explicit Inside(const Places& p)
        : places(p),
          answers(p.runs) {}

    bool is_ours(const std::string& host) const {  // another name may be a web page's trick to read what is here
        std::string with = port == 80 ? "" : str(":", port);  // as browsers have it
        for (const char* name : {"127.0.0.1", "localhost"})
            if (host == name + with || host == str(name, ":", port)) return true;
        return false;
    }
    void get(const std::string& path, std::function<Json(const Request&)> f);
    void post(const std::string& path, Json (Answers::*f)(const Json&));
    const char* complaint(const Request& request) const;  // who asks that may not; null if he may
    void protect();
    void add_files();
    void add_questions();
};

void Server::Inside::get(const std::string& path, std::function<Json(const Request&)> f) {
    http.Get(path, [f](const Request& request, Response& response) {
        guard(response, [&] {
            set_json(response, 200, f(request));
            std::string tag = str('"', std::hash<std::string>()(response.body), '"');
            response.set_header("ETag", tag);
            if (request.get_header_value("If-None-Match") == tag) response.status = 304, response.body.clear();
        });
    });
}

void Server::Inside::post(const std::string& path, Json (Answers::*f)(const Json&)) {
    http.Post(path, [this, f](const Request& request, Response& response) {
        guard(response, [&] { set_json(response, 200, (answers.*f)(Json::parse(request.body))); });
    });
}

const char* Server::Inside::complaint(const Request& request) const {
    std::string origin = request.get_header_value("Origin"), site = request.get_header_value("Sec-Fetch-Site");
    if (!is_ours(request.get_header_value("Host"))) return "another name";
    bool of_page = origin.empty() || (origin.starts_with("http://") && is_ours(origin.substr(7)));
    if (request.path.starts_with("/api/"))
        of_page = of_page && (site.empty() || site == "same-origin" || site == "none");
    return of_page ? nullptr : "another page";
}

void Server::Inside::protect() {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is no reason to die
    http.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    http.set_keep_alive_max_count(1);  // a connection that waits would hold a thread
    http.set_read_timeout(seconds_of_patience), http.set_write_timeout(seconds_of_patience);
    http.set_payload_max_length(largest_body);
    http.set_socket_options([](socket_t socket) {  // the library's own let two workshops share a port in silence
        int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http.set_error_handler([](const Request& request, Response& response) {
        if (!response.body.empty()) return;  // it says what is wrong
        std::string error = str("the workshop has no answer to this (", response.status, ")");
        if (response.status == 404) error = "there is no " + brief(request.path);
        if (response.status == 413)
            error = str("this text is too long; at most ", largest_body / 1024, " kB can be asked at once");
        if (response.status == 414) error = "this address is too long; at most 8 kB are read";
        set_json(response, response.status, {{"error", error}});
    });
    http.set_default_headers({{"Content-Security-Policy", policy},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cache-Control", "no-cache"}});
    http.set_pre_routing_handler([this](const Request& request, Response& response) {
        // The library would compress with Brotli at its slowest, seconds for what loopback carries in no time, and join
        // as many copies of a file as there are ranges of it.
        Request& asked = const_cast<Request&>(request);
        asked.headers.erase("Accept-Encoding"), asked.headers.erase("Range"), asked.ranges.clear();
        if (const char* from = complaint(request))
            set_json(response, 403, {{"error", str("asked by ", from, "; open http://127.0.0.1:", port, " itself")}});
        else if (!is_bounded(request))
            set_json(response, 411, {{"error", "a question comes with its Content-Length, and not encoded"}});
        else
            return httplib::Server::HandlerResponse::Unhandled;
        return httplib::Server::HandlerResponse::Handled;
    });
}

void Server::Inside::add_files() {
    for (const char* type : {"cpp", "h", "md", "diff", "txt", "py"})
        http.set_file_extension_and_mimetype_mapping(type, "text/plain; charset=utf-8");
    http.set_file_extension_and_mimetype_mapping("mjs", "text/javascript");
    http.set_mount_point("/packages", places.packages);
    for (const char* folder : {"docs", "stages", "common", "data", "tests"})
        http.set_mount_point(str("/", folder), folder);
    http.set_mount_point("/", places.page);
}

void Server::Inside::add_questions() {
    get("/api/runs", [this](const Request&) { return answers.list(); });
    get("/api/texts", [this](const Request& r) { return answers.texts(r.get_param_value("run")); });
    post("/api/sample", &Answers::sample);
    post("/api/look", &Answers::look);
    post("/api/row", &Answers::row);
    post("/api/write", &Answers::write);
    post("/api/fill", &Answers::fill);
    http.Post("/api/export", [this](const Request& request, Response& response) {
        guard(response, [&] {
            Json question = Json::parse(request.body);
            std::vector<Question> texts;
            if (question.contains("text")) texts.push_back(question_of(question));
            response.set_content(export_page(answers, question.at("run"), texts, places.page, places.packages),
                                 "text/html");
        });
    });
}

Server::Server(const Places& places)
    : inside(std::make_unique<Inside>(places)) {
    inside->protect();
    inside->add_files();
    inside->add_questions();
}
Server::~Server() = default;

int Server::bind(int port) {
    const char* const here = "127.0.0.1";
    int bound = port;
    if (port == 0)
        bound = inside->http.bind_to_any_port(here);
    else if (!inside->http.bind_to_port(here, port))
        bound = -1;
    if (bound < 0)
        fail("port ", port, " cannot be opened: ",
             errno == EADDRINUSE ? "it is taken, perhaps by the workshop itself" : std::strerror(errno),
             "; choose another with --port");
    return inside->port = bound;
}

void Server::listen() { inside->http.listen_after_bind(); }
void Server::stop() { inside->http.stop(); }

}  // namespace babygpt::workshop
