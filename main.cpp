// Parse → pipeline → window or headless loop. Exit status: 0 success, 1 run-time error, 2 usage error.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/system.hpp"
#include "bench/bench.hpp"
#include "cli/python.hpp"
#include "cli/run.hpp"
#include "commit.hpp"
#include "config/calibration.hpp"
#include "config/cli.hpp"
#include "config/look/check_source.hpp"
#include "config/start.hpp"
#include "config/table_reports.hpp"
#include "config/text.hpp"
#include "config/version.hpp"
#include "session/requests.hpp"
#include "ui/ui.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <malloc.h>

namespace {

int run(int argc, char** argv) {
    using namespace specklescope;
    hold_standard_streams();
    if (argc > 1 && is_python(argv[1]))
        run_python(argv[1], argv + 2);
    // Encoder and client threads start and end. With a malloc arena for each of them, a long run kept much of
    // their freed memory.
    ::mallopt(M_ARENA_MAX, 4);
    std::signal(SIGXFSZ, SIG_IGN); // writing beyond the file size limit is an error like a full disk
    set_build_commit(kCommit);
    allow_many_files();
    const ParseOutcome outcome = parse_command_line(argc, argv);
    if (outcome.exit) {
        std::fputs(outcome.text.c_str(), outcome.status == 0 ? stdout : stderr);
        return outcome.status;
    }
    const Settings& settings = outcome.settings;
    if (settings.command == Command::control_schema) {
        std::fputs(control_schema().c_str(), stdout);
        return 0;
    }
    set_up_log(settings);
    set_fft_planning(settings.program.as<ProgramSettings>().plans);
    if (settings.command == Command::bench)
        return run_bench(settings, display_available);
    if (settings.command == Command::check)
        return report_check(settings.check);
    if (settings.command == Command::calibrate)
        return calibrate(settings.calibrate);
    if (settings.command == Command::pulse)
        return report_pulse(settings.pulse);
    if (settings.command == Command::trials)
        return report_trials(settings);
    if (settings.command == Command::run)
        return run_headless(settings);
    return run_viewer(settings);
}

/// Prints the message of an error on one line, even if a library put several into it.
int fail(const std::exception& error, int status) noexcept {
    try {
        std::fprintf(stderr, "specklescope: %s\n",
                     specklescope::one_line(specklescope::sentence_of(error)).c_str());
    } catch (const std::exception&) {
        std::fputs("specklescope: The memory is used up.\n", stderr);
    }
    return status;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const specklescope::Cancelled& error) {
        return fail(error, 1);
    } catch (const specklescope::UsageError& error) {
        return fail(error, 2);
    } catch (const std::exception& error) {
        return fail(error, 1);
    }
}
