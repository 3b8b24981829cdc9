// Parse → pipeline → window or headless loop. Exit status: 0 well, 1 run time, 2 usage.
#include "pipeline/error.hpp"
#include "ui/ui.hpp"

#include <cstdio>
#include <exception>

namespace {
int run(int argc, char **argv) {
    const specklescope::ParseOutcome outcome = specklescope::parse_command_line(argc, argv);
    if (outcome.exit) {
        std::fputs(outcome.text.c_str(), outcome.status == 0 ? stdout : stderr);
        return outcome.status;
    }
    return outcome.settings.command == specklescope::Command::view
               ? specklescope::run_viewer(outcome.settings)
               : specklescope::run_headless(outcome.settings);
}
} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const specklescope::UsageError &error) {
        std::fprintf(stderr, "specklescope: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "specklescope: %s\n", error.what());
        return 1;
    }
}
