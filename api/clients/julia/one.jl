# one.jl - asks for the torques that move a Puma 560 as wanted. julia one.jl URL
include("Torqued.jl")

url = isempty(ARGS) ? "http://127.0.0.1:8088" : ARGS[1]
q = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]     # rad
answer = Torqued.evaluate(url, "puma560", "inverse-dynamics", Dict("q" => q, "qd" => ones(6), "qdd" => ones(6)))
println(join(answer["tau"], ","))     # N m
