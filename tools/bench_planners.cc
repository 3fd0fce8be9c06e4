// Times tflm_plan_greedy.
//
//   bench_planners < problems
//
// A problem is a line "name count" and count lines "size first last". A line of JSON comes out for each.
// tools/bench_planners.py builds and runs this.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "tflm_plan.h"
}

namespace {

struct Row {
  int size, first, last;
};

struct Answer {
  std::vector<int> offsets;
  size_t peak = 0;
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The median of the times of action: of at least 3 runs, of more while they take less than half a second together.
double MedianSeconds(const std::function<void()> &action) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < 3 || (total < 0.5 && times.size() < 2001)) {
    const double start = CpuSeconds();
    action();
    times.push_back(CpuSeconds() - start);
    total += times.back();
    if (total > 10) {
      break;
    }
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

double TimeOurs(const std::vector<Row> &rows, Answer *answer) {
  std::vector<tflm_plan_buffer_t> buffers(rows.size());
  std::vector<unsigned char> workspace(tflm_plan_greedy_workspace_size(rows.size()));
  answer->offsets.resize(rows.size());
  return MedianSeconds([&] {
    for (size_t i = 0; i < rows.size(); ++i) {
      buffers[i] = {rows[i].size, TFLM_PLAN_ONLINE, rows[i].first, rows[i].last, 1};
    }
    uint32_t peak;
    const int status = tflm_plan_greedy(buffers.data(), buffers.size(), workspace.data(), workspace.size(),
                                        answer->offsets.data(), &peak);
    if (status != TFLM_PLAN_OK) {
      std::abort();
    }
    answer->peak = peak;
  });
}

}  // namespace

int main() {
  char name[256];
  size_t count;
  while (std::scanf("%255s %zu", name, &count) == 2) {
    std::vector<Row> rows(count);
    for (Row &row : rows) {
      if (std::scanf("%d %d %d", &row.size, &row.first, &row.last) != 3) {
        return 1;
      }
    }
    Answer ours;
    const double our_seconds = TimeOurs(rows, &ours);
    std::printf("{\"name\": \"%s\", \"count\": %zu, \"peak\": %zu, \"seconds\": %.9f}\n", name, count, ours.peak,
                our_seconds);
    std::fflush(stdout);
  }
  return 0;
}
