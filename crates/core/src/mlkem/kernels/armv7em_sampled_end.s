    pop {r4-r11, pc}
    .purgem begin_products
    .purgem reduce
    .purgem twelve_bits
    .purgem product
