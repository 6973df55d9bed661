module example.com/tools

go 1.18

require example.com/dep v1.0.0
