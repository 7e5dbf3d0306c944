import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Port } from './model.ts'

/** Maximum for one service, with each port of a range counted. */
const maxEntries = 100
const maxPorts = 128

/** Without `isPublished` the ports of this server don’t matter. */
export function portsOf(field: Field, { isPublished = true } = {}): Port[] {
  const ports = field
    .atMost(maxEntries)
    .items()
    .flatMap((item) => portsOfEntry(item, isPublished))
  if (ports.length > maxPorts)
    throw field.refuse(`are ${ports.length} ports; the maximum is ${maxPorts}.`)
  return ports
}

/** `expose` opens nothing, as services on one network reach each other's ports anyway. */
export const exposeOf = (field: Field): number[] =>
  field.items().flatMap((item) => {
    const [ports, protocol = 'tcp'] = item.text('a port').split('/')
    if (protocol !== 'tcp' && protocol !== 'udp') throw item.refuse('must be a TCP or UDP port.')
    return rangeOf(item, ports!)
  })

/** Throws when two services, or two entries of one, use the same host port. */
export function refuseSharedPorts(services: { ports: Port[] }[], field: Field) {
  const seen = new Set<string>()
  for (const { host, protocol } of services.flatMap(({ ports }) => ports)) {
    const key = `${host}/${protocol}`
    if (host !== null && seen.has(key))
      throw field.refuse(`publish host port ${key} twice. Give each its own port.`)
    seen.add(key)
  }
}

/** As written in the file, all as text. */
type Entry = { target: string; published: string; address: string; protocol: string }

function portsOfEntry(field: Field, isPublished: boolean): Port[] {
  const { target, published, address, protocol } = field.isMap ? longForm(field) : shortForm(field)
  const containers = rangeOf(field, target)
  const hosts = published === '' ? [] : rangeOf(field, published, 'this server')
  // One port may be published at any port of a range.
  const isPaired = hosts.length === containers.length
  if (hosts.length > 0 && !isPaired && containers.length > 1)
    throw field.refuse(`publishes ${containers.length} ports at ${hosts.length}. Pair them.`)
  return containers.map((container, index) => ({
    container,
    host: isPaired && isPublished ? hostPort(field, hosts[index]!) : null,
    protocol: protocolOf(field, protocol),
    loopback: isLoopback(field, address),
  }))
}

function shortForm(field: Field): Entry {
  const text = field.text('a port such as 8080:80')
  const [body = '', protocol = 'tcp'] = text.split('/', 2)
  const parts = /^(?:(\[[0-9a-fA-F:]+\]|[^:[\]]*):)?(?:([\d-]*):)?([\d-]+)$/.exec(body)
  if (!parts) throw field.refuse(`is ${quote(text)}, but must be a port such as 8080:80.`)
  // With two parts the first is the host port; with three it is the host address.
  const [, first = '', second, target = ''] = parts
  const [address, published] = second === undefined ? ['', first] : [first, second]
  return { target, published, address, protocol }
}

function longForm(field: Field): Entry {
  field.only(['target', 'published', 'host_ip', 'protocol', 'mode', 'name', 'app_protocol'])
  field.get('mode').or('host', (mode) => mode.oneOf(['host', 'ingress']))
  const text = (key: string, other: string) => field.get(key).or(other, (value) => value.text())
  return {
    target: field.get('target').text('a port'),
    published: text('published', ''),
    address: text('host_ip', ''),
    protocol: text('protocol', 'tcp'),
  }
}

/** `3000-3005` are six ports. */
function rangeOf(field: Field, text: string, of = 'the container'): number[] {
  const [, from, to = from] = /^([1-9]\d{0,4})(?:-([1-9]\d{0,4}))?$/.exec(text) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (!(first > 0 && last < 65_536 && first <= last))
    throw field.refuse(
      `has ${quote(text)} as a port of ${of}; ports are 1 to 65535, without a leading zero.`,
    )
  if (last - first >= maxPorts)
    throw field.refuse(`has ${quote(text)}, which is more than ${maxPorts} ports.`)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** Ignores the system's own ports and those of a Docker Engine; Davit chooses a port instead. */
function hostPort(field: Field, port: number) {
  if (port >= 1024 && port !== 2375 && port !== 2376) return port
  field.note(`uses port ${port} of this server, which isn’t available. Davit chooses one.`)
  return null
}

function protocolOf(field: Field, text: string) {
  if (text === 'tcp' || text === 'udp') return text
  throw field.refuse(`has the protocol ${quote(text)}. Use tcp or udp.`)
}

function isLoopback(field: Field, address: string) {
  if (/^(127\.0\.0\.1|localhost|\[?::1\]?)$/.test(address)) return true
  if (/^(|0\.0\.0\.0|\*|\[?::\]?)$/.test(address)) return false
  throw field.refuse(`has the address ${quote(address)}. Leave it out: Davit chooses the address.`)
}
