// One scan in its own thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "json_scan.hpp"
#include "json_source.hpp"

namespace calque::json {

// Bytes that somebody else keeps alive, NUL-terminated.
struct Memory {
  const char* data;
  std::size_t size;
};

using Outcome = std::variant<std::monostate, Tables, ScanFailure, SystemFailure, std::bad_alloc>;

// What a file held when it was opened, or ScanFailure if it changed since. Throws ScanStopped once `stop` is set.
Tables scan_file(SourceFile& file, Kind kind, const std::atomic<bool>& stop);

class ScanJob {
 public:
  ScanJob(std::variant<std::string, Memory> source, Kind kind);
  // Stops the scan if it still runs, and waits for its thread: some milliseconds.
  ~ScanJob();
  ScanJob(const ScanJob&) = delete;
  ScanJob& operator=(const ScanJob&) = delete;

  // False in a process forked from the one that scans: the thread is not there.
  bool is_ours() const;

  // Waits for the scan to end, and looks up now and then. One thread at a time.
  Outcome& wait();

  // The file that is being scanned, once it is open; null when there is none, or its scan has ended.
  std::shared_ptr<SourceFile> file();

 private:
  void run() noexcept;
  std::shared_ptr<SourceFile> opened(const std::string& path);

  std::variant<std::string, Memory> source_;
  Kind kind_;
  std::atomic<bool> stop_{false};
  Outcome outcome_;
  long owner_;
  std::mutex turn_;
  std::condition_variable ended_;
  bool done_ = false;
  std::weak_ptr<SourceFile> file_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace calque::json
