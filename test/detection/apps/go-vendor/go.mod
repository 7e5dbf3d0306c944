module example.com/pages

go 1.24

toolchain go1.24.4

require example.com/greet v1.0.0
