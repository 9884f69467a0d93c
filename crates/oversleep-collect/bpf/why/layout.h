// What is sent and kept, the settings, and the maps.
#define KINDS 22
enum kind {
	WHOLE = 0, ARM, FIRE, WAKING, QUEUED, OUT, IN, RETURN, RUN, CONTEXT, FORK, EXEC, GONE, SET, STACK = 16, SIGNAL = 18, BETWEEN = 20, HELD,
};

// How a call states its timeout; user space fills `calls`, because numbers differ between processors.
enum form {
	FORM_NONE, FORM_SPAN_TS, FORM_CLOCK_NANOSLEEP, FORM_FUTEX, FORM_MS, FORM_TIMEVAL, FORM_DEADLINE_TS, FORM_IO_URING,
	FORM_FUTEX2, FORM_UNTIMED, FORM_SETS_TIMER, FORM_SETS_TIMEVAL, FORM_SECONDS,
};
// `width`: bytes of each half of a time.
struct call {
	u8 form, timeout, width, flags;
};
// The calls of 32-bit programs have numbers of their own, which are kept from here on.
#define COMPAT 512

enum { REQUEST_NONE, REQUEST_SPAN, REQUEST_DEADLINE, REQUEST_ZERO };
enum { STATE_IDLE, STATE_ENTERED, STATE_WAITING, STATE_RETURNED };
enum { TIMER_STACK, TIMER_OBJECT, TIMER_WHEEL };
// Whose a task is that others wait for: the kernel's, or of the collector itself.
enum { RUN_PREEMPTED = 1, RUN_KERNEL = 2, RUN_OWN = 4 };
#define PF_KTHREAD 0x00200000
enum { OUT_RUNNABLE = 1, OUT_THROTTLED = 2, OUT_STOPPED = 4, OUT_TRACED = 8, OUT_FROZEN = 16 };

struct event {
	u64 t;
	u32 tid, tgid;
	u16 kind, cpu;
	u32 x;
	u64 a, b, c, d, e, f;
	char comm[16];
};

// The addresses of a call: of the kernel where the thread waited, of the program where it was called from.
#define FRAMES 32
struct stack {
	struct event head;
	u64 frames[FRAMES];
};
#define USER_STACK (1 << 8)

// Where in the kernel a thread waited, while it isn't known how late the wait ends: `bytes` of addresses, or an error.
struct place {
	s64 bytes;
	u64 frames[FRAMES];
};

// The steps of a wait that goes its usual way: each at most once, in the order of time. They are kept here and sent
// together when the call returns; 0 is a step that was not seen.
struct steps {
	u64 armed, soft, hard, fired, irq, waking, queued, running, queued_throttled, running_throttled, ids;
	u32 form, fired_idle, queued_on, queued_idle;
	s32 prio;
	u32 policy, cpus_allowed;
	u16 armed_on, fired_on;
	char comm[16];
	// What the CPU did before, if the timer was late.
	u64 irq_in, irq_out, soft_in, soft_out, numbers, idle_at;
	char irq_name[16];
	// The task that the timer interrupted.
	char interrupted_comm[16];
	u32 interrupted, is_late;
	// Who woke the thread, if its timer didn't.
	char waker_comm[16];
};

// What a thread did between two waits: from the end of the call before to the begin of the next one. All are sums in ns.
// Whatever they leave of this time, the thread had a CPU. `faults`: how many page faults it had, or had had at the begin.
struct between {
	u64 from, until, runq, quota, blocked, fault;
	u32 faults, pad;
};

// A thread without a CPU between two waits: since when, and when it was woken, if it had gone to sleep; which call it
// sleeps in, and who woke it.
struct off {
	u64 t, woken, throttled, waker;
	s64 nr;
	char waker_comm[16];
};

// A page fault between two waits, with what was lost by then.
struct fault {
	u64 t, off, asleep;
};

// A wait that went its usual way, from its arming to the end of its call. The kind is where an event has it.
struct whole {
	u64 t;
	u32 tid, tgid;
	u16 kind, cpu;
	u32 nr, sent, has_slept;
	u64 entered, request, result;
	struct steps steps;
	struct between before;
};

// `due`: when its wait should end, as far as that is known. `is_kept`: its steps are kept, and not sent one by one.
// `has_place`: it is known where in the kernel it waits. `before`: up to its present call, `now`: up to now.
struct thread {
	u64 entered, request, timer, due;
	u32 nr, sent;
	s32 pending_cpu;
	u8 state, requested, is_pending, has_slept, is_kept, has_place, pad[2];
	u32 tgid;
	struct steps steps;
	struct between before, now;
	struct off off;
	struct fault fault;
};

struct owner {
	u32 tid, tgid;
	u32 kind, pad;
};

struct cpu {
	u64 timer_irq, since, firing, firing_tgid, firing_due;
	s64 pending;
	u64 irq_in, irq_out, irq, soft_in, soft_out, soft, idle_at;
	u32 idle, pad;
	char irq_name[16];
	u64 emitted[KINDS], lost[KINDS];
	u64 full;
};

// Who sent a process a signal last.
struct sender {
	s32 code;
	char comm[16];
};

// Set before loading. `namespace` is the PID namespace whose ids the user sees, 0 for the first one, whose ids are the
// kernel's own.
const volatile u32 everyone, follow, own_tgid, namespace, stacks, periods, stack_size = 16384;
const volatile u64 tick_ns = 4000000, late_ns = 10000, held_ns = 100000, quota_within_ns = 100000;
const volatile struct place no_place;
const volatile struct thread no_thread;

#define MAP(name, kind, entries, K, V) \
	struct { \
		int (*type)[kind]; \
		int (*max_entries)[entries]; \
		K *key; \
		V *value; \
	} name __attribute__((section(".maps"), used))

MAP(calls, BPF_MAP_TYPE_ARRAY, 2 * COMPAT, u32, struct call);
// A value of `STARTS`: this process starts the one that is to be followed, which is all that is of interest in it.
enum { STARTS = 2 };
MAP(targets, BPF_MAP_TYPE_HASH, 16384, u32, u32);
// Processes to follow by their ids in `namespace`; each becomes a target when it is met.
MAP(followed, BPF_MAP_TYPE_HASH, 16384, u32, u32);
MAP(threads, BPF_MAP_TYPE_HASH, 32768, u32, struct thread);
MAP(timers, BPF_MAP_TYPE_LRU_HASH, 32768, u64, struct owner);
MAP(cpus, BPF_MAP_TYPE_ARRAY, 1024, u32, struct cpu);
// By the process that gets it, and its number.
MAP(senders, BPF_MAP_TYPE_LRU_HASH, 4096, u64, struct sender);
// Where each thread waits; one entry unless stacks are asked for.
MAP(places, BPF_MAP_TYPE_LRU_HASH, 32768, u32, struct place);
// Stacks are sent of waits that are at least so late, in ns; user space raises it to what the worst ones were.
MAP(stacks_from, BPF_MAP_TYPE_ARRAY, 1, u32, s64);
struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 24];
} ring __attribute__((section(".maps"), used));

#define INLINE static __attribute__((always_inline))
