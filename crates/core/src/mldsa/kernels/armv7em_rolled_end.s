    add sp, sp, #16
    pop {r4-r11, pc}
    .purgem begin
    .purgem multiply
