// Which tasks are followed, under which ids, and what is known of them.
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
	u32 *how = bpf_map_lookup_elem(&followed, &id);
	if (!id || !how)
		return 0;
	if (*how != STARTS)
		bpf_map_update_elem(&targets, &tgid, &one, BPF_ANY);
	return 1;
}

// Whether the present process starts the one to follow.
INLINE bool is_starting(u32 tgid) {
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 *how;
	if (namespace) {
		u32 id = id_in_namespace(BPF_CORE_READ(task, group_leader));
		how = bpf_map_lookup_elem(&followed, &id);
	} else {
		how = bpf_map_lookup_elem(&targets, &tgid);
	}
	return how && *how == STARTS;
}

INLINE struct thread *thread_of(u32 tid) {
	return bpf_map_lookup_elem(&threads, &tid);
}

INLINE struct thread *make_thread(u32 tid) {
	struct thread *thread = thread_of(tid);
	if (thread)
		return thread;
	if (bpf_map_update_elem(&threads, &tid, (void *)&no_thread, BPF_ANY)) {
		struct cpu *cpu = this_cpu();
		if (cpu)
			__sync_fetch_and_add(&cpu->full, 1);
		return 0;
	}
	thread = thread_of(tid);
	if (thread)
		thread->nr = ~0u;
	return thread;
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
