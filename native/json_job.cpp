// Running a scan beside Python: no exception leaves the thread.
#include "json_job.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "interrupt.hpp"

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace calque::json {
namespace {

// Where there is no fork, there is one process.
long process_id() {
#if __has_include(<unistd.h>)
  return getpid();
#else
  return 0;
#endif
}

// Stops a scan whose owner is gone.
class StopCheck final : public Heartbeat {
 public:
  explicit StopCheck(const std::atomic<bool>& stop) : stop_(stop) {}

  void reached(const char*) override {
    if (stop_.load(std::memory_order_relaxed)) throw ScanStopped{};
  }

 private:
  const std::atomic<bool>& stop_;
};

Tables scan_memory(const char* data, std::size_t size, Kind kind, const std::atomic<bool>& stop) {
  StopCheck check(stop);
  Text text(data, size, &check);
  return scan(text, kind);
}

// Formats that the scanner does not know fail here. Their files may be larger than memory, so the head is scanned first.
constexpr std::size_t kHead = std::size_t{1} << 20;

// A token that fails closer than this to the end of the head may be cut off.
constexpr std::size_t kLongestToken = std::size_t{1} << 16;

constexpr std::size_t kReadAtOnce = std::size_t{1} << 24;

Tables scan_content(const File& file, Kind kind, const std::atomic<bool>& stop) {
  if (file.size() > kHead) {
    std::vector<char> head(kHead + 1);
    file.read(0, head.data(), kHead);
    try {
      scan_memory(head.data(), kHead, kind, stop);
    } catch (const ScanFailure& failure) {
      if (static_cast<std::size_t>(failure.offset) + kLongestToken < kHead) throw;
    }
  }
  const std::unique_ptr<char[]> content(new char[file.size() + 1]);
  for (std::size_t at = 0; at < file.size(); at += kReadAtOnce) {
    if (stop.load(std::memory_order_relaxed)) throw ScanStopped{};
    file.read(at, content.get() + at, std::min(kReadAtOnce, file.size() - at));
  }
  content[file.size()] = '\0';
  return scan_memory(content.get(), file.size(), kind, stop);
}

}  // namespace

Tables scan_file(const File& file, Kind kind, const std::atomic<bool>& stop) {
  const ScanFailure changed{kChanged, 0};
  try {
    Tables tables = scan_content(file, kind, stop);
    if (!file.unchanged()) throw changed;
    return tables;
  } catch (const ScanFailure&) {
    if (!file.unchanged()) throw changed;  // the scan saw a mixture of two contents
    throw;
  }
}

ScanJob::ScanJob(std::variant<std::string, Memory> source, Kind kind)
    : source_(std::move(source)), kind_(kind), owner_(process_id()), thread_([this] { run(); }) {}

ScanJob::~ScanJob() {
  if (!is_ours()) {
    // Joining a thread that the fork left behind would wait for ever; its handle is given up instead.
    if (thread_.joinable()) new std::thread(std::move(thread_));
    return;
  }
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

bool ScanJob::is_ours() const { return owner_ == process_id(); }

Outcome& ScanJob::wait() {
  for (std::unique_lock lock(turn_); !ended_.wait_for(lock, std::chrono::milliseconds(100), [this] { return done_; });) {
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
  if (thread_.joinable()) thread_.join();
  return outcome_;
}

void ScanJob::run() noexcept {
  try {
    if (const auto* path = std::get_if<std::string>(&source_)) {
      outcome_.emplace<Tables>(scan_file(File(*path), kind_, stop_));
    } else {
      const Memory& memory = std::get<Memory>(source_);
      outcome_.emplace<Tables>(scan_memory(memory.data, memory.size, kind_, stop_));
    }
  } catch (ScanFailure& failure) {
    outcome_.emplace<ScanFailure>(std::move(failure));
  } catch (const SystemFailure& failure) {
    outcome_.emplace<SystemFailure>(failure);
  } catch (const ScanStopped&) {
    // Nobody is left to tell.
  } catch (...) {
    outcome_.emplace<std::bad_alloc>();
  }
  const std::lock_guard lock(turn_);
  done_ = true;
  ended_.notify_all();
}

}  // namespace calque::json
