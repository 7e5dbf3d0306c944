module example.com/web

go 1.24

toolchain go1.24.4

require example.com/words v0.0.0
