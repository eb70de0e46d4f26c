// library.mjs - npm libraries of CBOR and MessagePack: node library.mjs MODULE encode|typed|decode turns JSON on standard input into
// bytes, with arrays of numbers as Float64Array if typed, or bytes into JSON. Node finds the module beside the program.
import { readFileSync } from 'node:fs'

const [, , name, mode] = process.argv, input = readFileSync(0)

function doubles(value) {
    if (Array.isArray(value)) return typeof value[0] === 'number' ? new Float64Array(value) : value.map(doubles)
    return typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key, doubles(v)])) : value
}

function plain(value) {
    if (ArrayBuffer.isView(value) && !(value instanceof Uint8Array)) return Array.from(value)
    if (Array.isArray(value)) return value.map(plain)
    if (value instanceof Map) return plain(Object.fromEntries(value))
    return value && value.constructor === Object ? Object.fromEntries(Object.entries(value).map(([key, v]) => [key, plain(v)])) : value
}

const module = await import(name), library = module.encode ? module : module.default
const decode = library.decode ?? library.decodeFirstSync
if (mode === 'decode') {
    const bytes = name === 'cbor-js' || name === 'cbor-redux' ? Uint8Array.from(input).buffer : input
    process.stdout.write(JSON.stringify(plain(decode(bytes))))
} else {
    const value = JSON.parse(input)
    process.stdout.write(Buffer.from(library.encode(mode === 'typed' ? doubles(value) : value)))
}
