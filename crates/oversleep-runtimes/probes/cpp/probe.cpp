// Waits and clocks as a C++ program calls them. The protocol is in ../PROTOCOL.md.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono;
using std::int64_t;
using std::string;
using List = std::vector<int64_t>;

static int64_t now() { return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count(); }

static std::mutex mutex;
static std::condition_variable never;
static std::timed_mutex held;
static std::promise<void> promise;

static const std::vector<std::pair<string, std::function<void(nanoseconds)>>> WAITS = {
    {"sleep_for", [](nanoseconds span) { std::this_thread::sleep_for(span); }},
    {"sleep_until", [](nanoseconds span) { std::this_thread::sleep_until(steady_clock::now() + span); }},
    {"condition_variable.wait_for",
     [](nanoseconds span) {
         std::unique_lock<std::mutex> lock(mutex);
         never.wait_for(lock, span, [] { return false; });
     }},
    {"future.wait_for",
     [](nanoseconds span) {
         static const std::future<void> future = promise.get_future();
         future.wait_for(span);
     }},
    {"timed_mutex.try_lock_for",
     [](nanoseconds span) {
         // Another thread owns it: a thread that tries a lock of its own is outside the standard.
         static const bool is_held = [] {
             std::thread([] { held.lock(); }).join();
             return true;
         }();
         if (is_held && held.try_lock_for(span)) held.unlock();
     }},
};

template <class Clock> static int64_t read() {
    return duration_cast<nanoseconds>(Clock::now().time_since_epoch()).count();
}

static const std::vector<std::pair<string, int64_t (*)()>> CLOCKS = {
    {"steady_clock", read<steady_clock>},
    {"system_clock", read<system_clock>},
    {"high_resolution_clock", read<high_resolution_clock>},
};

static string list(const List& values) {
    std::ostringstream text;
    for (size_t i = 0; i < values.size(); i++) text << (i ? "," : "") << values[i];
    return "[" + text.str() + "]";
}

static void measure_wait(const string& op, const std::function<void(nanoseconds)>& wait, int64_t requested, size_t n) {
    for (int i = 0; i < 3; i++) wait(microseconds(50)); // the first calls of a process meet cold caches
    List t(n), d(n);
    const std::clock_t cpu = std::clock();
    for (size_t i = 0; i < n; i++) {
        t[i] = now();
        wait(nanoseconds(requested));
        d[i] = now() - t[i];
    }
    const int64_t used = (std::clock() - cpu) * (1000000000LL / CLOCKS_PER_SEC);
    std::cout << "{\"type\":\"s\",\"op\":\"" << op << "\",\"requested\":" << requested << ",\"rounded\":" << requested
              << ",\"n\":" << n << ",\"unit\":\"ns\",\"cpu\":" << used << ",\"t\":" << list(t) << ",\"d\":" << list(d)
              << "}" << std::endl;
}

static void measure_clock(const string& op, int64_t (*clock)(), size_t n) {
    constexpr int READS = 1000;
    List d(n), steps;
    volatile int64_t sink = 0;
    for (auto& duration : d) {
        const int64_t begun = now();
        for (int k = 0; k < READS; k++) sink = clock();
        duration = now() - begun;
    }
    const int64_t until = now() + 40000000;
    for (int64_t last = clock(); steps.size() < 16 && now() < until;) {
        const int64_t next = clock();
        if (next > last) steps.push_back(next - last);
        last = next;
    }
    std::cout << "{\"type\":\"c\",\"op\":\"" << op << "\",\"n\":" << n << ",\"reads\":" << READS << ",\"d\":" << list(d)
              << ",\"step\":" << list(steps) << "}" << std::endl;
    (void)sink;
}

static void run(const string& token) {
    const size_t last = token.rfind('@'), first = token.rfind('@', last - 1);
    if (last == string::npos || first == string::npos) return;
    const string op = token.substr(0, first);
    const int64_t requested = std::stoll(token.substr(first + 1));
    const size_t n = std::stoul(token.substr(last + 1));
    for (const auto& [name, wait] : WAITS)
        if (name == op) return measure_wait(name, wait, requested, n);
    for (const auto& [name, clock] : CLOCKS)
        if (name == op) return measure_clock(name, clock, n);
    std::cout << "{\"type\":\"skip\",\"op\":\"" << op << "\",\"why\":\"C++ has no such call\"}" << std::endl;
}

int main(int argc, char** argv) {
    std::ostringstream version;
#if defined(__clang__)
    version << __clang_major__ << "." << __clang_minor__ << "." << __clang_patchlevel__;
#elif defined(__GNUC__)
    version << __GNUC__ << "." << __GNUC_MINOR__ << "." << __GNUC_PATCHLEVEL__;
#else
    version << __cplusplus;
#endif
    std::cout << "{\"type\":\"hello\",\"proto\":1,\"runtime\":\"cpp\",\"version\":\"" << version.str()
              << "\",\"clock\":\"steady_clock\",\"now\":" << now() << "}" << std::endl;
    for (int i = 1; i < argc; i++) {
        const string token = argv[i];
        if (token != "list") {
            run(token);
            continue;
        }
        for (const auto& wait : WAITS)
            std::cout << "{\"type\":\"op\",\"op\":\"" << wait.first << "\",\"kind\":\"wait\"}" << std::endl;
        for (const auto& clock : CLOCKS)
            std::cout << "{\"type\":\"op\",\"op\":\"" << clock.first << "\",\"kind\":\"clock\"}" << std::endl;
    }
    std::cout << "{\"type\":\"end\",\"now\":" << now() << "}" << std::endl;
}
