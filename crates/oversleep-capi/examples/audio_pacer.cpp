// An audio-style pacer: it produces one block of samples per period, and catches up at once when it is late. It also
// shows how to wrap a handle in an object.
//
//   c++ audio_pacer.cpp $(pkg-config --cflags --libs oversleep) -o audio_pacer && ./audio_pacer [BLOCKS]

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <oversleep.h>

namespace {

void check(oversleep_status status) {
    if (status < 0) {
        char text[100];
        oversleep_status_text(status, text, sizeof text, nullptr);
        throw std::runtime_error(text);
    }
}

class Pacer {
public:
    explicit Pacer(std::uint32_t per_second) {
        oversleep_pacer *made = nullptr;
        check(oversleep_pacer_new_per_second(per_second, &made));
        pacer.reset(made);
    }

    void on_missed(oversleep_missed policy) {
        check(oversleep_pacer_set_missed(pacer.get(), policy));
    }

    oversleep_beat wait() {
        oversleep_beat beat;
        beat.size = sizeof beat;
        check(oversleep_pacer_wait(pacer.get(), &beat));
        return beat;
    }

private:
    struct Free {
        void operator()(oversleep_pacer *pacer) const {
            oversleep_pacer_free(pacer);
        }
    };

    std::unique_ptr<oversleep_pacer, Free> pacer;
};

} // namespace

int main(int argc, char **argv) {
    const std::uint64_t blocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
    try {
        // 128 samples at 48 kHz are 375 blocks a second, a period that is no whole number of nanoseconds.
        Pacer pacer(375);
        pacer.on_missed(OVERSLEEP_MISSED_CATCH_UP);
        std::uint64_t made = 0, last = 0, max_ns = 0;
        while (made < blocks) {
            const oversleep_beat beat = pacer.wait();
            made += 1;
            last = beat.period;
            max_ns = std::max(max_ns, beat.lateness_ns);
            if (made == blocks / 2) {
                // Simulates a delay of five periods.
                check(oversleep_sleep_ns(13400000));
            }
        }
        std::cout << "made " << made << ", last period " << last << ", max lateness " << max_ns << " ns\n";
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
