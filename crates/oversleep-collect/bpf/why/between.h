// What holds a thread up between its waits: other tasks, a CPU quota, other calls, and page faults.
#define TASK_FROZEN 0x8000
// Of a task that a tracepoint passes.
INLINE u32 state_of(struct task_struct *task) {
	struct task_struct___state *new = (void *)task;
	struct task_struct___old_state *old = (void *)task;
	return bpf_core_field_exists(new->__state) ? new->__state : (u32)old->state;
}

// What stops a task: job control, a tracer, or the freezer of its group or of the system.
INLINE u32 stops(struct task_struct *task) {
	struct task_struct___stops *stops = (void *)task;
	u32 is = state_of(task), flags = 0;
	if (is & 4)
		flags |= OUT_STOPPED;
	if (is & 8)
		flags |= OUT_TRACED;
	if (is & TASK_FROZEN || BPF_CORE_READ(stops, jobctl) & 1 << 23)
		flags |= OUT_FROZEN;
	return flags;
}

// The kernel's count of page faults of the present task.
INLINE u32 faults_of_present(void) {
	struct task_struct *task;
	if (bpf_core_enum_value_exists(enum bpf_func_id___task, BPF_FUNC_get_current_task_btf___task)) {
		task = (void *)bpf_get_current_task_btf();
		return task->min_flt + task->maj_flt;
	}
	task = (void *)bpf_get_current_task();
	return BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
}

// A wait has ended: what follows is between it and the next one.
INLINE void begin_between(struct thread *thread, u64 t) {
	if (!periods)
		return;
	__builtin_memset(&thread->now, 0, sizeof(thread->now));
	thread->now.from = t;
	thread->now.faults = faults_of_present();
	thread->off.t = 0;
	thread->fault.t = 0;
}

// The present thread makes a call that may be its next wait.
INLINE void end_between(struct thread *thread, u64 t) {
	thread->before = thread->now;
	thread->before.until = 0;
	if (!thread->now.from)
		return;
	thread->before.until = t;
	thread->before.faults = faults_of_present() - thread->now.faults;
}

// The call that a task is in, or one of these: nothing but a page fault and a stop lets a thread sleep outside of calls.
enum { CALL_UNKNOWN = -1, CALL_IS_FAULT = -2, CALL_IS_STOP = -3 };
INLINE s64 call_of(struct thread *thread, struct task_struct *task) {
	if (thread->fault.t)
		return CALL_IS_FAULT;
	if (!bpf_core_enum_value_exists(enum bpf_func_id___task, BPF_FUNC_task_pt_regs___task))
		return CALL_UNKNOWN;
	void *regs = (void *)bpf_task_pt_regs(task);
	struct pt_regs___arm64 *arm = regs;
	struct pt_regs___x86 *x86 = regs;
	s64 nr = bpf_core_field_exists(arm->orig_x0) ? BPF_CORE_READ(arm, syscallno) : (s64)BPF_CORE_READ(x86, orig_ax);
	return nr < 0 ? CALL_IS_FAULT : nr;
}

// It leaves its CPU. A quota that stops it at once on its way out of a wait is a part of that wait; a stop there comes after
// it, because a stop ended it.
INLINE void leave_between(struct thread *thread, struct task_struct *task, u64 t, bool is_preempted) {
	thread->off.t = 0;
	if (!thread->now.from)
		return;
	bool is_stopped = !is_preempted && stops(task);
	if (thread->state == STATE_RETURNED && t - thread->now.from < quota_within_ns && !is_stopped)
		return;
	thread->off.t = t;
	thread->off.woken = 0;
	thread->off.waker = 0;
	if (is_preempted || !state_of(task)) {
		thread->off.woken = t;
		thread->off.throttled = throttled_ns(task);
		pend(thread, bpf_get_smp_processor_id());
	} else {
		thread->off.nr = is_stopped ? CALL_IS_STOP : call_of(thread, task);
	}
}

// The present task wakes it, or an interrupt does that came meanwhile.
INLINE void note_waker(struct thread *thread) {
	struct off *off = &thread->off;
	if (!off->t || off->woken)
		return;
	off->waker = namespace ? ids_of((void *)bpf_get_current_task()) : bpf_get_current_pid_tgid();
	bpf_get_current_comm(off->waker_comm, sizeof(off->waker_comm));
}

INLINE void note_woken(struct thread *thread, struct task_struct *task, u64 t, u32 cpu) {
	struct off *off = &thread->off;
	if (!off->t || off->woken)
		return;
	off->woken = t;
	off->throttled = throttled_ns(task);
	pend(thread, cpu);
}

// It has a CPU again.
INLINE void arrive_between(struct thread *thread, struct task_struct *task, u64 t) {
	struct off *off = &thread->off;
	struct between *now = &thread->now;
	if (!off->t) {
		if (thread->state == STATE_RETURNED && now->from)
			now->from = t;
		return;
	}
	unpend(thread);
	u64 woken = off->woken ? off->woken : t, runq = t - woken, quota = 0;
	if (off->woken)
		quota = throttled_ns(task) - off->throttled;
	if (quota > runq)
		quota = runq;
	now->quota += quota;
	now->runq += runq - quota;
	if (woken != off->t && off->nr == CALL_IS_FAULT)
		now->fault += woken - off->t;
	else
		now->blocked += woken - off->t;
	struct event *e = t - off->t >= held_ns ? begin(HELD, t, task->pid, task->tgid) : 0;
	if (e) {
		e->a = off->t;
		e->b = woken;
		e->c = quota;
		e->d = off->nr;
		e->e = off->waker;
		e->f = (u64)task->policy << 32 | (u32)task->prio;
		__builtin_memcpy(e->comm, off->waker_comm, sizeof(e->comm));
		end(e);
	}
	off->t = 0;
}

// The time of a page fault is its own, however much of it the thread slept, which is counted already; waiting for a CPU
// stays what it is.
SEC("fentry/handle_mm_fault")
int on_fault(u64 *ctx) {
	struct thread *thread = thread_of(bpf_get_current_pid_tgid());
	if (!thread || !thread->now.from || thread->state == STATE_WAITING)
		return 0;
	struct between *now = &thread->now;
	thread->fault.t = bpf_ktime_get_ns();
	thread->fault.off = now->runq + now->quota;
	thread->fault.asleep = now->fault;
	return 0;
}

SEC("fexit/handle_mm_fault")
int on_fault_end(u64 *ctx) {
	struct thread *thread = thread_of(bpf_get_current_pid_tgid());
	if (!thread || !thread->fault.t)
		return 0;
	struct between *now = &thread->now;
	now->fault = thread->fault.asleep + bpf_ktime_get_ns() - thread->fault.t - (now->runq + now->quota - thread->fault.off);
	thread->fault.t = 0;
	return 0;
}
