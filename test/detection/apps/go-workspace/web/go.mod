module example.com/web

go 1.19

require example.com/words v0.0.0
