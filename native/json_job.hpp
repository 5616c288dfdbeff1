// One scan in its own thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "json_scan.hpp"
#include "json_file.hpp"

namespace calque::json {

// Bytes that somebody else keeps alive, NUL-terminated.
struct Memory {
  const char* data;
  std::size_t size;
};

using Outcome = std::variant<std::monostate, Tables, ScanFailure, SystemFailure, std::bad_alloc>;

// Scans the content that the file had when it was opened. Throws ScanFailure if the file changed since, ScanStopped once
// `stop` is set.
Tables scan_file(const File& file, Kind kind, const std::atomic<bool>& stop);

class ScanJob {
 public:
  ScanJob(std::variant<std::string, Memory> source, Kind kind);
  // Stops the scan if it still runs, and waits for its thread: some milliseconds.
  ~ScanJob();
  ScanJob(const ScanJob&) = delete;
  ScanJob& operator=(const ScanJob&) = delete;

  // False in a process forked from the one that scans: the thread is not there.
  bool is_ours() const;

  // Waits for the scan to end, and checks for interrupts. One thread at a time.
  Outcome& wait();

 private:
  void run() noexcept;

  std::variant<std::string, Memory> source_;
  Kind kind_;
  std::atomic<bool> stop_{false};
  Outcome outcome_;
  long owner_;
  std::mutex turn_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace calque::json
