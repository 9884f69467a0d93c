// Waking, the run queue, and who has the CPU.
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
			thread->has_place = 0;
			thread->before.until = 0;
		}
		send_before(thread, bpf_ktime_get_ns(), tid, task->tgid);
		thread->off.t = 0;
		thread->sent = 0;
		thread->state = STATE_WAITING;
		thread->due = cpu->firing_due;
	}
	if (!thread)
		return 0;
	if (thread->state != STATE_WAITING) {
		note_waker(thread);
		return 0;
	}
	thread->sent++;
	struct steps *steps = &thread->steps;
	// The freezer stops threads where they sleep, and their timers don't wake them then.
	bool is_frozen = state_of(task) & TASK_FROZEN;
	if (thread->is_kept && !firing && !is_frozen && !steps->waking && !steps->queued && !steps->running) {
		steps->waking = bpf_ktime_get_ns();
		if (!steps->fired)
			bpf_get_current_comm(steps->waker_comm, sizeof(steps->waker_comm));
		return 0;
	}
	send_kept(thread, tid, task->tgid);
	struct event *e = begin(WAKING, bpf_ktime_get_ns(), tid, task->tgid);
	if (!e)
		return 0;
	e->x = thread->nr;
	e->a = firing;
	e->b = thread->entered;
	e->c = is_frozen;
	e->f = ids_of(task);
	if (!firing)
		bpf_get_current_comm(&e->d, sizeof(e->comm));
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	end(e);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_queued(u64 *ctx) {
	struct task_struct *task = (void *)ctx[0];
	u32 tid = task->pid;
	struct thread *thread = thread_of(tid);
	if (!thread)
		return 0;
	u64 t = bpf_ktime_get_ns();
	u32 target = cpu_of(task);
	if (thread->state != STATE_WAITING) {
		note_woken(thread, task, t, target);
		return 0;
	}
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
			e->x = ctx[0] & 1 ? RUN_PREEMPTED : 0;
			if (prev->flags & PF_KTHREAD)
				e->x |= RUN_KERNEL;
			e->f = ids_of(prev);
			if ((namespace ? e->f >> 32 : prev->tgid) == own_tgid)
				e->x |= RUN_OWN;
			bpf_probe_read_kernel(e->comm, sizeof(e->comm), prev->comm);
			end(e);
		}
	}
	struct thread *thread = prev_tid ? thread_of(prev_tid) : 0;
	if (thread && !(ctx[0] & 1))
		keep_place(ctx, thread, prev_tid);
	if (thread && thread->state >= STATE_WAITING) {
		u32 flags = 0;
		struct task_struct___throttled *new = (void *)prev;
		if (bpf_core_field_exists(new->throttled) && BPF_CORE_READ(new, throttled))
			flags |= OUT_THROTTLED;
		// The state has two names and either may be set by a wake-up already; preemption is certain.
		if (ctx[0] & 1)
			flags |= OUT_RUNNABLE;
		if (thread->state == STATE_RETURNED)
			flags |= stops(prev);
		if (thread->state == STATE_RETURNED && !(flags & ~OUT_RUNNABLE)) {
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
	if (thread && thread->state != STATE_WAITING)
		leave_between(thread, prev, t, ctx[0] & 1);
	thread = next_tid ? thread_of(next_tid) : 0;
	if (thread && thread->state != STATE_WAITING)
		arrive_between(thread, next, t);
	if (thread && thread->state >= STATE_WAITING) {
		unpend(thread);
		thread->sent++;
		struct steps *steps = &thread->steps;
		if (thread->is_kept && !steps->running && (steps->waking || steps->queued)) {
			steps->running = t;
			steps->running_throttled = throttled_ns(next);
			return 0;
		}
		send_kept(thread, next_tid, next->tgid);
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
