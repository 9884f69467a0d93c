// Processes that begin, replace their program, or end.
SEC("tp_btf/sched_process_fork")
int on_fork(u64 *ctx) {
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	u32 from = parent->tgid, to = child->tgid, one = 1;
	if (from == to || !is_target(from) || (!follow && !is_starting(from)))
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
