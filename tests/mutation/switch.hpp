// Number of the active change (SPECKLESCOPE_MUTANT), and the changes that were reached (a file shared by
// this process and its children). Exists only in the copy of the tree that tests/mutation/mutate.py makes.
#pragma once

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mutants {

struct Switch {
    int awake = 0;
    volatile char* reached = nullptr;
    Switch() {
        if (const char* number = std::getenv("SPECKLESCOPE_MUTANT"))
            awake = std::atoi(number);
        const char* path = std::getenv("SPECKLESCOPE_MUTANTS_REACHED");
        const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
        if (file < 0)
            return;
        const off_t size = lseek(file, 0, SEEK_END);
        void* map =
            mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (map != MAP_FAILED)
            reached = static_cast<volatile char*>(map);
    }
};

inline const Switch the_switch; // read before main, because a test may exhaust the memory later

inline bool on(int number) {
    if (the_switch.reached)
        the_switch.reached[number] = 1;
    return the_switch.awake == number;
}

} // namespace mutants
