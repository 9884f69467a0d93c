// The few kernel types that why.bpf.c reads. Every field is relocated when the program is loaded (CO-RE), so offsets of
// the running kernel are used and fields may be missing; a name after ___ is a flavour that the loader ignores.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef _Bool bool;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u8 __u8;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef u64 __be64;

enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_LRU_HASH = 9, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_ANY = 0 };
enum { BPF_RB_NO_WAKEUP = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cfs_bandwidth {
	u64 throttled_time;
};

struct task_group {
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
};

struct atomic_counter {
	s32 counter;
};

struct signal_struct {
	struct atomic_counter live;
};

struct thread_info {
	unsigned long flags;
	u32 status, cpu;
};

struct ns_common {
	u32 inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	s32 nr;
	struct pid_namespace *ns;
};

struct pid {
	u32 level;
	struct upid numbers[1];
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	s32 prio;
	u32 policy;
	u32 flags;
	u32 nr_cpus_allowed;
	s32 pid;
	s32 tgid;
	char comm[16];
	unsigned long min_flt, maj_flt;
	struct task_group *sched_task_group;
	struct signal_struct *signal;
	struct pid *thread_pid;
	struct task_struct *group_leader;
};

// What a task does on its way out of a call besides sleeping; the field had another name before 5.14.
struct task_struct___state {
	u32 __state;
};

struct task_struct___stops {
	unsigned long jobctl;
};

struct task_struct___old_state {
	unsigned long state;
};

union __sifields {
	struct {
		s32 _pid;
	} _kill;
};

struct kernel_siginfo {
	s32 si_code;
	union __sifields _sifields;
};

// 6.18: a task is throttled on its way back to user space.
struct task_struct___throttled {
	bool throttled;
};

// The CPU was a field of the task before 5.16.
struct task_struct___cpu {
	u32 cpu;
};

struct hrtimer_clock_base {
	s32 clockid;
	s64 offset;
};

struct timerqueue_node {
	s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
	s64 _softexpires;
	struct hrtimer_clock_base *base;
};

// Since 7.1 the node is a linked one under the same name.
struct timer_list {
	unsigned long expires;
};

struct irqaction {
	const char *name;
};

struct pt_regs___x86 {
	unsigned long di, si, dx, r10, r8, r9, bx, cx, bp, orig_ax;
};

struct pt_regs___arm64 {
	u64 regs[31];
	u64 orig_x0;
	s32 syscallno;
};

// The present task can be read directly since 5.11, and a task's registers can be had since 5.15.
enum bpf_func_id___task {
	BPF_FUNC_get_current_task_btf___task = 158,
	BPF_FUNC_task_pt_regs___task = 175,
};

#pragma clang attribute pop
