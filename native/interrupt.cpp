#include "interrupt.hpp"

#include <chrono>

namespace calque {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto between_checks = std::chrono::milliseconds(100);

std::atomic<bool> all_cancelled{false};
std::atomic<void (*)()> interrupt_check{nullptr};

thread_local const std::atomic<bool>* cancelled = nullptr;
thread_local bool is_helper = false;
thread_local Clock::time_point last_check{};

}  // namespace

void check_interrupt() {
    if (all_cancelled.load(std::memory_order_relaxed) || (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)))
        throw Interrupted{};
    if (is_helper) return;
    const auto now = Clock::now();
    if (now - last_check < between_checks) return;
    last_check = now;
    if (auto* const check = interrupt_check.load(std::memory_order_relaxed)) check();
}

WorkerScope::WorkerScope(const std::atomic<bool>& flag, bool helper) : cancelled_before_(cancelled), helper_before_(is_helper) {
    cancelled = &flag;
    is_helper = helper;
}

WorkerScope::~WorkerScope() {
    cancelled = cancelled_before_;
    is_helper = helper_before_;
}

void set_interrupt_check(void (*check)()) { interrupt_check = check; }

void cancel_all(bool all) { all_cancelled = all; }

}  // namespace calque
