// Timers: whose they are, when they are armed, and when they fire.
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

// The clock that a timer expires by, as a part of the form: 0 where it has none.
INLINE u32 clock_in_form(struct hrtimer *timer) {
	return (u32)(timer->base->clockid + 1) << 16;
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
		end_between(thread, t);
	}
	if (stacks) {
		thread->due = soft - offset;
		if (thread->requested == REQUEST_SPAN && thread->entered + thread->request < thread->due)
			thread->due = thread->entered + thread->request;
	}
	thread->state = STATE_WAITING;
	thread->has_slept = 0;
	thread->has_place = 0;
	thread->timer = timer;
	thread->sent++;
	own(stack_of(timer), id, kind >> 8 & 0xff);
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 form = (u32)thread->requested | kind;
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
		arm(thread, t, id, key, TIMER_STACK << 8 | clock_in_form(timer), timer->_softexpires, timer->node.expires, timer->base->offset);
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
		e->c = thread->requested | clock_in_form(timer);
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
	arm(thread, t, id, key, TIMER_WHEEL << 8, soft, soft, 0);
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
