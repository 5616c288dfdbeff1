// Running a scan beside Python: no exception leaves the thread.
#include "json_job.hpp"

#include <chrono>

#include "patience.hpp"

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

// Stops an abandoned scan, and tells the file how far a living one has come.
class Watch final : public Heartbeat {
 public:
  Watch(const std::atomic<bool>& stop, SourceFile* file) : stop_(stop), file_(file) {}

  void reached(const char* at) override {
    if (stop_.load(std::memory_order_relaxed)) throw ScanStopped{};
    if (file_ != nullptr) file_->scanned_to(at);
  }

 private:
  const std::atomic<bool>& stop_;
  SourceFile* file_;
};

Tables scan_memory(const Memory& memory, Kind kind, const std::atomic<bool>& stop) {
  Watch watch(stop, nullptr);
  Text text(memory.data, memory.size, &watch);
  return scan(text, kind);
}

Tables scan_source(SourceFile& file, Kind kind, const std::atomic<bool>& stop) {
  Watch watch(stop, &file);
  try {
    Text text(file.data(), file.size(), &watch);
    return scan(text, kind);
  } catch (const ScanFailure& failure) {
    if (file.held(failure.offset)) throw;
  }
  // What failed may be no more than a row that is longer than what is read ahead.
  file.read_whole();
  Text text(file.data(), file.size(), &watch);
  return scan(text, kind);
}

}  // namespace

Tables scan_file(SourceFile& file, Kind kind, const std::atomic<bool>& stop) {
  const std::shared_ptr<void> ending(nullptr, [&file](void*) { file.scan_ended(); });
  const ScanFailure changed{kChanged, 0};
  try {
    Tables tables = scan_source(file, kind, stop);
    if (!file.unchanged()) throw changed;
    return tables;
  } catch (const ScanFailure&) {
    if (!file.unchanged()) throw changed;  // whatever the scan found, it found in a file that never was
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
    look_up();
    lock.lock();
  }
  if (thread_.joinable()) thread_.join();
  return outcome_;
}

std::shared_ptr<SourceFile> ScanJob::file() {
  std::unique_lock lock(turn_);
  ended_.wait(lock, [this] { return done_ || !file_.expired(); });
  return file_.lock();
}

std::shared_ptr<SourceFile> ScanJob::opened(const std::string& path) {
  auto file = std::make_shared<SourceFile>(path);
  {
    const std::lock_guard lock(turn_);
    file_ = file;
  }
  ended_.notify_all();
  return file;
}

void ScanJob::run() noexcept {
  try {
    if (const auto* path = std::get_if<std::string>(&source_)) {
      const auto file = opened(*path);
      outcome_.emplace<Tables>(scan_file(*file, kind_, stop_));
    } else {
      outcome_.emplace<Tables>(scan_memory(std::get<Memory>(source_), kind_, stop_));
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
