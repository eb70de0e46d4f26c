-- torques.lua - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
local http, ltn12, json = require("socket.http"), require("ltn12"), require("dkjson")

-- The encoders of cjson and dkjson write 14 digits; dkjson asks a table with __tojson for its text.
local function numbers(list)
    local texts = {}
    for i, x in ipairs(list) do texts[i] = string.format("%.17g", x) end
    local text = "[" .. table.concat(texts, ",") .. "]"
    return setmetatable({}, {__tojson = function() return text end}), text
end

local q, one = numbers {0, math.pi / 4, math.pi, 0, math.pi / 4, 0}, numbers {1, 1, 1, 1, 1, 1}
local body, parts = json.encode {q = q, qd = one, qdd = one}, {}
local done, status = http.request {
    url = arg[1], method = "POST", source = ltn12.source.string(body), sink = ltn12.sink.table(parts),
    headers = {["Content-Type"] = "application/json", ["Content-Length"] = #body}}
assert(done, status)
local answer = json.decode(table.concat(parts))
if status ~= 200 then
    io.stderr:write(answer.pointer or "", ": ", answer.detail, "\n")
    os.exit(1)
end
print((select(2, numbers(answer.tau))):sub(2, -2))
