// flatout/cli: the `flatout` command. One file per subcommand; cli.cc joins them.
#pragma once

namespace flatout::cli {

// Runs the command line; returns the process's exit code (base/error.h). Errors are printed as one
// message on standard error.
int Main(int argc, char** argv);

}  // namespace flatout::cli
