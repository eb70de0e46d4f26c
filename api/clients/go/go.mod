module torqued

go 1.19
