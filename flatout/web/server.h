// The live page and /metrics over HTTP, out of the training process.
//
// Whoever asks gets copies of what the training thread published, and can do no more than that: no
// file is ever served, one thread of low priority reads and answers whoever is ready, each
// connection has one request of a few kilobytes and a few seconds for all of it, and of too many
// connections those make room that have been open longest without asking anything. So clients that
// hold connections open keep nobody out, and never hold up training.
#pragma once

#include <memory>
#include <string>

#include "flatout/watch/run_status.h"
#include "flatout/web/metrics.h"
#include "flatout/web/options.h"

namespace flatout::web {

class StatusServer {
 public:
  // Serves from now until it is destroyed. Throws UserError where the address or the port cannot be
  // had; with port_in_use = "next" the following ports are tried first. `board` and `metrics` must
  // outlive it.
  StatusServer(const HttpOptions& options, const watch::StatusBoard& board, MetricsWriter& metrics);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

  int port() const;
  // "http://127.0.0.1:8090/"; for 0.0.0.0 with this machine's name.
  std::string url() const;
  // What the user should know of how it was set up: another port than asked for, open to others
  // without a token. May be empty.
  std::string note() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flatout::web
