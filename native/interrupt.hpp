// Cooperative interruption: long kernels check for Ctrl-C, SIGTERM and cancellation.
#pragma once

#include <atomic>
#include <cstddef>

namespace calque {

// Thrown in a thread whose work was cancelled.
struct Interrupted {};

// Throws if the work was cancelled or a signal arrived. Cheap: asks Python a few times a second at most.
void check_interrupt();

// For loops with short rounds: checks for an interrupt after about so many small steps.
class InterruptTicker {
public:
    void tick(std::size_t steps) {
        if ((steps_ += steps) < between_checks) return;
        steps_ = 0;
        check_interrupt();
    }

private:
    static constexpr std::size_t between_checks = 1 << 14;
    std::size_t steps_ = 0;
};

// While it exists, this thread is part of work that is cancelled when the flag is set. Helpers are not Python threads and
// never ask Python.
class WorkerScope {
public:
    WorkerScope(const std::atomic<bool>& cancelled, bool is_helper);
    ~WorkerScope();
    WorkerScope(const WorkerScope&) = delete;
    WorkerScope& operator=(const WorkerScope&) = delete;

private:
    const std::atomic<bool>* cancelled_before_;
    bool helper_before_;
};

// The function that asks Python for signals and throws if there was one. Called without the GIL, by threads that came from Python.
void set_interrupt_check(void (*check)());

// Cancels the kernels of every thread, or allows them again.
void cancel_all(bool cancelled);

}  // namespace calque
