-- messagepack.lua - lua-MessagePack: lua5.4 messagepack.lua encode|decode turns JSON of numbers, arrays and objects on standard input
-- into bytes, or bytes into JSON.
local mp = require 'MessagePack'

local function text(value)
    if type(value) ~= 'table' then return string.format('%.17g', value) end
    local parts = {}
    for _, item in ipairs(value) do parts[#parts + 1] = text(item) end
    if #parts > 0 then return '[' .. table.concat(parts, ',') .. ']' end
    for key, item in pairs(value) do parts[#parts + 1] = '"' .. key .. '":' .. text(item) end
    return '{' .. table.concat(parts, ',') .. '}'
end

local input = io.read('a')
if arg[1] == 'decode' then
    io.write(text(mp.unpack(input)))
else
    local source = input:gsub('%[', '{'):gsub('%]', '}'):gsub('"(%w+)":', '%1=')
    io.write(mp.pack(load('return ' .. source)()))
end
