    .pushsection .rodata.oversleep_emulate, "a", @progbits
    // Functions of the C library, for programs that nobody may trace: a library that is loaded before it has them under its
    // names (`preload.rs`). Each leads to the code of a place that waits often, with a site of its own.
    .set ovs_c_data, 0x3000
    .set ovs_c_functions, ovs_c_data + 0x80
    .set ovs_c_sites, ovs_c_data + 0x200
    .set ovs_c_site, 0x180

    // Where the C library has `pthread_setcanceltype`; 0 if it has none.
    .set ovs_c_set_cancel_type, ovs_c_data + 0xb8

    // \how is what happens around the code that follows: a frame, from which the stack is unwound (`frames.rs` has the
    // same instructions), and for a function that is a cancellation point, what makes it one.
    .macro ovs_c name, site, how=cancellable
    .balign 16
    .globl oversleep_c_\name
    .hidden oversleep_c_\name
oversleep_c_\name:
    push rbp
    mov rbp, rsp
    lea rax, [rip + 5f]
    jmp oversleep_c_\how
5:
    .if \site >= 0
    lea r11, [rip + oversleep_trampolines + ovs_c_sites + \site * ovs_c_site]
    .endif
    .endm

oversleep_c_framed:
    call rax
    leave
    .globl oversleep_c_framed_end
    .hidden oversleep_c_framed_end
oversleep_c_framed_end:
    ret

    // As the C library's own functions were until 2.40: a thread can be cancelled at every moment meanwhile.
oversleep_c_cancellable:
    cmp qword ptr [rip + oversleep_trampolines + ovs_c_set_cancel_type], 0
    je oversleep_c_framed
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push rax
    sub rsp, 8
    mov edi, 1
    mov rsi, rsp
    call [rip + oversleep_trampolines + ovs_c_set_cancel_type]
    mov rax, [rsp + 8]
    mov r9, [rsp + 16]
    mov r8, [rsp + 24]
    mov rcx, [rsp + 32]
    mov rdx, [rsp + 40]
    mov rsi, [rsp + 48]
    mov rdi, [rsp + 56]
    call rax
    mov [rsp + 8], rax
    mov edi, [rsp]
    xor esi, esi
    call [rip + oversleep_trampolines + ovs_c_set_cancel_type]
    mov rax, [rsp + 8]
    leave
    .globl oversleep_c_cancellable_end
    .hidden oversleep_c_cancellable_end
oversleep_c_cancellable_end:
    ret

    // A time that can't be read is the kernel's to refuse: it copies a set of signals before it refuses to use it.
    .macro ovs_c_readable register, slow
    push rax
    push rdi
    push rsi
    push rdx
    push rcx
    push r10
    push r11
    mov rsi, \register
    mov edi, -1
    xor edx, edx
    mov r10d, 8
    mov eax, 14
    syscall
    cmp eax, -14
    je 7f
    add rsi, 8
    mov eax, 14
    syscall
    cmp eax, -14
7:
    pop r11
    pop r10
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    pop rax
    je \slow
    .endm

    ovs_c nanosleep, 0
    mov eax, 35
    ovs_c_readable rdi, oversleep_c_slow
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_nanosleep

    // The C library itself refuses the clock of a thread's CPU time.
    ovs_c clock_nanosleep, 1
    cmp edi, 3
    je oversleep_c_invalid
    mov r10, rcx
    mov eax, 230
    ovs_c_readable rdx, oversleep_c_slow_error
    lea rcx, [rip + oversleep_c_error]
    jmp oversleep_site_clock_nanosleep

    ovs_c poll, 2
    mov eax, 7
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_milliseconds_rdx

    ovs_c ppoll, 3
    mov r10, rcx
    mov r8d, 8
    mov eax, 271
    ovs_c_readable rdx, oversleep_c_slow
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_time_rdx

    ovs_c select, 4
    mov r10, rcx
    mov eax, 23
    ovs_c_readable r8, oversleep_c_slow
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_select

    // The kernel takes the mask and its size as a pair.
    ovs_c pselect, 5
    mov r10, rcx
    sub rsp, 16
    mov [rsp], r9
    mov qword ptr [rsp + 8], 8
    mov r9, rsp
    mov eax, 270
    ovs_c_readable r8, oversleep_c_slow_pselect
    lea rcx, [rip + oversleep_c_pselect_returns]
    jmp oversleep_site_time_r8

    ovs_c epoll_wait, 6
    mov r10, rcx
    mov eax, 232
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_milliseconds_r10

    ovs_c epoll_pwait, 7
    mov r10, rcx
    mov r9d, 8
    mov eax, 281
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_milliseconds_r10

    ovs_c epoll_pwait2, 8
    mov r10, rcx
    mov r9d, 8
    mov eax, 441
    ovs_c_readable r10, oversleep_c_slow
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_time_r10

    ovs_c syscall, 9, framed
    mov rax, rdi
    mov rdi, rsi
    mov rsi, rdx
    mov rdx, rcx
    mov r10, r8
    mov r8, r9
    mov r9, [rbp + 16]
    cmp rax, 202
    jne oversleep_c_slow
    ovs_c_readable r10, oversleep_c_slow
    lea rcx, [rip + oversleep_c_returns]
    jmp oversleep_site_futex

    // The call as it is, and its result as C has it.
    .globl oversleep_c_slow
    .hidden oversleep_c_slow
oversleep_c_slow:
    syscall
oversleep_c_returns:
    cmp rax, -4095
    jae 1f
    ret
1:
    neg eax
    push rax
    call [rip + oversleep_trampolines + ovs_c_functions]
    pop rcx
    mov [rax], ecx
    mov rax, -1
    ret

    .globl oversleep_c_slow_pselect
    .hidden oversleep_c_slow_pselect
oversleep_c_slow_pselect:
    syscall
oversleep_c_pselect_returns:
    add rsp, 16
    jmp oversleep_c_returns

    .globl oversleep_c_slow_error
    .hidden oversleep_c_slow_error
oversleep_c_slow_error:
    syscall
oversleep_c_error:
    neg eax
    ret
oversleep_c_invalid:
    mov eax, 22
    ret

    ovs_c usleep, -1, framed
    mov eax, edi
    xor edx, edx
    mov ecx, 1000000
    div ecx
    imul edx, edx, 1000
    sub rsp, 24
    mov [rsp], rax
    mov [rsp + 8], rdx
    mov rdi, rsp
    xor esi, esi
    call oversleep_c_nanosleep
    add rsp, 24
    ret

    // Functions that wait inside the C library get another deadline. \real is the number of its own function, \slow calls
    // that with the arguments as they are, with the fourth from r10.
    .macro ovs_c_real name, site, real
    .balign 16
    .globl oversleep_c_slow_\name
    .hidden oversleep_c_slow_\name
oversleep_c_slow_\name:
    mov rcx, r10
    jmp [rip + oversleep_trampolines + ovs_c_functions + 24 + 8 * \real]
    ovs_c \name, \site, framed
    cmp qword ptr [rip + oversleep_trampolines + ovs_c_functions + 24 + 8 * \real], 0
    jne 1f
    push rdi
    push rsi
    push rdx
    push rcx
    push r11
    call oversleep_c_init
    pop r11
    pop rcx
    pop rdx
    pop rsi
    pop rdi
1:
    mov r10, rcx
    xor eax, eax
    lea rcx, [rip + oversleep_c_done]
    jmp oversleep_site_c_\name
    .endm

    ovs_c_real cond_timedwait, 10, 0
    ovs_c_real cond_clockwait, 11, 1
    ovs_c_real sem_timedwait, 12, 2
    ovs_c_real sem_clockwait, 13, 3
oversleep_c_done:
    ret

    // The condition variable knows its clock, not the call: a time of day is decades ahead of any time since the boot.
    ovs_site c_cond_timedwait
    xor ecx, ecx
    cmp qword ptr [rdx], 900000000
    setg cl
    jmp oversleep_deadline_at

    ovs_site c_cond_clockwait
    cmp edx, 1
    ja oversleep_slow
    mov ecx, edx
    xor ecx, 1
    mov rdx, r10
    jmp oversleep_deadline_at

    ovs_site c_sem_timedwait
    mov rdx, rsi
    mov ecx, 1
    jmp oversleep_deadline_at

    ovs_site c_sem_clockwait
    cmp esi, 1
    ja oversleep_slow
    mov ecx, esi
    xor ecx, 1
    jmp oversleep_deadline_at

    .macro ovs_c_entry name, register, real
    ovs_entry c_until_\name
    ovs_absolute 0
    mov \register, rsp
    call [rip + oversleep_trampolines + ovs_c_functions + 24 + 8 * \real]
    ovs_end
    .endm

    ovs_c_entry cond_timedwait, rdx, 0
    ovs_c_entry cond_clockwait, rcx, 1
    ovs_c_entry sem_timedwait, rsi, 2
    ovs_c_entry sem_clockwait, rdx, 3

    // Finds the C library's own functions, which come after ours.
    .macro ovs_c_find name, real
    mov rdi, -1
    lea rsi, [rip + 9f]
    call [rip + oversleep_trampolines + ovs_c_functions + 8]
    mov [rip + oversleep_trampolines + ovs_c_functions + 24 + 8 * \real], rax
    jmp 8f
9:
    .asciz "\name"
8:
    .endm

    .balign 16
    .globl oversleep_c_init
    .hidden oversleep_c_init
oversleep_c_init:
    sub rsp, 8
    ovs_c_find pthread_cond_clockwait, 1
    ovs_c_find sem_timedwait, 2
    ovs_c_find sem_clockwait, 3
    ovs_c_find pthread_cond_timedwait, 0
    // Without a version, an old C library names the function of its oldest version, which is another one.
    mov rax, [rip + oversleep_trampolines + ovs_c_functions + 16]
    test rax, rax
    jz 2f
    mov rdi, -1
    lea rsi, [rip + 3f]
    lea rdx, [rip + 4f]
    call rax
    test rax, rax
    jz 2f
    mov [rip + oversleep_trampolines + ovs_c_functions + 24], rax
2:
    add rsp, 8
    ret
3:
    .asciz "pthread_cond_timedwait"
4:
    .asciz "GLIBC_2.3.2"

    .balign 16
    .globl oversleep_preload_end
    .hidden oversleep_preload_end
oversleep_preload_end:
    .popsection
