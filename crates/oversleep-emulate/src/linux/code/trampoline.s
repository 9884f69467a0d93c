    .pushsection .rodata.oversleep_emulate, "a", @progbits
    .balign 64
    .globl oversleep_trampolines
    .hidden oversleep_trampolines
oversleep_trampolines:

    // Saved: r9 at 56, r8 at 64, r10 at 72, rdx at 80, rsi at 88, rdi at 96, where to return to at 104, flags at 112.
    // Own: a time or two at 0, rax at 32, the end at 40, the result at 48.
    .macro ovs_begin
    lea rsp, [rsp - 128]
    pushfq
    push rcx
    push rdi
    push rsi
    push rdx
    push r10
    push r8
    push r9
    sub rsp, 56
    mov [rsp + 32], rax
    mov [rsp + 40], r11
    .endm

    .macro ovs_end
    add rsp, 56
    pop r9
    pop r8
    pop r10
    pop rdx
    pop rsi
    pop rdi
    pop rcx
    popfq
    lea rsp, [rsp + 128]
    jmp rcx
    .endm

    // The arguments as the program has them.
    .macro ovs_restore
    mov r9, [rsp + 56]
    mov r8, [rsp + 64]
    mov r10, [rsp + 72]
    mov rdx, [rsp + 80]
    mov rsi, [rsp + 88]
    mov rdi, [rsp + 96]
    .endm

    // rax in ns to seconds in rax and ns in rdx.
    .macro ovs_split
    xor edx, edx
    mov ecx, 1000000000
    div rcx
    .endm

    // The end as a time at \at.
    .macro ovs_absolute at
    mov rax, [rsp + 40]
    ovs_split
    mov [rsp + \at], rax
    mov [rsp + \at + 8], rdx
    mov rdx, [rsp + 80]
    .endm

    // Sleeps until the end, as every sleep does.
    .macro ovs_sleep
    ovs_absolute 0
    mov edi, 1
    mov esi, 1
    mov rdx, rsp
    xor r10d, r10d
    mov eax, 230
    syscall
    .endm

    // What is left until the moment at \end, \least at least, in rax.
    .macro ovs_left end, least
    mov eax, 228
    mov edi, 1
    mov rsi, rsp
    syscall
    imul rdx, [rsp], 1000000000
    add rdx, [rsp + 8]
    mov rax, [rsp + \end]
    sub rax, rdx
    mov ecx, \least
    cmp rax, rcx
    cmovl rax, rcx
    .endm

    // What is left until the end as a time at \at.
    .macro ovs_relative at, least
    ovs_left 40, \least
    ovs_split
    mov [rsp + \at], rax
    mov [rsp + \at + 8], rdx
    mov rdi, [rsp + 96]
    mov rsi, [rsp + 88]
    mov rdx, [rsp + 80]
    .endm

    // Writes what is left until the moment that rax was, as a time with \unit ns in a second's fraction, to where the word
    // at \to points: by the kernel, which fails where the program may not write. With \faults, the call then does, too;
    // without, nothing is written for a program with the personality STICKY_TIMEOUTS.
    .macro ovs_write_left to, unit, faults=0
    mov [rsp + 48], rax
    .if \faults == 0
    mov eax, 135
    mov edi, 0xffffffff
    syscall
    bt eax, 26
    jc 9f
    .endif
    ovs_left 32, 0
    ovs_split
    mov [rsp], rax
    .if \unit > 1
    mov rax, rdx
    xor edx, edx
    mov ecx, \unit
    div rcx
    mov rdx, rax
    .endif
    mov [rsp + 8], rdx
    mov [rsp + 16], rsp
    mov qword ptr [rsp + 24], 16
    mov rax, [rsp + \to]
    mov [rsp + 32], rax
    mov qword ptr [rsp + 40], 16
    mov eax, 39
    syscall
    mov rdi, rax
    lea rsi, [rsp + 16]
    mov edx, 1
    lea r10, [rsp + 32]
    mov r8d, 1
    xor r9d, r9d
    mov eax, 311
    syscall
    .if \faults
    cmp rax, -14
    je 8f
    .endif
9:
    mov rax, [rsp + 48]
8:
    .endm

    .macro ovs_entry name
    .balign 16
    .globl oversleep_\name
    .hidden oversleep_\name
oversleep_\name:
    ovs_begin
    .globl oversleep_\name\()_begun
    .hidden oversleep_\name\()_begun
oversleep_\name\()_begun:
    .endm

    // Absolute; rax is the number of the call.
    ovs_entry abs_rdx
    ovs_absolute 0
    mov rdx, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    ovs_entry abs_r10
    ovs_absolute 0
    mov r10, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    ovs_entry abs_r8
    ovs_absolute 0
    mov r8, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    // FUTEX_WAIT becomes FUTEX_WAIT_BITSET, which takes a deadline; private stays private.
    ovs_entry futex_span
    ovs_absolute 0
    and esi, 128
    or esi, 9
    mov r10, rsp
    mov r9d, 0xffffffff
    mov eax, 202
    syscall
    ovs_end

    // Relative; rax is the number of the call.
    ovs_entry rel_rdx
    ovs_relative 0, 0
    mov rdx, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    ovs_entry rel_r10
    ovs_relative 0, 0
    mov r10, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    ovs_entry rel_r8
    ovs_relative 0, 0
    mov r8, rsp
    mov rax, [rsp + 32]
    syscall
    ovs_end

    // epoll_wait takes no mask, epoll_pwait2 takes one of the same size.
    ovs_entry epoll_wait
    ovs_relative 0, 0
    mov r10, rsp
    xor r8d, r8d
    mov r9d, 8
    mov eax, 441
    syscall
    ovs_end

    ovs_entry poll
    ovs_relative 0, 0
    mov rdx, rsp
    xor r10d, r10d
    mov r8d, 8
    mov eax, 271
    syscall
    ovs_end

    // rax is the native end from here on: what is left is counted from that.
    ovs_entry ppoll
    ovs_relative 0, 0
    mov rdx, rsp
    mov eax, 271
    syscall
    ovs_write_left 80, 1
    ovs_end

    ovs_entry select
    ovs_relative 0, 0
    mov r8, rsp
    xor r9d, r9d
    mov eax, 270
    syscall
    ovs_write_left 64, 1000
    ovs_end

    ovs_entry pselect
    ovs_relative 0, 0
    mov r8, rsp
    mov eax, 270
    syscall
    ovs_write_left 64, 1
    ovs_end

    // A span of sleep becomes a deadline; only a signal leaves a rest.
    ovs_entry nanosleep
    ovs_sleep
oversleep_nanosleep_ended:
    cmp rax, -4
    jne 2f
    cmp qword ptr [rsp + 88], 0
    je 2f
    ovs_write_left 88, 1, 1
2:
    ovs_end

    ovs_entry clock_nanosleep
    ovs_sleep
oversleep_clock_nanosleep_ended:
    cmp rax, -4
    jne 2f
    cmp qword ptr [rsp + 72], 0
    je 2f
    ovs_write_left 72, 1, 1
2:
    ovs_end

    // Receives from a socket that has a timeout, once there is something; the lower half of rax is the number of the call.
    // Another thread may take it first: then it waits again, for the rest. A call that takes MSG_DONTWAIT is made without
    // waiting first: an error that doesn't depend on what comes is there at once.
    ovs_entry receive
    mov dword ptr [rsp + 24], 0
    cmp eax, 43
    je 4f
    cmp eax, 288
    jne 8f
4:
    ovs_relative 0, 0
    mov [rsp + 16], edi
    mov dword ptr [rsp + 20], 1
    lea rdi, [rsp + 16]
    mov esi, 1
    mov rdx, rsp
    xor r10d, r10d
    mov r8d, 8
    mov eax, 271
    syscall
    test rax, rax
    js 2f
    mov rax, -11
    jz 2f
    ovs_restore
    // An error or the end, which the call itself knows best; and a socket that says so again and again.
    mov rax, [rsp + 32]
    test byte ptr [rsp + 22], 1
    jz 3f
    inc dword ptr [rsp + 24]
    cmp dword ptr [rsp + 24], 64
    ja 3f
    // MSG_DONTWAIT, where the call takes it; read becomes recvfrom.
8:
    cmp eax, 47
    je 5f
    cmp eax, 45
    je 6f
    cmp eax, 299
    je 6f
    test eax, eax
    jnz 3f
    mov eax, 45
    xor r10d, r10d
    xor r8d, r8d
    xor r9d, r9d
6:
    or r10d, 64
    jmp 7f
5:
    or edx, 64
7:
    syscall
    cmp rax, -11
    je 4b
    jmp 2f
3:
    syscall
2:
    ovs_end

    // Timers; rax is the interval. A value of nothing would disarm them. What was left of the former timer was read before.
    .macro ovs_interval
    mov rax, [rsp + 32]
    ovs_split
    mov [rsp], rax
    mov [rsp + 8], rdx
    mov rdx, rsp
    .endm

    ovs_entry timerfd_span
    ovs_relative 16, 1
    ovs_interval
    xor r10d, r10d
    mov eax, 286
    syscall
    ovs_end

    ovs_entry timerfd_until
    ovs_absolute 16
    ovs_interval
    xor r10d, r10d
    mov eax, 286
    syscall
    ovs_end

    ovs_entry timer_span
    ovs_relative 16, 1
    ovs_interval
    xor r10d, r10d
    mov eax, 223
    syscall
    ovs_end

    ovs_entry timer_until
    ovs_absolute 16
    ovs_interval
    xor r10d, r10d
    mov eax, 223
    syscall
    ovs_end

    // In microseconds, one at least.
    ovs_entry setitimer
    ovs_left 40, 1000
    ovs_split
    mov [rsp + 16], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov [rsp + 24], rax
    mov rax, [rsp + 32]
    ovs_split
    mov [rsp], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov [rsp + 8], rax
    mov rdi, [rsp + 96]
    xor edx, edx
    mov rsi, rsp
    mov eax, 38
    syscall
    ovs_end

    // alarm becomes setitimer, with the rest of the timer before in whole seconds: r11 is the end.
    ovs_entry alarm
    ovs_left 40, 1000
    ovs_split
    mov [rsp + 16], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov [rsp + 24], rax
    xor eax, eax
    mov [rsp], rax
    mov [rsp + 8], rax
    xor edi, edi
    mov rsi, rsp
    // The old one takes the place of the saved rest: interval at 24 and value at 40 of the own words.
    lea rdx, [rsp + 24]
    mov eax, 38
    syscall
    test rax, rax
    js 2f
    mov rax, [rsp + 40]
    mov rdx, [rsp + 48]
    cmp rdx, 500000
    jge 3f
    test rax, rax
    jnz 2f
    test rdx, rdx
    jz 2f
3:
    inc rax
2:
    ovs_end

    // The timeout of a socket, rounded up to microseconds; r11 is a span.
    ovs_entry setsockopt
    mov rax, [rsp + 40]
    add rax, 999
    ovs_split
    mov [rsp], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov [rsp + 8], rax
    mov rdx, [rsp + 80]
    mov r10, rsp
    mov eax, 54
    syscall
    ovs_end

    // Where the supervisor makes a thread call something else. It never gets further.
    .balign 16
    .globl oversleep_any_call
    .hidden oversleep_any_call
oversleep_any_call:
    syscall
    ud2

    // A thread without a tracer waits here for its next one, which gives it its registers back. It makes a single call,
    // because the program may forbid the next one meanwhile.
    .balign 16
    .globl oversleep_park
    .hidden oversleep_park
oversleep_park:
    lea rdi, [rip + 2f]
    xor esi, esi
    mov eax, 35
    syscall
    jmp oversleep_park
    .balign 8
2:
    .quad 1000000000, 0
