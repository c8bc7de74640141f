#include "flatout/cli/cli.h"

int main(int argc, char** argv) { return flatout::cli::Main(argc, argv); }
