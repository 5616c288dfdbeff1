// Running a scan beside Python: no exception leaves the thread.
#include "json_job.hpp"

#include <unistd.h>

namespace calque::json {
namespace {

// Stops an abandoned scan, and hands the pages behind it back.
class Watch final : public Heartbeat {
 public:
  Watch(const std::atomic<bool>& stop, MappedFile* file) : stop_(stop), file_(file) {}

  void reached(const char* at) override {
    if (stop_.load(std::memory_order_relaxed)) throw ScanStopped{};
    if (file_ != nullptr) file_->release_before(at);
  }

 private:
  const std::atomic<bool>& stop_;
  MappedFile* file_;
};

Tables scan_memory(const Memory& memory, Kind kind, const std::atomic<bool>& stop) {
  Watch watch(stop, nullptr);
  Text text(memory.data, memory.size, &watch);
  return scan(text, kind);
}

Tables scan_file(const std::string& path, Kind kind, const std::atomic<bool>& stop) {
  MappedFile file(path);
  Watch watch(stop, &file);
  Text text(file.data(), file.size(), &watch);
  const ScanFailure changed{"the file changed while it was read", 0};
  try {
    Tables tables = scan(text, kind);
    if (!file.unchanged()) throw changed;
    return tables;
  } catch (const ScanFailure&) {
    if (!file.unchanged()) throw changed;  // whatever the scan found, it found in a file that never was
    throw;
  }
}

}  // namespace

ScanJob::ScanJob(std::variant<std::string, Memory> source, Kind kind)
    : source_(std::move(source)), kind_(kind), owner_(getpid()), thread_([this] { run(); }) {}

ScanJob::~ScanJob() {
  if (!is_ours()) {
    // Joining a thread that the fork left behind would wait for ever; its handle is given up instead.
    if (thread_.joinable()) new std::thread(std::move(thread_));
    return;
  }
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

bool ScanJob::is_ours() const { return owner_ == getpid(); }

Outcome& ScanJob::wait() {
  if (thread_.joinable()) thread_.join();
  return outcome_;
}

void ScanJob::run() noexcept {
  try {
    if (const auto* path = std::get_if<std::string>(&source_)) {
      outcome_.emplace<Tables>(scan_file(*path, kind_, stop_));
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
}

}  // namespace calque::json
