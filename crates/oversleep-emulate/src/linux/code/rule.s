    // A rule: how spans are rounded, what ends a wait, and where it is led. `rule.rs` has the same.
    .set ovs_rule_floor, 0
    .set ovs_rule_step, 8
    .set ovs_rule_rounds_up, 16
    .set ovs_rule_least, 24
    .set ovs_rule_shortest, 32
    .set ovs_rule_unit, 40
    .set ovs_rule_kind, 48
    // What chance adds happens where a number of 64 bits is below this one.
    .set ovs_rule_chance, 56
    // Of a tick: by how much it may be too early.
    .set ovs_rule_margin, 64
    // Of a timer: its grid, the longest span that keeps to it, what chance adds, and what each is late by.
    .set ovs_rule_grid, 64
    .set ovs_rule_aligned, 72
    .set ovs_rule_late, 80
    .set ovs_rule_slack, 88
    .set ovs_rule_counter, 96
    .set ovs_rule_entry, 104
    .set ovs_rule_number, 112
    .set ovs_rule_sleeps, 120
    .set ovs_rule_sample, 128
    .set ovs_rule_is_valid, 136
    // Kinds: a tick ends it that is counted from the call, or from the tick before; or a timer does.
    .set ovs_from_tick, 1
    .set ovs_by_timer, 2

    // Sets the carry where chance wants it: a number that looks random follows from the moment in rsi (splitmix64,
    // https://prng.di.unimi.it/splitmix64.c).
    .macro ovs_draw
    movabs rax, 0x9e3779b97f4a7c15
    add rax, rsi
    mov rdx, rax
    shr rdx, 30
    xor rax, rdx
    movabs rdx, 0xbf58476d1ce4e5b9
    imul rax, rdx
    mov rdx, rax
    shr rdx, 27
    xor rax, rdx
    movabs rdx, 0x94d049bb133111eb
    imul rax, rdx
    mov rdx, rax
    shr rdx, 31
    xor rax, rdx
    cmp rax, [r8 + ovs_rule_chance]
    .endm

    // rdi: a span, rsi: now, rdx: a rule, rcx: a grid. In rax: when the wait ends, as Plan::end has it.
    .balign 16
    .globl oversleep_rule_end
    .hidden oversleep_rule_end
oversleep_rule_end:
    mov r8, rdx
    // The same with the rule in r8; rsi, r8 and r9 stay.
oversleep_end_of:
    mov r10, [r8 + ovs_rule_floor]
    cmp r10, 1
    jle 1f
    mov rax, rdi
    xor edx, edx
    div r10
    sub rdi, rdx
    cmp rdi, r10
    cmovl rdi, r10
1:
    mov r10, [r8 + ovs_rule_step]
    cmp r10, 1
    jle 2f
    mov rax, rdi
    xor edx, edx
    div r10
    test rdx, rdx
    jz 2f
    sub rdi, rdx
    cmp qword ptr [r8 + ovs_rule_rounds_up], 0
    je 2f
    add rdi, r10
2:
    cmp rdi, [r8 + ovs_rule_least]
    cmovl rdi, [r8 + ovs_rule_least]
    cmp rdi, [r8 + ovs_rule_shortest]
    cmovl rdi, [r8 + ovs_rule_shortest]
    mov r10, [r8 + ovs_rule_unit]
    cmp r10, 1
    jle 3f
    mov rax, rdi
    xor edx, edx
    div r10
    test rdx, rdx
    jz 3f
    sub rdi, rdx
    add rdi, r10
3:
    cmp qword ptr [r8 + ovs_rule_kind], ovs_by_timer
    je oversleep_end_by_timer
    // When it is due.
    mov r10, [rcx]
    mov r11, [rcx + 8]
    mov rcx, rsi
    cmp qword ptr [r8 + ovs_rule_kind], ovs_from_tick
    jne 4f
    mov rax, rsi
    sub rax, r11
    xor edx, edx
    div r10
    sub rcx, rdx
4:
    add rcx, rdi
    // The first tick from then on, or the one before where that misses by less than the margin.
    mov rax, rcx
    sub rax, r11
    xor edx, edx
    div r10
    mov rax, rcx
    test rdx, rdx
    jz 5f
    sub rax, rdx
    mov rdi, rax
    add rax, r10
    cmp rdi, rsi
    jle 5f
    // What is missed is what lies between that tick and the moment.
    cmp rdx, [r8 + ovs_rule_margin]
    jge 5f
    mov rcx, rax
    ovs_draw
    mov rax, rcx
    cmovae rax, rdi
5:
    cmp rax, rsi
    jg 6f
    mov rax, rsi
    sub rax, r11
    xor edx, edx
    div r10
    mov rax, rsi
    sub rax, rdx
    add rax, r10
6:
    ret

oversleep_end_by_timer:
    lea rcx, [rsi + rdi]
    mov r10, [r8 + ovs_rule_grid]
    cmp r10, 1
    jle 2f
    // A longer span's grid begins anywhere, as the moment has it (Fibonacci hashing).
    xor r11d, r11d
    cmp rdi, [r8 + ovs_rule_aligned]
    jle 1f
    movabs rax, 0x9e3779b97f4a7c15
    imul rax, rcx
    shr rax, 32
    xor edx, edx
    div r10
    mov r11, rdx
1:
    mov rax, rcx
    sub rax, r11
    xor edx, edx
    div r10
    test rdx, rdx
    jz 2f
    sub rcx, rdx
    add rcx, r10
2:
    ovs_draw
    jae 3f
    add rcx, [r8 + ovs_rule_late]
3:
    mov rax, rcx
    add rax, [r8 + ovs_rule_slack]
    ret
