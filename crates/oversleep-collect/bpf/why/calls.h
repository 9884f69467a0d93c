// Entry into a call, and its end.
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
	thread->has_place = 0;
	thread->state = STATE_ENTERED;
	end_between(thread, t);
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
	if (wants_stack(thread, t))
		send_stacks(ctx, thread, t, id);
	thread->state = STATE_RETURNED;
	thread->timer = 0;
	thread->sent++;
	unpend(thread);
	begin_between(thread, t);
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
		__builtin_memcpy(&whole->before, &thread->before, sizeof(whole->before));
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
