// Sends events, each counted, and the steps of a wait that were kept.
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

INLINE void send_before(struct thread *thread, u64 t, u32 tid, u32 tgid) {
	struct between *before = &thread->before;
	struct event *e = before->until ? begin(BETWEEN, t, tid, tgid) : 0;
	if (!e)
		return;
	e->x = before->faults;
	e->a = before->from;
	e->b = before->until;
	e->c = before->runq;
	e->d = before->quota;
	e->e = before->blocked;
	e->f = before->fault;
	end(e);
}

// Sends the steps that were kept, one by one: the wait doesn't go its usual way, or its end won't be seen. What follows
// is sent when it happens.
static __attribute__((noinline)) int send_kept(struct thread *thread, u32 tid, u32 tgid) {
	if (!thread || !thread->is_kept)
		return 0;
	thread->is_kept = 0;
	struct steps *steps = &thread->steps;
	send_before(thread, steps->armed, tid, tgid);
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
		__builtin_memcpy(&e->d, steps->waker_comm, sizeof(steps->waker_comm));
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

// Notes where in the kernel a thread goes to sleep. What holds it up on its way out of the call is no such place.
INLINE void keep_place(void *ctx, struct thread *thread, u32 tid) {
	if (!stacks || thread->has_place || (thread->state != STATE_ENTERED && thread->state != STATE_WAITING))
		return;
	struct place *place = bpf_map_lookup_elem(&places, &tid);
	if (!place) {
		if (bpf_map_update_elem(&places, &tid, (void *)&no_place, BPF_ANY))
			return;
		place = bpf_map_lookup_elem(&places, &tid);
		if (!place)
			return;
	}
	place->bytes = bpf_get_stack(ctx, place->frames, sizeof(place->frames), 0);
	thread->has_place = 1;
}

INLINE s64 copy_place(u64 *frames, struct place *place) {
	__builtin_memcpy(frames, place->frames, sizeof(place->frames));
	return place->bytes;
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

// Sends both stacks of a thread whose call ends: where it waited, and where it was called from.
INLINE void send_stacks(void *ctx, struct thread *thread, u64 t, u64 id) {
	u32 tid = id, tgid = id >> 32;
	send_kept(thread, tid, tgid);
	struct place *place = thread->has_place ? bpf_map_lookup_elem(&places, &tid) : 0;
	if (place)
		SEND_STACK(t, tid, tgid, 0, copy_place(s->frames, place));
	SEND_STACK(t, tid, tgid, 1, bpf_get_stack(ctx, s->frames, sizeof(s->frames), USER_STACK));
}
