    // Clocks. The data begin behind the two pages of code: a generation, the clock functions of the program's vDSO, and two tables
    // of clocks by number, of which the generation's lowest bit names the one in force. 64 bytes a clock: the period of
    // interrupts, a moment at which one came, the step and the unit, in ns, and the clock to read plus 1; 0 there means
    // that the clock is this system's.
    .set ovs_data, 0x2000
    .set ovs_get_time, 8
    .set ovs_get_time_of_day, 16
    .set ovs_get_resolution, 24
    .set ovs_clocks, 0x100
    // Whether some functions see the row 10 in place of CLOCK_MONOTONIC's: 0 none, 1 they are still to be found, 2 these
    // are called through the functions below, which find their own here.
    .set ovs_apart, 0x40
    .set ovs_own_functions, 0x48
    .set ovs_row_apart, 10 * 64
    .set ovs_clocks_size, 0x300

    // The time of day where rsi points, in µs, as the clock at r8 shows it.
    .macro ovs_time_of_day
    imul rax, [rsi], 1000000000
    imul rcx, [rsi + 8], 1000
    add rax, rcx
    call oversleep_shown
    ovs_split
    mov [rsi], rax
    mov rax, rdx
    xor edx, edx
    mov ecx, 1000
    div rcx
    mov [rsi + 8], rax
    .endm

    // The longest step of the clock at r8, in rax.
    .macro ovs_resolution
    mov ecx, [r9]
    and ecx, 1
    imul ecx, ecx, ovs_clocks_size
    add r8, rcx
    mov rax, [r8]
    cmp rax, [r8 + 16]
    cmovl rax, [r8 + 16]
    cmp rax, [r8 + 24]
    cmovl rax, [r8 + 24]
    .endm

    // r9: the data; r8: the clock whose number is in edi.
    .macro ovs_clock
    lea r9, [rip + oversleep_trampolines + ovs_data]
    mov eax, edi
    shl eax, 6
    lea r8, [r9 + rax + ovs_clocks]
    .endm

    // ns at rax to a time where rsi points.
    .macro ovs_store_time
    ovs_split
    mov [rsi], rax
    mov [rsi + 8], rdx
    .endm

    // rax, in ns, as the clock at r8 shows it. A table is rewritten only while the other is in force.
    .balign 16
oversleep_shown:
    push rsi
    mov rdi, rax
1:
    mov r11, [r9]
    mov ecx, r11d
    and ecx, 1
    imul ecx, ecx, ovs_clocks_size
    lea r10, [r8 + rcx]
    mov rsi, rdi
    mov rax, rdi
    sub rax, [r10 + 8]
    js 2f
    xor edx, edx
    div qword ptr [r10]
    sub rsi, rdx
2:
    mov rax, rsi
    xor edx, edx
    div qword ptr [r10 + 16]
    sub rsi, rdx
    mov rax, rsi
    xor edx, edx
    div qword ptr [r10 + 24]
    sub rsi, rdx
    cmp r11, [r9]
    jne 1b
    mov rax, rsi
    pop rsi
    ret

    // r8: the row of the clock in edi for the calling function. It is one apart if a mark is on the stack that the functions
    // below leave there while they run.
    .balign 16
oversleep_row:
    cmp edi, 1
    jne 3f
    cmp qword ptr [r9 + ovs_apart], 1
    jb 3f
    jne 1f
    .globl oversleep_meet
    .hidden oversleep_meet
oversleep_meet:
    ud2
    ret
1:
    movabs r11, 0x6f7673417061727e
    mov rax, rsp
    mov ecx, 96
2:
    add rax, 8
    cmp [rax], r11
    je 4f
    dec ecx
    jnz 2b
3:
    ret
4:
    lea r8, [r9 + ovs_clocks + ovs_row_apart]
    ret

    .macro ovs_function name
    .balign 16
    .globl oversleep_\name
    .hidden oversleep_\name
oversleep_\name:
    .endm

    // int clock_gettime(clockid_t, struct timespec *), in place of the vDSO's.
    ovs_function clock_gettime
    ovs_clock
    call oversleep_row
    cmp edi, 12
    jae 9f
    mov ecx, [r8 + 32]
    test ecx, ecx
    jz 9f
    push rsi
    push r8
    sub rsp, 8
    lea edi, [rcx - 1]
    call [r9 + ovs_get_time]
    add rsp, 8
    pop r8
    pop rsi
    test eax, eax
    jnz 2f
    lea r9, [rip + oversleep_trampolines + ovs_data]
    imul rax, [rsi], 1000000000
    add rax, [rsi + 8]
    call oversleep_shown
    ovs_store_time
    xor eax, eax
2:
    ret
9:
    jmp [r9 + ovs_get_time]

    // int gettimeofday(struct timeval *, struct timezone *).
    ovs_function gettimeofday
    push rdi
    lea r9, [rip + oversleep_trampolines + ovs_data]
    call [r9 + ovs_get_time_of_day]
    pop rsi
    test eax, eax
    jnz 2f
    test rsi, rsi
    jz 2f
    xor edi, edi
    ovs_clock
    ovs_time_of_day
    xor eax, eax
2:
    ret

    // time_t time(time_t *).
    ovs_function time
    push rdi
    sub rsp, 16
    mov rsi, rsp
    xor edi, edi
    call oversleep_clock_gettime
    mov rax, [rsp]
    add rsp, 16
    pop rdi
    test rdi, rdi
    jz 2f
    mov [rdi], rax
2:
    ret

    // int clock_getres(clockid_t, struct timespec *): the longest of its steps, in the time after a whole second.
    ovs_function clock_getres
    ovs_clock
    call oversleep_row
    cmp edi, 12
    jae 9f
    cmp dword ptr [r8 + 32], 0
    je 9f
    test rsi, rsi
    jz 9f
    push rsi
    push r8
    sub rsp, 8
    call [r9 + ovs_get_resolution]
    add rsp, 8
    pop r8
    pop rsi
    test eax, eax
    jnz 2f
    lea r9, [rip + oversleep_trampolines + ovs_data]
    ovs_resolution
    ovs_store_time
    xor eax, eax
2:
    ret
9:
    jmp [r9 + ovs_get_resolution]

    // Calls a function of the program that has that place among its own, with the mark on the stack.
    .macro ovs_marked place
    movabs rax, 0x6f7673417061727e
    push rax
    lea r9, [rip + oversleep_trampolines + ovs_data]
    call [r9 + ovs_own_functions + \place]
    mov qword ptr [rsp], 0
    add rsp, 8
    ret
    .endm

    // PyObject *time_monotonic(PyObject *, PyObject *), time_monotonic_ns, and time_get_clock_info with the arguments
    // ("monotonic",): a tuple of one text of the compact kind, whose letters begin at 40 or, before 3.12, at 48.
    ovs_function py_monotonic
    ovs_marked 0
    ovs_function py_monotonic_ns
    ovs_marked 8
    ovs_function py_get_clock_info
    lea r9, [rip + oversleep_trampolines + ovs_data]
    test rsi, rsi
    jz 2f
    cmp qword ptr [rsi + 16], 1
    jne 2f
    mov rax, [rsi + 24]
    mov rcx, [rax + 8]
    test dword ptr [rcx + 168], 0x10000000
    jz 2f
    cmp qword ptr [rax + 16], 9
    jne 2f
    movabs rcx, 0x696e6f746f6e6f6d
    cmp [rax + 40], rcx
    je 1f
    cmp [rax + 48], rcx
    jne 2f
1:
    ovs_marked 16
2:
    jmp [r9 + ovs_own_functions + 16]

    // The same as system calls.
    ovs_entry raw_clock_gettime
    ovs_clock
    mov edi, [r8 + 32]
    dec edi
    mov eax, 228
    syscall
    test rax, rax
    jnz 2f
    mov rsi, [rsp + 88]
    imul rax, [rsi], 1000000000
    add rax, [rsi + 8]
    call oversleep_shown
    ovs_store_time
    xor eax, eax
2:
    ovs_end

    ovs_entry raw_clock_getres
    mov eax, 229
    syscall
    test rax, rax
    jnz 2f
    mov rsi, [rsp + 88]
    test rsi, rsi
    jz 2f
    mov rdi, [rsp + 96]
    ovs_clock
    ovs_resolution
    ovs_store_time
    xor eax, eax
2:
    ovs_end

    ovs_entry raw_gettimeofday
    mov eax, 96
    syscall
    test rax, rax
    jnz 2f
    mov rsi, [rsp + 96]
    test rsi, rsi
    jz 2f
    xor edi, edi
    ovs_clock
    ovs_time_of_day
    xor eax, eax
2:
    ovs_end

    ovs_entry raw_time
    mov eax, 201
    syscall
    test rax, rax
    js 2f
    mov eax, 228
    xor edi, edi
    mov rsi, rsp
    syscall
    xor edi, edi
    ovs_clock
    imul rax, [rsp], 1000000000
    add rax, [rsp + 8]
    call oversleep_shown
    ovs_split
    mov rdi, [rsp + 96]
    test rdi, rdi
    jz 2f
    mov [rdi], rax
2:
    ovs_end

    .balign 16
    .globl oversleep_trampolines_end
    .hidden oversleep_trampolines_end
oversleep_trampolines_end:
    .popsection
