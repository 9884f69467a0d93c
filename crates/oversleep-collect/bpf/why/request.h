// What a call requests: its arguments, read as the program passed them.
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
