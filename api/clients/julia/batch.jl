# batch.jl - writes the torques of a Panda along a motion of 10 000 states as CSV. julia batch.jl URL
include("Torqued.jl")

url = isempty(ARGS) ? "http://127.0.0.1:8088" : ARGS[1]
from = [0 -0.5 0 -2 0 1.5 0.5]     # rad
way = [1 0.5 -0.5 -1 0.5 2 -0.5] - from
s = collect(0:9999) ./ 9999        # from rest to rest in 2 s, the jerk as small as possible
q = @. from + way * (s * s * s * (10 + s * (6 * s - 15)))
qd = @. way * (30 * s * s * (1 - s) * (1 - s) / 2)
qdd = @. way * (60 * s * (1 - s) * (1 - 2 * s) / 4)
answer = Torqued.evaluate(url, "panda", "inverse-dynamics", Dict("q" => q, "qd" => qd, "qdd" => qdd))

println("t,tau1,tau2,tau3,tau4,tau5,tau6,tau7")
for (t, row) in zip(s .* 2, eachrow(answer["tau"]))
    println(join([t; row], ","))
end
