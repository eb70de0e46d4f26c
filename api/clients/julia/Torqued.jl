"""
Calls a torqued server with CBOR bodies, by Julia's own Downloads alone. Doubles cross as their eight bytes, so no bit is lost.
A bearer token is taken from the environment variable TORQUED_TOKEN.
"""
module Torqued

using Downloads

"An answer with an error status; `document` is the problem, JSON with code, pointer, row and detail."
struct Problem <: Exception
    status::Int
    document::String
end

Base.showerror(io::IO, problem::Problem) = print(io, problem.status, " ", problem.document)

"""
    evaluate(url, model, operation, request)

Post `request`, a Dict of fields, to an operation, and return the Dict of its outputs. A vector of floats is one state, a matrix
a batch with one state a row. In answers, vectors and matrices are the same; arrays of more dimensions have the state first.
"""
function evaluate(url, model, operation, request)
    body = IOBuffer()
    encode(body, request)
    headers = ["Content-Type" => "application/cbor", "Accept" => "application/cbor; arrays=multidimensional", "Content-Length" => string(position(body))]
    haskey(ENV, "TORQUED_TOKEN") && push!(headers, "Authorization" => "Bearer " * ENV["TORQUED_TOKEN"])
    answer = IOBuffer()
    reply = Downloads.request("$url/v1/models/$model/$operation"; method="POST", input=seekstart(body), output=answer, headers)
    reply.status == 200 || throw(Problem(reply.status, String(take!(answer))))
    return decode(seekstart(answer))
end

function head(io, major, value)
    if value < 24
        write(io, UInt8(major << 5 | value))
    else
        write(io, UInt8(major << 5 | 27), hton(UInt64(value)))
    end
end

encode(io, value::Bool) = write(io, value ? 0xf5 : 0xf4)
encode(io, value::Integer) = value < 0 ? head(io, 1, -1 - value) : head(io, 0, value)
encode(io, value::Real) = write(io, 0xfb, hton(reinterpret(UInt64, Float64(value))))

function encode(io, value::AbstractString)
    head(io, 3, sizeof(value))
    write(io, String(value))
end

function encode(io, value::AbstractDict)
    head(io, 5, length(value))
    for (name, member) in value
        encode(io, String(name))
        encode(io, member)
    end
end

function encode(io, value::AbstractVector)
    head(io, 4, length(value))
    foreach(entry -> encode(io, entry), value)
end

# Tag 86: little-endian doubles.
function encode(io, value::AbstractVector{<:AbstractFloat})
    head(io, 6, 86)
    head(io, 2, 8 * length(value))
    foreach(number -> write(io, htol(Float64(number))), value)
end

# Tag 40: [shape, numbers], row by row.
function encode(io, value::AbstractMatrix{<:AbstractFloat})
    head(io, 6, 40)
    head(io, 4, 2)
    encode(io, collect(size(value)))
    encode(io, vec(permutedims(value)))
end

# Decodes what a server sends: lengths are stated, numbers are integers or 64-bit floats.
function decode(io)
    first = read(io, UInt8)
    major, low = first >> 5, first & 0x1f
    size = low < 24 ? UInt64(low) : foldl((value, byte) -> value << 8 | byte, read(io, 1 << (low - 24)); init=UInt64(0))
    major == 0 && return Int(size)
    major == 1 && return -1 - Int(size)
    major == 2 && return ltoh.(reinterpret(Float64, read(io, size)))     # inside of tag 86
    major == 3 && return String(read(io, Int(size)))
    major == 4 && return Any[decode(io) for _ in 1:size]
    major == 5 && return Dict{String,Any}(decode(io) => decode(io) for _ in 1:size)
    if major == 6
        value = decode(io)
        size == 40 || return value
        shape, numbers = Tuple(Int.(value[1])), value[2]
        return permutedims(reshape(numbers, reverse(shape)), length(shape):-1:1)
    end
    low == 27 && return reinterpret(Float64, size)
    return low == 20 ? false : low == 21 ? true : nothing
end

end
