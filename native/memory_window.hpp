// A long block of memory of which only a stretch is in use at a time.
#pragma once

#include <cstddef>

namespace calque {

// As it slides forward, the memory behind it serves again ahead, where the system can move it: a block as long as a file
// then costs no more than what is looked at. Elsewhere it costs what it is long.
class Window {
public:
    // Throws std::bad_alloc.
    explicit Window(std::size_t bytes);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    char* data() const { return data_; }

    // Nothing before `keep` is wanted again, and what lies up to and with `until` will be written next. What is behind
    // may turn to zeros; what is ahead may hold anything until it is written.
    void slide(std::size_t keep, std::size_t until);

private:
    char* data_ = nullptr;
    void* block_ = nullptr;
    std::size_t bytes_ = 0;
#if defined(__linux__)
    std::size_t back_ = 0;   // what lies before was given up
    std::size_t front_ = 0;  // nothing from here on was ever written
#endif
};

}  // namespace calque
