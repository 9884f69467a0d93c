    // Waits from a place in a program's code that makes many: that place leads here without a stop. rcx is where to return
    // to, and r11 the site, as `sites.rs` has it: a stub, where the call that stops is, the head of its region, and a rule
    // for spans and one for deadlines. Whatever isn't plain is left to the call that stops.
    .set ovs_site_slow, 0x40
    .set ovs_site_head, 0x48
    .set ovs_site_span, 0x60
    .set ovs_site_deadline, 0xf0
    // A head: a generation, whether its process waits natively, and two grids, of which the generation's lowest bit names
    // the one in force.
    .set ovs_head_off, 8
    .set ovs_head_grids, 16
    // Where the two words are that the making of a region takes, and the path of the counters.
    .set ovs_install, 0x2800
    .set ovs_region_size, 0x4000
    // One of so many is left to the call that stops, so that the report has its length. A rule says which one, or none.
    .set ovs_sample, 255
    // An entry's own beginning, which is done here.
    .set ovs_begun, oversleep_abs_rdx_begun - oversleep_abs_rdx

    // The moment on the clock whose number is in edi, in rax.
    .macro ovs_now
    mov eax, 228
    mov rsi, rsp
    syscall
    imul rax, [rsp], 1000000000
    add rax, [rsp + 8]
    .endm

    // The two words that a program points to. If it may not read them, the supervisor finds the thread stopped by a signal
    // between these marks, and leads it to the call that stops, which fails as the kernel has it.
    .globl oversleep_load
    .hidden oversleep_load
oversleep_load:
    mov rax, [rdx]
    mov rdx, [rdx + 8]
    .globl oversleep_loaded
    .hidden oversleep_loaded
oversleep_loaded:
    ret

    // The call that stops.
    .globl oversleep_slow
    .hidden oversleep_slow
oversleep_slow:
    mov r11, [rsp + 40]
    mov rcx, [r11 + ovs_site_slow]
    mov [rsp + 104], rcx
    mov rax, [rsp + 32]
    ovs_end

    // A deadline that is past: the call as it is. Some rules are of no call.
oversleep_as_is:
    cmp qword ptr [r8 + ovs_rule_number], -2
    je oversleep_slow
    ovs_restore
    mov rax, [rsp + 32]
    syscall
    ovs_end

    // The time at rdx, whose fraction has units of \unit ns, in rax.
    .macro ovs_time unit
    test rdx, rdx
    jz oversleep_slow
    call oversleep_load
    cmp rax, 2000000000
    ja oversleep_slow
    cmp rdx, 1000000000 / \unit
    jae oversleep_slow
    imul rax, rax, 1000000000
    .if \unit > 1
    imul rdx, rdx, \unit
    .endif
    add rax, rdx
    .endm

    // A span at rdx.
oversleep_span_at:
    ovs_time 1
    // A span in rax.
oversleep_span:
    lea r8, [r11 + ovs_site_span]
    cmp qword ptr [r8 + ovs_rule_is_valid], 0
    je oversleep_slow
    test rax, rax
    jle oversleep_slow
    mov qword ptr [rsp + 16], 0
    mov [rsp + 24], rax
    mov edi, 1
    ovs_now
    mov rsi, rax
    jmp oversleep_ends

    // A deadline at rdx, on the time of day where ecx isn't 0. At 16 is how far its clock is ahead of the monotonic one.
oversleep_deadline_at:
    lea r8, [r11 + ovs_site_deadline]
    cmp qword ptr [r8 + ovs_rule_is_valid], 0
    je oversleep_slow
    ovs_time 1
    mov [rsp + 24], rax
    mov qword ptr [rsp + 16], 0
    test ecx, ecx
    jz 1f
    xor edi, edi
    ovs_now
    mov [rsp + 16], rax
    mov edi, 1
    ovs_now
    sub [rsp + 16], rax
    mov rcx, [rsp + 16]
    sub [rsp + 24], rcx
    jmp 2f
1:
    mov edi, 1
    ovs_now
2:
    mov rsi, rax
    mov r11, [rsp + 40]
    mov r9, [r11 + ovs_site_head]
3:
    mov r10, [r9]
    mov ecx, r10d
    and ecx, 1
    shl ecx, 4
    lea rcx, [r9 + rcx + ovs_head_grids]
    mov rax, rsi
    sub rax, [rcx + 8]
    xor edx, edx
    div qword ptr [rcx]
    mov rax, rsi
    sub rax, rdx
    cmp r10, [r9]
    jne 3b
    // What no tick ends is past when it is past, and not only at the tick after.
    cmp qword ptr [r8 + ovs_rule_kind], ovs_by_timer
    cmove rax, rsi
    mov rdi, [rsp + 24]
    cmp rdi, rax
    jle oversleep_as_is
    sub rdi, rsi
    mov eax, 1
    cmp rdi, rax
    cmovl rdi, rax
    mov [rsp + 24], rdi

    // rsi: now, r8: the rule; at 24 is the span.
oversleep_ends:
    mov r11, [rsp + 40]
    mov r9, [r11 + ovs_site_head]
1:
    mov rdi, [rsp + 24]
    mov rax, [r9]
    mov [rsp + 48], rax
    and eax, 1
    shl eax, 4
    lea rcx, [r9 + rax + ovs_head_grids]
    call oversleep_end_of
    mov rdx, [r9]
    cmp rdx, [rsp + 48]
    jne 1b
    mov rdi, rax
    mov rdx, [r8 + ovs_rule_counter]
    mov ecx, 1
    lock xadd [rdx], rcx
    and ecx, ovs_sample
    cmp rcx, [r8 + ovs_rule_sample]
    je oversleep_slow
    // Where the entry wants no number, it wants the native end.
    mov rax, [r8 + ovs_rule_number]
    cmp rax, -1
    jne 2f
    mov rax, [rsp + 24]
    add rax, rsi
2:
    mov [rsp + 32], rax
    add rdi, [rsp + 16]
    mov [rsp + 40], rdi
    cmp qword ptr [r8 + ovs_rule_sleeps], 0
    jne oversleep_sleep
    mov r11, [r8 + ovs_rule_entry]
    lea r11, [r11 + ovs_begun]
    ovs_restore
    jmp r11

    // A sleep, here and not at its entry, because it counts those that end a tick or more too late.
    .globl oversleep_sleep
    .hidden oversleep_sleep
oversleep_sleep:
    ovs_sleep
    test rax, rax
    jnz 2f
    mov edi, 1
    ovs_now
    sub rax, [rsp + 40]
    mov rdx, [r9]
    and edx, 1
    shl edx, 4
    cmp rax, [r9 + rdx + ovs_head_grids]
    jl 1f
    mov rdx, [r8 + ovs_rule_counter]
    lock inc qword ptr [rdx + 8]
1:
    xor eax, eax
    ovs_end
2:
    cmp qword ptr [r8 + ovs_rule_sleeps], 1
    je oversleep_nanosleep_ended
    jmp oversleep_clock_nanosleep_ended

    .macro ovs_site name
    .balign 16
    .globl oversleep_site_\name
    .hidden oversleep_site_\name
oversleep_site_\name:
    ovs_begin
    // Before any call of ours: a process that filters its own may be killed for one.
    mov rcx, [r11 + ovs_site_head]
    cmp qword ptr [rcx + ovs_head_off], 0
    jne oversleep_slow
    .endm

    ovs_site nanosleep
    mov rdx, rdi
    jmp oversleep_span_at

    // Clocks 0 and 1: the time of day and the monotonic one.
    ovs_site clock_nanosleep
    cmp edi, 1
    ja oversleep_slow
    test esi, esi
    jz oversleep_span_at
    cmp esi, 1
    jne oversleep_slow
    mov ecx, edi
    xor ecx, 1
    jmp oversleep_deadline_at

    // WAIT, and WAIT_BITSET on either clock. Others stop, and the kernel refuses what it doesn't know.
    ovs_site futex
    mov rdx, r10
    mov ecx, esi
    and ecx, -129
    jz oversleep_span_at
    xor ecx, 9
    test ecx, -257
    jnz oversleep_slow
    jmp oversleep_deadline_at

    ovs_site milliseconds_rdx
    movsxd rax, edx
    imul rax, rax, 1000000
    jmp oversleep_span

    ovs_site milliseconds_r10
    movsxd rax, r10d
    imul rax, rax, 1000000
    jmp oversleep_span

    ovs_site time_rdx
    jmp oversleep_span_at

    ovs_site time_r10
    mov rdx, r10
    jmp oversleep_span_at

    ovs_site time_r8
    mov rdx, r8
    jmp oversleep_span_at

    ovs_site select
    mov rdx, r8
    ovs_time 1000
    jmp oversleep_span

    // A region of sites and a view of the counters, mapped where the data say; then the call is made again. rax is its
    // number.
    ovs_entry install
    lea rax, [rip + oversleep_trampolines + ovs_install]
    mov rdi, [rax]
    mov esi, ovs_region_size
    mov edx, 5
    mov r10d, 0x100022
    mov r8, -1
    xor r9d, r9d
    mov eax, 9
    syscall
    lea rdi, [rip + oversleep_trampolines + ovs_install + 8]
    mov esi, 0x80002
    xor edx, edx
    mov eax, 2
    syscall
    mov [rsp], rax
    mov r8, rax
    // A page of the process's own where the counters can't be opened.
    mov r10d, 0x100001
    mov edx, 0x100022
    test rax, rax
    cmovs r10d, edx
    lea rax, [rip + oversleep_trampolines + ovs_install]
    mov rdi, [rax]
    add rdi, ovs_region_size
    mov esi, 0x1000
    mov edx, 3
    xor r9d, r9d
    mov eax, 9
    syscall
    mov rdi, [rsp]
    test rdi, rdi
    js 2f
    mov eax, 3
    syscall
2:
    sub qword ptr [rsp + 104], 2
    mov rax, [rsp + 32]
    ovs_end
