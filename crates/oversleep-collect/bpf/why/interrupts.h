// What each CPU did last, in case a timer is late: interrupts, softirqs, idle states.
SEC("tp_btf/local_timer_entry")
int on_local_timer(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->timer_irq = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int on_irq(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (!cpu)
		return 0;
	struct irqaction *action = (void *)ctx[1];
	u64 t = bpf_ktime_get_ns();
	cpu->irq_in = t;
	cpu->irq_out = 0;
	cpu->irq = (u32)ctx[0];
	// Where the processor's own timer has no tracepoint, its interrupt comes this way.
	if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0))
		cpu->timer_irq = t;
	bpf_probe_read_kernel_str(cpu->irq_name, sizeof(cpu->irq_name), action->name);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_end(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->irq_out = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_entry")
int on_softirq(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu) {
		cpu->soft = ctx[0];
		cpu->soft_in = bpf_ktime_get_ns();
		cpu->soft_out = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int on_softirq_end(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu)
		cpu->soft_out = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/cpu_idle")
int on_idle(u64 *ctx) {
	struct cpu *cpu = this_cpu();
	if (cpu) {
		// 0 is "not idle" here; the kernel's states count from 0 and leaving is −1.
		cpu->idle = (u32)ctx[0] + 1;
		cpu->idle_at = bpf_ktime_get_ns();
	}
	return 0;
}
