// Follows timed waits of chosen processes through the kernel: one fixed-size event for each step of a wait.
//
// It only filters and copies. What the events mean is decided by oversleep-why, in Rust, from a stream that can be
// recorded. The layout of `event`, the kinds and the flags are those of `src/raw.rs`.
#include "kernel.h"

#define KINDS 18
enum kind {
	WHOLE = 0, ARM, FIRE, WAKING, QUEUED, OUT, IN, RETURN, RUN, CONTEXT, FORK, EXEC, GONE, SET, STACK = 16,
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
enum { OUT_RUNNABLE = 1, OUT_THROTTLED = 2 };

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
};

// A wait that went its usual way, from its arming to the end of its call. The kind is where an event has it.
struct whole {
	u64 t;
	u32 tid, tgid;
	u16 kind, cpu;
	u32 nr, sent, has_slept;
	u64 entered, request, result;
	struct steps steps;
};

// `due`: when its wait should end, as far as that is known. `is_kept`: its steps are kept, and not sent one by one.
struct thread {
	u64 entered, request, timer, due;
	u32 nr, sent;
	s32 pending_cpu;
	u8 state, requested, is_pending, has_slept, is_kept, pad[3];
	u32 tgid;
	struct steps steps;
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

// Set before loading. `namespace` is the PID namespace whose ids the user sees, 0 for the first one, whose ids are the
// kernel's own.
const volatile u32 everyone, follow, own_tgid, namespace, stacks, stack_size = 16384;
const volatile u64 tick_ns = 4000000, late_ns = 10000;

#define MAP(name, kind, entries, K, V) \
	struct { \
		int (*type)[kind]; \
		int (*max_entries)[entries]; \
		K *key; \
		V *value; \
	} name __attribute__((section(".maps"), used))

MAP(calls, BPF_MAP_TYPE_ARRAY, 2 * COMPAT, u32, struct call);
MAP(targets, BPF_MAP_TYPE_HASH, 16384, u32, u32);
// Processes to follow by their ids in `namespace`; each becomes a target when it is met.
MAP(followed, BPF_MAP_TYPE_HASH, 16384, u32, u32);
MAP(threads, BPF_MAP_TYPE_HASH, 32768, u32, struct thread);
MAP(timers, BPF_MAP_TYPE_LRU_HASH, 32768, u64, struct owner);
MAP(cpus, BPF_MAP_TYPE_ARRAY, 1024, u32, struct cpu);
// Stacks are taken of waits that are at least so late, in ns; user space raises it to what the worst ones were.
MAP(stacks_from, BPF_MAP_TYPE_ARRAY, 1, u32, s64);
struct {
	int (*type)[BPF_MAP_TYPE_RINGBUF];
	int (*max_entries)[1 << 24];
} ring __attribute__((section(".maps"), used));

#define INLINE static __attribute__((always_inline))

// A pointer as a plain number, which the verifier lets us calculate with.
INLINE u64 number_of(void *pointer) {
	u64 number = 0;
	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

INLINE struct cpu *this_cpu(void) {
	u32 cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&cpus, &cpu);
}

// Room in the buffer, counted.
INLINE void *reserve(u32 kind, u64 size) {
	struct cpu *cpu = this_cpu();
	if (!cpu || kind >= KINDS)
		return 0;
	void *room = bpf_ringbuf_reserve(&ring, size, 0);
	if (!room) {
		__sync_fetch_and_add(&cpu->lost[kind], 1);
		// Keeps the branches apart: the verifiers of 5.10 and 6.1 refuse a second comparison of `room`.
		asm volatile("" ::: "memory");
		return 0;
	}
	__sync_fetch_and_add(&cpu->emitted[kind], 1);
	return room;
}

INLINE struct event *begin_sized(u32 kind, u64 t, u32 tid, u32 tgid, u64 size) {
	struct event *e = reserve(kind, size);
	if (!e)
		return 0;
	__builtin_memset(e, 0, sizeof(*e));
	e->t = t;
	e->tid = tid;
	e->tgid = tgid;
	e->kind = kind;
	e->cpu = bpf_get_smp_processor_id();
	return e;
}

INLINE struct event *begin(u32 kind, u64 t, u32 tid, u32 tgid) {
	return begin_sized(kind, t, tid, tgid, sizeof(struct event));
}

INLINE void end(struct event *e) {
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

// Sends the steps that were kept, one by one: the wait doesn't go its usual way, or its end won't be seen. What follows
// is sent when it happens.
static __attribute__((noinline)) int send_kept(struct thread *thread, u32 tid, u32 tgid) {
	if (!thread || !thread->is_kept)
		return 0;
	thread->is_kept = 0;
	struct steps *steps = &thread->steps;
	struct event *e = begin(ARM, steps->armed, tid, tgid);
	if (e) {
		e->cpu = steps->armed_on;
		e->x = thread->nr;
		e->a = thread->entered;
		e->b = thread->request;
		e->c = steps->form;
		e->d = steps->soft;
		e->e = steps->hard;
		e->f = steps->ids;
		__builtin_memcpy(e->comm, steps->comm, sizeof(e->comm));
		end(e);
	}
	if (steps->fired && (e = begin(FIRE, steps->fired, tid, tgid))) {
		e->cpu = steps->fired_on;
		e->x = steps->interrupted;
		__builtin_memcpy(e->comm, steps->interrupted_comm, sizeof(e->comm));
		e->a = steps->irq;
		e->c = steps->fired_idle;
		e->d = steps->soft;
		e->e = steps->hard;
		end(e);
	}
	if (steps->fired && steps->is_late && (e = begin(CONTEXT, steps->fired, tid, tgid))) {
		e->cpu = steps->fired_on;
		e->x = steps->fired_idle;
		e->a = steps->irq_in;
		e->b = steps->irq_out;
		e->c = steps->soft_in;
		e->d = steps->soft_out;
		e->e = steps->numbers;
		e->f = steps->idle_at;
		__builtin_memcpy(e->comm, steps->irq_name, sizeof(e->comm));
		end(e);
	}
	if (steps->waking && (e = begin(WAKING, steps->waking, tid, tgid))) {
		e->x = thread->nr;
		e->b = thread->entered;
		e->f = steps->ids;
		__builtin_memcpy(e->comm, steps->comm, sizeof(e->comm));
		end(e);
	}
	if (steps->queued && (e = begin(QUEUED, steps->queued, tid, tgid))) {
		e->x = steps->queued_on;
		e->a = steps->queued_idle;
		e->b = steps->queued_throttled;
		e->c = steps->prio;
		e->d = steps->policy;
		e->e = steps->cpus_allowed;
		end(e);
	}
	if (steps->running && (e = begin(IN, steps->running, tid, tgid))) {
		e->a = thread->has_slept;
		e->b = steps->running_throttled;
		end(e);
	}
	return 0;
}

// Whether a wait is so late that its stacks are of interest.
INLINE bool wants_stack(struct thread *thread, u64 t) {
	u32 first = 0;
	if (!stacks || !thread->due)
		return 0;
	s64 *from = bpf_map_lookup_elem(&stacks_from, &first);
	return from && (s64)(t - thread->due) >= *from;
}

// Sends the stack that `get` writes; one that can't be read is sent, too, as a stack of no length.
#define SEND_STACK(t, tid, tgid, from, get) \
	do { \
		struct stack *s = (void *)begin_sized(STACK, t, tid, tgid, sizeof(struct stack)); \
		if (s) { \
			s64 bytes = get; \
			s->head.a = bytes > 0 ? (u64)bytes / 8 : 0; \
			s->head.x = from; \
			end(&s->head); \
		} \
	} while (0)

// The id of a task in `namespace`; 0 if it is not in there.
INLINE u32 id_in_namespace(struct task_struct *task) {
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	void *numbers = (void *)pid + bpf_core_field_offset(pid->numbers);
#pragma clang loop unroll(disable)
	for (u32 n = 0; n < 8; n++) {
		if (n > level)
			break;
		struct upid *upid = numbers + n * bpf_core_type_size(struct upid);
		if (BPF_CORE_READ(upid, ns, ns.inum) == namespace)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

// Both ids of a task there, thread and process; 0 where the kernel's own are the user's.
INLINE u64 ids_of(struct task_struct *task) {
	if (!namespace)
		return 0;
	return id_in_namespace(task) | (u64)id_in_namespace(BPF_CORE_READ(task, group_leader)) << 32;
}

// Whether a process is followed that was met before.
INLINE bool is_known(u32 tgid) {
	return bpf_map_lookup_elem(&targets, &tgid) != 0;
}

// Whether the present process is followed.
INLINE bool is_target(u32 tgid) {
	if (!namespace)
		return everyone ? tgid && tgid != own_tgid : is_known(tgid);
	if (!everyone && is_known(tgid))
		return 1;
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 id = id_in_namespace(BPF_CORE_READ(task, group_leader)), one = 1;
	if (everyone)
		return id && id != own_tgid;
	if (!id || !bpf_map_lookup_elem(&followed, &id))
		return 0;
	bpf_map_update_elem(&targets, &tgid, &one, BPF_ANY);
	return 1;
}

INLINE struct thread *thread_of(u32 tid) {
	return bpf_map_lookup_elem(&threads, &tid);
}

INLINE struct thread *make_thread(u32 tid) {
	struct thread *thread = thread_of(tid);
	if (thread)
		return thread;
	struct thread fresh = { .nr = ~0u };
	if (bpf_map_update_elem(&threads, &tid, &fresh, BPF_ANY)) {
		struct cpu *cpu = this_cpu();
		if (cpu)
			__sync_fetch_and_add(&cpu->full, 1);
		return 0;
	}
	return thread_of(tid);
}

INLINE u32 cpu_of(struct task_struct *task) {
	struct task_struct___cpu *old = (void *)task;
	if (bpf_core_field_exists(old->cpu))
		return BPF_CORE_READ(old, cpu);
	return BPF_CORE_READ(task, thread_info.cpu);
}

// Time for which the groups of a task were throttled so far: its own and those above it.
INLINE u64 throttled_ns(struct task_struct *task) {
	u64 sum = 0;
	if (!bpf_core_field_exists(((struct task_group *)0)->cfs_bandwidth))
		return 0;
	struct task_group *group = BPF_CORE_READ(task, sched_task_group);
	for (int depth = 0; depth < 4; depth++) {
		if (!group)
			break;
		sum += BPF_CORE_READ(group, cfs_bandwidth.throttled_time);
		group = BPF_CORE_READ(group, parent);
	}
	return sum;
}

// Somebody waits for this CPU from now on, or no longer.
INLINE void pend(struct thread *thread, u32 id) {
	struct cpu *cpu = bpf_map_lookup_elem(&cpus, &id);
	if (!cpu || thread->is_pending)
		return;
	thread->is_pending = 1;
	thread->pending_cpu = id;
	__sync_fetch_and_add(&cpu->pending, 1);
}

INLINE void unpend(struct thread *thread) {
	if (!thread->is_pending)
		return;
	u32 id = thread->pending_cpu;
	struct cpu *cpu = bpf_map_lookup_elem(&cpus, &id);
	thread->is_pending = 0;
	if (cpu)
		__sync_fetch_and_add(&cpu->pending, -1);
}

// Whether the present call was made as 32-bit programs make it.
INLINE bool is_compat(void) {
	struct task_struct *task = (void *)bpf_get_current_task();
	// x86: TS_COMPAT; arm64: TIF_32BIT.
	if (bpf_core_field_exists(task->thread_info.status))
		return BPF_CORE_READ(task, thread_info.status) & 2;
	return BPF_CORE_READ(task, thread_info.flags) >> 22 & 1;
}

// The arguments of 32-bit programs on x86.
INLINE u64 compat_argument(struct pt_regs___x86 *regs, u32 n) {
	switch (n) {
	case 0: return (u32)BPF_CORE_READ(regs, bx);
	case 1: return (u32)BPF_CORE_READ(regs, cx);
	case 2: return (u32)BPF_CORE_READ(regs, dx);
	case 3: return (u32)BPF_CORE_READ(regs, si);
	case 4: return (u32)BPF_CORE_READ(regs, di);
	default: return (u32)BPF_CORE_READ(regs, bp);
	}
}

INLINE u64 argument(void *regs, u32 n, u32 nr) {
	struct pt_regs___x86 *x86 = regs;
	struct pt_regs___arm64 *arm = regs;
	if (bpf_core_field_exists(arm->orig_x0)) {
		u64 value = 0;
		if (n == 0)
			return BPF_CORE_READ(arm, orig_x0);
		if (n < 6)
			bpf_probe_read_kernel(&value, sizeof(value), (void *)arm + bpf_core_field_offset(arm->regs) + n * 8);
		return value;
	}
	if (nr >= COMPAT)
		return compat_argument(regs, n);
	switch (n) {
	case 0: return BPF_CORE_READ(x86, di);
	case 1: return BPF_CORE_READ(x86, si);
	case 2: return BPF_CORE_READ(x86, dx);
	case 3: return BPF_CORE_READ(x86, r10);
	case 4: return BPF_CORE_READ(x86, r8);
	default: return BPF_CORE_READ(x86, r9);
	}
}

INLINE void read_pair(struct thread *thread, u64 address, u8 width, u64 unit, u8 requested) {
	s64 pair[2];
	if (!address)
		return;
	if (width == 4) {
		s32 narrow[2];
		if (bpf_probe_read_user(narrow, sizeof(narrow), (void *)address))
			return;
		pair[0] = narrow[0];
		pair[1] = narrow[1];
	} else if (bpf_probe_read_user(pair, sizeof(pair), (void *)address)) {
		return;
	}
	u64 request = (u64)pair[0] * 1000000000ull + (u64)pair[1] * unit;
	// Longer than 292 years is for ever.
	if (pair[0] < 0 || pair[0] > 9000000000ll)
		return;
	thread->request = request;
	thread->requested = request || requested == REQUEST_DEADLINE ? requested : REQUEST_ZERO;
}

INLINE void read_request(struct thread *thread, struct call *call, void *regs) {
	u32 nr = thread->nr;
	u8 width = call->width;
	u64 at = argument(regs, call->timeout, nr), unit = 1;
	u8 requested = REQUEST_SPAN;
	switch (call->form) {
	case FORM_SPAN_TS:
		break;
	case FORM_TIMEVAL:
		unit = 1000;
		break;
	case FORM_DEADLINE_TS:
	case FORM_FUTEX2:
		requested = REQUEST_DEADLINE;
		break;
	case FORM_CLOCK_NANOSLEEP:
		if (argument(regs, call->flags, nr) & 1)
			requested = REQUEST_DEADLINE;
		break;
	case FORM_FUTEX: {
		u32 op = argument(regs, 1, nr) & 127;
		// FUTEX_WAIT takes a span; FUTEX_LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI and LOCK_PI2 take deadlines.
		if (op == 6 || op == 9 || op == 11 || op == 13)
			requested = REQUEST_DEADLINE;
		else if (op != 0)
			return;
		break;
	}
	case FORM_MS:
	case FORM_SECONDS: {
		s32 count = at;
		if (count >= 0) {
			thread->request = (u64)count * (call->form == FORM_MS ? 1000000 : 1000000000);
			thread->requested = count ? REQUEST_SPAN : REQUEST_ZERO;
		}
		return;
	}
	case FORM_IO_URING: {
		u64 extended[3];
		// IORING_ENTER_EXT_ARG; IORING_ENTER_ABS_TIMER takes a deadline. 32-bit programs use the same structures.
		u32 flags = argument(regs, 3, nr);
		if (!(flags & 8) || bpf_probe_read_user(extended, sizeof(extended), (void *)at))
			return;
		at = extended[2];
		if (flags & 32)
			requested = REQUEST_DEADLINE;
		break;
	}
	case FORM_SETS_TIMER:
	case FORM_SETS_TIMEVAL:
		// Its first expiry follows its period.
		at += 2 * width;
		if (call->form == FORM_SETS_TIMEVAL)
			unit = 1000;
		else if (argument(regs, call->flags, nr) & 1)
			requested = REQUEST_DEADLINE;
		break;
	default:
		return;
	}
	read_pair(thread, at, width, unit, requested);
}

SEC("tp_btf/sys_enter")
int on_sys_enter(u64 *ctx) {
	u64 t = bpf_ktime_get_ns();
	u32 nr = ctx[1], compat = nr + COMPAT;
	if (nr >= COMPAT)
		return 0;
	struct call *native = bpf_map_lookup_elem(&calls, &nr);
	struct call *other = bpf_map_lookup_elem(&calls, &compat);
	if (!native || !other || (native->form == FORM_NONE && other->form == FORM_NONE))
		return 0;
	u64 id = bpf_get_current_pid_tgid();
	if (!is_target(id >> 32))
		return 0;
	struct call *call = native;
	if (is_compat()) {
		call = other;
		nr = compat;
	}
	if (call->form == FORM_NONE)
		return 0;
	struct thread *thread = make_thread(id);
	if (!thread)
		return 0;
	// The end of its last call was left out by the kernel.
	send_kept(thread, id, id >> 32);
	thread->entered = t;
	thread->request = 0;
	thread->requested = REQUEST_NONE;
	thread->timer = 0;
	thread->nr = nr;
	thread->sent = 0;
	thread->state = STATE_ENTERED;
	read_request(thread, call, (void *)ctx[0]);
	return 0;
}

SEC("tp_btf/sys_exit")
int on_sys_exit(u64 *ctx) {
	u64 id = bpf_get_current_pid_tgid();
	struct thread *thread = thread_of(id);
	if (!thread)
		return 0;
	if (thread->state != STATE_WAITING) {
		thread->state = STATE_IDLE;
		return 0;
	}
	u64 t = bpf_ktime_get_ns();
	if (wants_stack(thread, t)) {
		send_kept(thread, id, id >> 32);
		SEND_STACK(t, id, id >> 32, 1, bpf_get_stack(ctx, s->frames, sizeof(s->frames), USER_STACK));
	}
	thread->state = STATE_RETURNED;
	thread->timer = 0;
	thread->sent++;
	unpend(thread);
	if (thread->is_kept) {
		thread->is_kept = 0;
		struct whole *whole = reserve(WHOLE, sizeof(*whole));
		if (!whole)
			return 0;
		whole->t = t;
		whole->tid = id;
		whole->tgid = id >> 32;
		whole->kind = WHOLE;
		whole->cpu = bpf_get_smp_processor_id();
		whole->nr = thread->nr;
		whole->sent = thread->sent;
		whole->has_slept = thread->has_slept;
		whole->entered = thread->entered;
		whole->request = thread->request;
		whole->result = ctx[1];
		__builtin_memcpy(&whole->steps, &thread->steps, sizeof(whole->steps));
		bpf_ringbuf_submit(whole, BPF_RB_NO_WAKEUP);
		return 0;
	}
	struct event *e = begin(RETURN, t, id, id >> 32);
	if (!e)
		return 0;
	e->x = thread->sent;
	e->a = ctx[1];
	end(e);
	return 0;
}

INLINE bool is_on_stack(u64 at) {
	struct task_struct *task = (void *)bpf_get_current_task();
	u64 stack = (u64)BPF_CORE_READ(task, stack);
	return at - stack < stack_size;
}

// Where timers on a thread's stack are kept: by the stack, because the kernel moves its frames at random with each call
// (CONFIG_RANDOMIZE_KSTACK_OFFSET). Stacks are aligned to their size.
INLINE u64 stack_of(u64 timer) {
	return timer & ~(u64)(stack_size - 1);
}

// Whose timer this is: the one that a thread has on its stack and armed last, or one of its own.
INLINE struct owner *owner_of(u64 timer) {
	u64 stack = stack_of(timer);
	struct owner *owner = bpf_map_lookup_elem(&timers, &stack);
	if (owner && owner->kind != TIMER_OBJECT) {
		struct thread *thread = thread_of(owner->tid);
		if (thread && thread->timer == timer)
			return owner;
	}
	owner = bpf_map_lookup_elem(&timers, &timer);
	return owner && owner->kind == TIMER_OBJECT ? owner : 0;
}

INLINE void own(u64 timer, u64 id, u32 kind) {
	struct owner *owner = bpf_map_lookup_elem(&timers, &timer);
	if (owner && owner->tid == (u32)id && owner->tgid == id >> 32 && owner->kind == kind)
		return;
	struct owner fresh = { .tid = id, .tgid = id >> 32, .kind = kind };
	bpf_map_update_elem(&timers, &timer, &fresh, BPF_ANY);
}

INLINE void arm(struct thread *thread, u64 t, u64 id, u64 timer, u32 kind, s64 soft, s64 hard, s64 offset) {
	// A call that arms its timer again doesn't go the usual way.
	send_kept(thread, id, id >> 32);
	bool is_first = thread->state != STATE_WAITING;
	if (is_first && thread->state != STATE_ENTERED) {
		thread->entered = 0;
		thread->requested = REQUEST_NONE;
		thread->nr = ~0u;
		thread->sent = 0;
	}
	if (stacks) {
		thread->due = soft - offset;
		if (thread->requested == REQUEST_SPAN && thread->entered + thread->request < thread->due)
			thread->due = thread->entered + thread->request;
	}
	thread->state = STATE_WAITING;
	thread->has_slept = 0;
	thread->timer = timer;
	thread->sent++;
	own(stack_of(timer), id, kind);
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 form = (u32)thread->requested | kind << 8;
	if (is_first) {
		struct steps *steps = &thread->steps;
		__builtin_memset(steps, 0, sizeof(*steps));
		steps->armed = t;
		steps->soft = soft - offset;
		steps->hard = hard - offset;
		steps->ids = ids_of(task);
		steps->form = form;
		steps->armed_on = bpf_get_smp_processor_id();
		bpf_get_current_comm(steps->comm, sizeof(steps->comm));
		thread->tgid = id >> 32;
		thread->is_kept = 1;
		return;
	}
	struct event *e = begin(ARM, t, id, id >> 32);
	if (!e)
		return;
	e->x = thread->nr;
	e->a = thread->entered;
	e->b = thread->request;
	e->c = form;
	e->d = soft - offset;
	e->e = hard - offset;
	e->f = ids_of(task);
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	end(e);
}

SEC("tp_btf/hrtimer_start")
int on_hrtimer_start(u64 *ctx) {
	u64 id = bpf_get_current_pid_tgid();
	struct thread *thread = thread_of(id);
	if (!thread)
		return 0;
	struct hrtimer *timer = (void *)ctx[0];
	u64 key = number_of(timer);
	if (is_on_stack(key)) {
		u64 t = bpf_ktime_get_ns();
		arm(thread, t, id, key, TIMER_STACK, timer->_softexpires, timer->node.expires, timer->base->offset);
		return 0;
	}
	// A timer of its own, set in timerfd_settime, timer_settime, setitimer or io_uring_enter.
	u32 nr = thread->nr;
	struct call *call = bpf_map_lookup_elem(&calls, &nr);
	if (thread->state != STATE_ENTERED || !call ||
	    (call->form < FORM_SETS_TIMER && call->form != FORM_IO_URING))
		return 0;
	own(key, id, TIMER_OBJECT);
	struct event *e = begin(SET, bpf_ktime_get_ns(), id, id >> 32);
	if (!e)
		return 0;
	e->x = nr;
	e->a = thread->entered;
	// What io_uring_enter waits for is no request of the timer.
	if (call->form != FORM_IO_URING) {
		e->b = thread->request;
		e->c = thread->requested;
	}
	e->d = timer->_softexpires - timer->base->offset;
	e->e = timer->node.expires - timer->base->offset;
	e->f = key;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	end(e);
	return 0;
}

SEC("tp_btf/timer_start")
int on_timer_start(u64 *ctx) {
	u64 id = bpf_get_current_pid_tgid();
	struct thread *thread = thread_of(id);
	struct timer_list *timer = (void *)ctx[0];
	u64 key = number_of(timer);
	if (!thread || !is_on_stack(key))
		return 0;
	u64 t = bpf_ktime_get_ns(), soft = t + (timer->expires - bpf_jiffies64()) * tick_ns;
	arm(thread, t, id, key, TIMER_WHEEL, soft, soft, 0);
	return 0;
}

INLINE void fire(struct owner *owner, u64 timer, s64 soft, s64 hard) {
	u64 t = bpf_ktime_get_ns();
	struct cpu *cpu = this_cpu();
	if (!cpu)
		return;
	u64 irq = cpu->timer_irq;
	bool is_late = (s64)(irq - hard) >= (s64)late_ns || (s64)(t - irq) >= (s64)late_ns;
	if (owner->kind != TIMER_OBJECT) {
		// Addresses on stacks are used again: only the timer that the wait has armed last counts.
		struct thread *thread = thread_of(owner->tid);
		if (!thread || thread->state != STATE_WAITING || thread->timer != timer)
			return;
		thread->sent++;
		struct steps *steps = &thread->steps;
		if (thread->is_kept && owner->kind == TIMER_STACK && !steps->fired && !steps->waking && !steps->queued && !steps->running) {
			steps->fired = t;
			steps->irq = irq;
			steps->fired_idle = cpu->idle;
			steps->fired_on = bpf_get_smp_processor_id();
			if (!is_late)
				return;
			steps->is_late = 1;
			steps->irq_in = cpu->irq_in;
			steps->irq_out = cpu->irq_out;
			steps->soft_in = cpu->soft_in;
			steps->soft_out = cpu->soft_out;
			steps->numbers = cpu->soft | cpu->irq << 32;
			steps->idle_at = cpu->idle_at;
			__builtin_memcpy(steps->irq_name, cpu->irq_name, sizeof(steps->irq_name));
			steps->interrupted = bpf_get_current_pid_tgid();
			bpf_get_current_comm(steps->interrupted_comm, sizeof(steps->interrupted_comm));
			return;
		}
		send_kept(thread, owner->tid, owner->tgid);
	} else {
		cpu->firing = timer;
		cpu->firing_due = soft;
		cpu->firing_tgid = owner->tgid;
	}
	struct event *e = begin(FIRE, t, owner->tid, owner->tgid);
	if (e) {
		e->a = irq;
		e->b = timer;
		e->c = cpu->idle;
		e->d = soft;
		e->e = hard;
		e->f = owner->kind;
		e->x = bpf_get_current_pid_tgid();
		bpf_get_current_comm(e->comm, sizeof(e->comm));
		end(e);
	}
	if (!is_late)
		return;
	e = begin(CONTEXT, t, owner->tid, owner->tgid);
	if (!e)
		return;
	e->a = cpu->irq_in;
	e->b = cpu->irq_out;
	e->c = cpu->soft_in;
	e->d = cpu->soft_out;
	e->e = cpu->soft | cpu->irq << 32;
	e->f = cpu->idle_at;
	e->x = cpu->idle;
	__builtin_memcpy(e->comm, cpu->irq_name, sizeof(e->comm));
	end(e);
}

SEC("tp_btf/hrtimer_expire_entry")
int on_hrtimer_fire(u64 *ctx) {
	struct hrtimer *timer = (void *)ctx[0];
	u64 key = number_of(timer);
	struct owner *owner = owner_of(key);
	if (!owner || owner->kind == TIMER_WHEEL)
		return 0;
	s64 offset = timer->base->offset;
	fire(owner, key, timer->_softexpires - offset, timer->node.expires - offset);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int on_hrtimer_fired(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu && cpu->firing)
		cpu->firing = 0;
	return 0;
}

SEC("tp_btf/timer_expire_entry")
int on_timer_fire(u64 *ctx) {
	u64 key = number_of((void *)ctx[0]);
	struct owner *owner = owner_of(key);
	if (owner && owner->kind == TIMER_WHEEL)
		fire(owner, key, 0, 0);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	u32 tid = task->pid;
	struct thread *thread = thread_of(tid);
	struct cpu *cpu = this_cpu();
	if (!cpu)
		return 0;
	u64 firing = cpu->firing;
	// A timer of its own wakes whoever waits for it: the wait begins for us here.
	if (firing && (!thread || thread->state != STATE_WAITING)) {
		if (task->tgid != cpu->firing_tgid || !(thread = make_thread(tid)))
			return 0;
		thread->is_kept = 0;
		if (thread->state != STATE_ENTERED) {
			thread->nr = ~0u;
			thread->entered = 0;
		}
		thread->sent = 0;
		thread->state = STATE_WAITING;
		thread->due = cpu->firing_due;
	}
	if (!thread || thread->state != STATE_WAITING)
		return 0;
	thread->sent++;
	struct steps *steps = &thread->steps;
	if (thread->is_kept && !firing && !steps->waking && !steps->queued && !steps->running) {
		steps->waking = bpf_ktime_get_ns();
		return 0;
	}
	send_kept(thread, tid, task->tgid);
	struct event *e = begin(WAKING, bpf_ktime_get_ns(), tid, task->tgid);
	if (!e)
		return 0;
	e->x = thread->nr;
	e->a = firing;
	e->b = thread->entered;
	e->c = bpf_get_current_pid_tgid();
	e->f = ids_of(task);
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	end(e);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_queued(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	u32 tid = task->pid;
	struct thread *thread = thread_of(tid);
	if (!thread || thread->state != STATE_WAITING)
		return 0;
	u64 t = bpf_ktime_get_ns();
	u32 target = cpu_of(task);
	struct cpu *cpu = bpf_map_lookup_elem(&cpus, &target);
	thread->sent++;
	// A thread that is woken before it left its CPU waits for none.
	if (task != (void *)bpf_get_current_task())
		pend(thread, target);
	struct steps *steps = &thread->steps;
	if (thread->is_kept && !steps->queued && !steps->running) {
		steps->queued = t;
		steps->queued_on = target;
		steps->queued_idle = cpu ? cpu->idle : 0;
		steps->queued_throttled = throttled_ns(task);
		steps->prio = task->prio;
		steps->policy = task->policy;
		steps->cpus_allowed = task->nr_cpus_allowed;
		return 0;
	}
	send_kept(thread, tid, task->tgid);
	struct event *e = begin(QUEUED, t, tid, task->tgid);
	if (!e)
		return 0;
	e->x = target;
	e->a = cpu ? cpu->idle : 0;
	e->b = throttled_ns(task);
	e->c = task->prio;
	e->d = task->policy;
	e->e = task->nr_cpus_allowed;
	end(e);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int on_migrate(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	struct thread *thread = thread_of(task->pid);
	if (!thread || !thread->is_pending)
		return 0;
	unpend(thread);
	pend(thread, ctx[1]);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx) {
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct cpu *cpu = this_cpu();
	if (!cpu)
		return 0;
	u64 t = bpf_ktime_get_ns();
	u64 since = cpu->since;
	cpu->since = t;
	u32 prev_tid = prev->pid, next_tid = next->pid;
	struct event *e;
	if (cpu->pending > 0 && prev_tid) {
		e = begin(RUN, t, prev_tid, prev->tgid);
		if (e) {
			e->a = since;
			e->b = prev->prio;
			e->c = prev->policy;
			e->d = prev->nr_cpus_allowed;
			e->x = ctx[0] & 1;
			e->f = ids_of(prev);
			bpf_probe_read_kernel(e->comm, sizeof(e->comm), prev->comm);
			end(e);
		}
	}
	struct thread *thread = prev_tid ? thread_of(prev_tid) : 0;
	if (thread && thread->state >= STATE_WAITING) {
		u32 flags = 0;
		struct task_struct___throttled *new = (void *)prev;
		if (bpf_core_field_exists(new->throttled) && BPF_CORE_READ(new, throttled))
			flags |= OUT_THROTTLED;
		// The state has two names and either may be set by a wake-up already; preemption is certain.
		if (ctx[0] & 1)
			flags |= OUT_RUNNABLE;
		if (thread->state == STATE_RETURNED && !(flags & OUT_THROTTLED)) {
			thread->state = STATE_IDLE;
		} else if (!flags) {
			// It goes to sleep, as in every wait: that it did is told when it has a CPU again.
			thread->has_slept = 1;
		} else {
			send_kept(thread, prev_tid, prev->tgid);
			thread->sent++;
			if (flags & OUT_RUNNABLE)
				pend(thread, bpf_get_smp_processor_id());
			e = begin(OUT, t, prev_tid, prev->tgid);
			if (e) {
				e->x = flags;
				e->b = throttled_ns(prev);
				end(e);
			}
		}
	}
	thread = next_tid ? thread_of(next_tid) : 0;
	if (thread && thread->state >= STATE_WAITING) {
		unpend(thread);
		thread->sent++;
		bool is_wanted = thread->state == STATE_WAITING && wants_stack(thread, t);
		struct steps *steps = &thread->steps;
		if (thread->is_kept && !is_wanted && !steps->running && (steps->waking || steps->queued)) {
			steps->running = t;
			steps->running_throttled = throttled_ns(next);
			return 0;
		}
		send_kept(thread, next_tid, next->tgid);
		if (is_wanted)
			SEND_STACK(t, next_tid, next->tgid, 0, bpf_get_task_stack(next, s->frames, sizeof(s->frames), 0));
		e = begin(IN, t, next_tid, next->tgid);
		if (e) {
			e->x = prev_tid;
			e->a = thread->has_slept;
			e->b = throttled_ns(next);
			end(e);
		}
		if (thread->state == STATE_RETURNED)
			thread->state = STATE_IDLE;
	}
	return 0;
}

SEC("tp_btf/local_timer_entry")
int on_local_timer(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->timer_irq = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int on_irq(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (!cpu)
		return 0;
	struct irqaction *action = (void *)ctx[1];
	u64 t = bpf_ktime_get_ns();
	cpu->irq_in = t;
	cpu->irq_out = 0;
	cpu->irq = (u32)ctx[0];
	// Where the processor's own timer has no tracepoint, its interrupt comes this way.
	if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0))
		cpu->timer_irq = t;
	bpf_probe_read_kernel_str(cpu->irq_name, sizeof(cpu->irq_name), action->name);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_end(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->irq_out = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_entry")
int on_softirq(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu) {
		cpu->soft = ctx[0];
		cpu->soft_in = bpf_ktime_get_ns();
		cpu->soft_out = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int on_softirq_end(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->soft_out = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/cpu_idle")
int on_idle(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu) {
		// 0 is "not idle" here; the kernel's states count from 0 and leaving is −1.
		cpu->idle = (u32)ctx[0] + 1;
		cpu->idle_at = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(u64 *ctx) {
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	u32 from = parent->tgid, to = child->tgid, one = 1;
	if (!follow || from == to || !is_target(from))
		return 0;
	bpf_map_update_elem(&targets, &to, &one, BPF_ANY);
	struct event *e = begin(FORK, bpf_ktime_get_ns(), child->pid, to);
	if (!e)
		return 0;
	e->a = from;
	e->f = ids_of(child);
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), child->comm);
	end(e);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	u32 tgid = task->tgid, old = ctx[1];
	// A thread that replaces its program goes on under the id of its process.
	if (old != task->pid)
		bpf_map_delete_elem(&threads, &old);
	if (!is_target(tgid))
		return 0;
	struct event *e = begin(EXEC, bpf_ktime_get_ns(), task->pid, tgid);
	if (!e)
		return 0;
	e->f = ids_of(task);
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	end(e);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	u32 tid = task->pid, tgid = task->tgid;
	struct thread *thread = thread_of(tid);
	if (thread) {
		unpend(thread);
		send_kept(thread, tid, tgid);
		bpf_map_delete_elem(&threads, &tid);
	}
	bool is_last = task->signal->live.counter <= 0;
	if (!is_target(tgid) || (!thread && !is_last))
		return 0;
	struct event *e = begin(GONE, bpf_ktime_get_ns(), tid, tgid);
	if (e) {
		e->x = is_last;
		e->f = ids_of(task);
		end(e);
	}
	if (is_last) {
		u32 id = namespace ? id_in_namespace(BPF_CORE_READ(task, group_leader)) : tgid;
		bpf_map_delete_elem(&targets, &tgid);
		bpf_map_delete_elem(&followed, &id);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
