// The one main of all tests, compiled once. A program without test cases fails: a test that vanished must not pass.
// With TTENSOR_TEST_NEEDS_GPU it first looks for a GPU and leaves with 77 (ctest: skipped) when there is none; with --without-gpu, for
// what a program says then, when there is one that TTENSOR_DEVICE=cpu does not switch off.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#if defined(TTENSOR_TEST_NEEDS_GPU)
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#endif

namespace {
bool any_case_ran = false;

struct case_counter : doctest::IReporter {
  explicit case_counter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override { any_case_ran = true; }  // --list-test-cases and the like
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override { any_case_ran = true; }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("case_counter", 1, case_counter);
}  // namespace

int main(int argc, char** argv) {
#if defined(TTENSOR_TEST_NEEDS_GPU)
  int devices = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  const bool none = e != cudaSuccess || devices == 0;
  if (argc > 1 && std::strcmp(argv[1], "--without-gpu") == 0) {
    if (!none && !std::getenv("TTENSOR_DEVICE")) return std::puts("skipped: there is a GPU"), 77;
  } else if (none) {
    std::printf("skipped: no GPU (%s)\n", e == cudaSuccess ? "no device" : cudaGetErrorString(e));
    return 77;
  }
#endif
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (status == 0 && !any_case_ran && !context.shouldExit()) {
    std::puts("no test case ran");
    return 1;
  }
  return status;
}
