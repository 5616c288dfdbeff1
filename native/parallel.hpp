// Runs independent pieces of work on a few threads. The result does not depend on which thread takes which piece.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "interrupt.hpp"

namespace calque {

// Calls worker(next) on `jobs` threads (this one included); each draws pieces by calling next() until it returns
// `pieces`. The first exception is rethrown here after all threads have ended: they check for it now and then, and end too.
template <class Worker>
void in_threads(std::size_t pieces, int jobs, Worker worker) {
    std::atomic<std::size_t> drawn{0};
    std::atomic<bool> cancelled{false};
    std::mutex turn;
    std::condition_variable ended;
    std::size_t done = 0;
    std::exception_ptr failure;
    auto next = [&] {
        check_interrupt();
        return std::min(drawn.fetch_add(1, std::memory_order_relaxed), pieces);
    };
    auto tried = [&](auto part) {
        try {
            part();
        } catch (...) {
            const std::lock_guard lock(turn);
            if (!failure) failure = std::current_exception();
            cancelled = true;
        }
    };
    auto help = [&] {
        const WorkerScope scope(cancelled, true);
        tried([&] { worker(next); });
        const std::lock_guard lock(turn);
        ++done;
        ended.notify_one();
    };
    const WorkerScope scope(cancelled, false);
    std::vector<std::thread> helpers;
    try {
        const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(jobs, 1)), pieces);
        helpers.reserve(wanted);
        while (helpers.size() + 1 < wanted) helpers.emplace_back(help);
    } catch (const std::exception&) {
        // No more threads to be had: the ones there are, and this one, do all the work.
    }
    tried([&] { worker(next); });
    const auto all_done = [&] { return done == helpers.size(); };
    for (std::unique_lock lock(turn); !ended.wait_for(lock, std::chrono::milliseconds(100), all_done);) {
        lock.unlock();
        tried([] { check_interrupt(); });
        lock.lock();
    }
    for (auto& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

// What a piece of work found, behind what those before it did.
template <class Values>
void append(Values& all, const Values& part) {
    all.insert(all.end(), part.begin(), part.end());
}

}  // namespace calque
