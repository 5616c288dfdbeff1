// Runs independent pieces of work on a few threads; which thread takes which piece never shows in the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace calque {

// Calls worker(next) on `jobs` threads (this one included); each draws pieces by calling next() until it returns
// `pieces`. The first exception is rethrown here after all threads have ended.
template <class Worker>
void in_threads(std::size_t pieces, int jobs, Worker worker) {
    std::atomic<std::size_t> drawn{0};
    std::mutex failing;
    std::exception_ptr failure;
    auto next = [&] { return std::min(drawn.fetch_add(1, std::memory_order_relaxed), pieces); };
    auto work = [&] {
        try {
            worker(next);
        } catch (...) {
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
            drawn = pieces;
        }
    };
    const auto wanted = static_cast<std::size_t>(std::max(jobs, 1));
    std::vector<std::thread> helpers;
    try {
        helpers.reserve(std::min(wanted, pieces));
        while (helpers.size() + 1 < std::min(wanted, pieces)) helpers.emplace_back(work);
    } catch (const std::exception&) {
        // No more threads to be had: the ones there are, and this one, do all the work.
    }
    work();
    for (auto& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace calque
