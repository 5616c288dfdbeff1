// Long work looks up now and then: whoever asked for it may not want it any more (Ctrl-C, SIGTERM).
#pragma once

#include <atomic>
#include <cstddef>

namespace calque {

// Ends work that nobody wants any more.
struct GivenUp {};

// Throws if somebody has had enough. Asked a few times a second; in between it costs a look at the clock.
void look_up();

// For loops whose rounds are too short to look at the clock in each: they say about how many small steps they take.
class Patience {
public:
    void spend(std::size_t steps) {
        if ((spent_ += steps) < most) return;
        spent_ = 0;
        look_up();
    }

private:
    static constexpr std::size_t most = 1 << 14;
    std::size_t spent_ = 0;
};

// While it lives, this thread takes part in work that is over when the flag is set. Helpers ask nobody else: they are not
// Python's threads.
class TakingPart {
public:
    TakingPart(const std::atomic<bool>& over, bool helps);
    ~TakingPart();
    TakingPart(const TakingPart&) = delete;
    TakingPart& operator=(const TakingPart&) = delete;

private:
    const std::atomic<bool>* over_before_;
    bool helped_before_;
};

// Who knows whether work is still wanted; throws if not. Called by threads that came from Python, without its lock.
void set_asked(void (*asked)());

// Whether all work is over, in every thread.
void set_all_over(bool over);

}  // namespace calque
