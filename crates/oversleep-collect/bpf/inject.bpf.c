// Burns a known time at one stage of a chosen thread's waits, for the ground truth of the split. Only tests load it.
#include "kernel.h"

enum stage { ENTER = 1, TIMER_IRQ, INTERRUPTS_OFF, TO_BE_WOKEN, QUEUED, SWITCH, RETURN };

// Set before loading.
const volatile u32 tgid_of_victim, stage;
const volatile u64 burn_ns = 200000;

struct state {
	u64 armed_cpu, count, off_at;
};

struct {
	int (*type)[BPF_MAP_TYPE_ARRAY];
	int (*max_entries)[1];
	u32 *key;
	struct state *value;
} states __attribute__((section(".maps"), used));

#define INLINE static __attribute__((always_inline))

struct until {
	u64 t;
};

static long spin(u32 n, void *context) {
	struct until *until = context;
	return bpf_ktime_get_ns() >= until->t;
}

INLINE void burn_until(u64 t) {
	u32 key = 0;
	struct state *state = bpf_map_lookup_elem(&states, &key);
	struct until until = { .t = t };
	bpf_loop(1 << 20, spin, &until, 0);
	if (state)
		__sync_fetch_and_add(&state->count, 1);
}

INLINE void burn(void) {
	burn_until(bpf_ktime_get_ns() + burn_ns);
}

INLINE bool is_victim(struct task_struct *task) {
	return task->tgid == (s32)tgid_of_victim;
}

SEC("tp_btf/sys_enter")
int at_enter(u64 *ctx) {
	if (stage == ENTER && bpf_get_current_pid_tgid() >> 32 == tgid_of_victim)
		burn();
	return 0;
}

// Only the interrupt that comes for that timer, or a little before.
INLINE bool is_due(u64 early_ns) {
	u32 key = 0;
	struct state *state = bpf_map_lookup_elem(&states, &key);
	if (!state || state->armed_cpu != bpf_get_smp_processor_id() + 1)
		return 0;
	if (bpf_ktime_get_ns() + early_ns < state->off_at)
		return 0;
	state->armed_cpu = 0;
	return 1;
}

// The CPU on which the victim's timer is armed: its next timer interrupts are the ones to delay.
SEC("tp_btf/hrtimer_start")
int at_arm(u64 *ctx) {
	u32 key = 0;
	struct state *state = bpf_map_lookup_elem(&states, &key);
	struct hrtimer *timer = (void *)ctx[0];
	if (!state)
		return 0;
	if (bpf_get_current_pid_tgid() >> 32 == tgid_of_victim) {
		state->off_at = timer->node.expires;
		state->armed_cpu = bpf_get_smp_processor_id() + 1;
	} else if (stage == INTERRUPTS_OFF && is_due(burn_ns / 2)) {
		// Interrupts are off while a timer is set: a task that sets one all the time holds the victim's back, until
		// its latest expiry and the time to burn have passed, wherever in between that begins.
		burn_until(state->off_at + burn_ns);
	}
	return 0;
}

SEC("tp_btf/local_timer_entry")
int at_timer_irq(u64 *ctx) {
	if (stage == TIMER_IRQ && is_due(0))
		burn();
	return 0;
}

SEC("tp_btf/sched_switch")
int at_switch(u64 *ctx) {
	struct task_struct *next = (void *)ctx[2];
	if (stage == SWITCH && is_victim(next))
		burn();
	return 0;
}

SEC("tp_btf/sched_waking")
int at_waking(u64 *ctx) {
	if (stage == TO_BE_WOKEN && is_victim((void *)ctx[0]))
		burn();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int at_queued(u64 *ctx) {
	if (stage == QUEUED && is_victim((void *)ctx[0]))
		burn();
	return 0;
}

SEC("tp_btf/sys_exit")
int at_return(u64 *ctx) {
	if (stage == RETURN && bpf_get_current_pid_tgid() >> 32 == tgid_of_victim)
		burn();
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
