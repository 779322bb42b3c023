// The workshop's server: one page, for this machine alone. It reads runs/ and changes nothing in it.
#pragma once
#include <memory>
#include <string>

#include "docs/workshop/answers.h"

namespace babygpt::workshop {

struct Places {  // seen from the project's directory
    std::string runs = "runs";
    std::string page = "docs/workshop/page";
    std::string packages = "build/workshop_packages/node_modules";
};

class Server {
  public:
    explicit Server(const Places& places);
    ~Server();

    int bind(int port);  // 0: any that is free; returns it, fails if it is taken
    void listen();       // answers until stop()
    void stop();

  private:
    struct Inside;
    std::unique_ptr<Inside> inside;
};

}  // namespace babygpt::workshop
