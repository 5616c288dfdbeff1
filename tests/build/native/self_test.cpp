// The kernels without Python, for systems that only a cross compiler reaches. Usage: self_test FOLDER SPELLINGS
// Prints digests of what the kernels return: they must be the same on every system.
#include "json_file.hpp"
#include "json_text.hpp"
#include "self_test.hpp"

int main(int count, char** arguments) {
  require(count == 3, "two arguments: a folder to write in, and how many numbers to read");
  try {
    check_numbers(std::strtoull(arguments[2], nullptr, 10));
    check_files(arguments[1]);
    check_kernels();
  } catch (const calque::json::ScanFailure& failure) {
    require(false, "nothing fails, but: " + failure.message + " at byte " + std::to_string(failure.offset));
  } catch (const calque::json::SystemFailure& failure) {
    require(false, "the system refuses nothing, but: " + std::to_string(failure.code));
  }
}
