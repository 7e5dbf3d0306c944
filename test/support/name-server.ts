import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, isIP } from 'node:net'

/** What a name has: addresses, another name, or how asking for it fails. */
export type Name = string[] | { cname: string } | 'servfail' | 'silent'

/**
 * A name server of a test's own, over UDP and TCP. Names that aren't in the zone don't exist; `*.example.test`
 * stands for all below. The chain of a CNAME is followed, as a resolver does.
 */
export async function aNameServer(zone: Record<string, Name>) {
  const answer = (query: Buffer) => answerTo(zone, query, questionOf(query))
  const server = createServer((socket) => {
    socket.on('error', () => {})
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      if (rest.length < 2 || rest.length < 2 + rest.readUInt16BE(0)) return
      const given = answer(rest.subarray(2))
      rest = Buffer.alloc(0)
      if (given)
        socket.write(Buffer.concat([Buffer.from([given.length >> 8, given.length]), given]))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const given = answer(query)
    if (given) socket.send(given, from.port, from.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** As `nameServers` takes it. */
    address: `127.0.0.1:${port}`,
    zone,
    stop() {
      socket.close()
      server.close()
    },
  }
}

const a = 1
const cname = 5
const aaaa = 28

const serverFailure = 2
const noSuchName = 3

function questionOf(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(
  zone: Record<string, Name>,
  query: Buffer,
  { name, type }: { name: string; type: number },
) {
  const records: Buffer[] = []
  for (let current = name, steps = 0; steps < 20; steps++) {
    const known = zone[current] ?? zone[current.replace(/^[^.]+/, '*')]
    if (known === 'silent') return null
    if (known === 'servfail') return response(query, serverFailure, [])
    if (!known) return response(query, noSuchName, records)
    if (Array.isArray(known)) {
      const family = type === a ? 4 : type === aaaa ? 6 : 0
      const found = known.filter((address) => isIP(address) === family)
      records.push(...found.map((address) => record(current, type, bytesOf(address))))
      return response(query, 0, records)
    }
    records.push(record(current, cname, encoded(known.cname)))
    current = known.cname
  }
  return response(query, serverFailure, [])
}

function response(query: Buffer, code: number, records: Buffer[]) {
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, query.subarray(12, questionOf(query).end), ...records])
}

function record(name: string, type: number, data: Buffer) {
  const about = Buffer.alloc(10)
  about.writeUInt16BE(type, 0)
  about.writeUInt16BE(1, 2)
  about.writeUInt32BE(1, 4)
  about.writeUInt16BE(data.length, 8)
  return Buffer.concat([encoded(name), about, data])
}

const encoded = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`)),
    Buffer.from([0]),
  ])

function bytesOf(address: string) {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return Buffer.from(
    [...left, ...middle, ...right].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  )
}
