module example.com/hello

go 1.24

toolchain go1.24.4
