// Signals that interrupt waits, and who sent them.
INLINE u64 signal_to(u32 tgid, u32 number) {
	return (u64)tgid << 32 | number;
}

// The sender is the present task, unless a timer or the kernel sends it: then its code says so.
SEC("tp_btf/signal_generate")
int on_signal(u64 *ctx) {
	struct task_struct *task = (void *)ctx[2];
	u32 tgid = task->tgid;
	if (!everyone && !is_known(tgid))
		return 0;
	struct kernel_siginfo *info = (void *)ctx[1];
	u64 key = signal_to(tgid, ctx[0]);
	struct sender sender = {};
	// 0 stands for a user's signal without details, 1 for one of the kernel.
	if ((u64)info == 1)
		sender.code = 0x80;
	else if ((u64)info > 1)
		sender.code = BPF_CORE_READ(info, si_code);
	bpf_get_current_comm(sender.comm, sizeof(sender.comm));
	bpf_map_update_elem(&senders, &key, &sender, BPF_ANY);
	return 0;
}

// A signal reaches a thread whose call has ended for it.
SEC("tp_btf/signal_deliver")
int on_signal_delivered(u64 *ctx) {
	u64 id = bpf_get_current_pid_tgid();
	struct thread *thread = thread_of(id);
	if (!thread || thread->state != STATE_RETURNED)
		return 0;
	struct kernel_siginfo *info = (void *)ctx[1];
	s32 code = BPF_CORE_READ(info, si_code);
	u64 key = signal_to(id >> 32, ctx[0]);
	struct sender *sender = bpf_map_lookup_elem(&senders, &key);
	struct event *e = begin(SIGNAL, bpf_ktime_get_ns(), id, id >> 32);
	if (!e)
		return 0;
	e->x = ctx[0];
	e->a = (s64)code;
	// Codes up to 0 are those of processes, but for a timer's.
	if (code <= 0 && code != -2)
		e->b = BPF_CORE_READ(info, _sifields._kill._pid);
	if (e->b && sender && sender->code == code)
		__builtin_memcpy(e->comm, sender->comm, sizeof(e->comm));
	e->f = ids_of((void *)bpf_get_current_task());
	end(e);
	return 0;
}
