import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Port } from './model.ts'

export const portsOf = (field: Field): Port[] => field.items().map(portOf)

/** `expose` opens nothing: services on one network reach each other's ports anyway. */
export const exposeOf = (field: Field): number[] =>
  field.items().map((item) => {
    const [port, protocol = 'tcp'] = item.text('a port').split('/')
    if (protocol !== 'tcp' && protocol !== 'udp') throw item.refuse('wants a TCP or UDP port.')
    return containerPort(item, port!)
  })

/** Two services, or two entries of one, can't have one port of the host. */
export function refuseSharedPorts(services: { ports: Port[] }[], field: Field) {
  const seen = new Set<string>()
  for (const { host, protocol } of services.flatMap(({ ports }) => ports)) {
    const key = `${host}/${protocol}`
    if (host !== null && seen.has(key))
      throw field.refuse(`publish port ${key} of the host twice. Give each a port of its own.`)
    seen.add(key)
  }
}

function portOf(field: Field): Port {
  if (field.isMap) return longForm(field)
  const text = field.text('a port such as 8080:80')
  if (/\d-\d/.test(text)) throw field.refuse('is a range of ports. Give each port its own entry.')
  const [body = '', protocol] = text.split('/', 2)
  const parts = /^(?:(\[[0-9a-fA-F:]+\]|[^:[\]]*):)?(?:(\d*):)?(\d+)$/.exec(body)
  if (!parts) throw field.refuse(`is ${quote(text)} and wants a port such as 8080:80.`)
  // with two parts the first is the port of the host, with three its address
  const [address, host] = parts[2] === undefined ? ['', parts[1]] : [parts[1], parts[2]]
  return {
    container: containerPort(field, parts[3]!),
    host: host ? hostPort(field, host) : null,
    protocol: protocolOf(field, protocol),
    loopback: isLoopback(field, address ?? ''),
  }
}

function longForm(field: Field): Port {
  field.only(['target', 'published', 'host_ip', 'protocol', 'mode', 'name', 'app_protocol'])
  field.get('mode').or('host', (mode) => mode.oneOf(['host', 'ingress']))
  const published = field.get('published')
  return {
    container: containerPort(field.get('target'), field.get('target').text('a port')),
    host: published.or(null, (port) => hostPort(port, port.text('a port'))),
    protocol: protocolOf(
      field,
      field.get('protocol').or('tcp', (protocol) => protocol.text()),
    ),
    loopback: isLoopback(
      field,
      field.get('host_ip').or('', (address) => address.text()),
    ),
  }
}

function containerPort(field: Field, text: string) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port > 0 && port < 65_536) return port
  throw field.refuse(`has ${quote(text)} for a port of the container; ports go from 1 to 65535.`)
}

/** Neither the system's own ports nor those of a Docker Engine. */
function hostPort(field: Field, text: string) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1024 && port < 65_536 && port !== 2375 && port !== 2376) return port
  throw field.refuse(
    `has ${quote(text)} for a port of this host, which wants one from 1024 to 65535 that is not ` +
      'an engine’s (2375, 2376). Leave it out to have one chosen.',
  )
}

function protocolOf(field: Field, text = 'tcp') {
  if (text === 'tcp' || text === 'udp') return text
  throw field.refuse(`has the protocol ${quote(text)}; there are tcp and udp.`)
}

function isLoopback(field: Field, address: string) {
  if (/^(127\.0\.0\.1|localhost|\[?::1\]?)$/.test(address)) return true
  if (/^(|0\.0\.0\.0|\*|\[?::\]?)$/.test(address)) return false
  throw field.refuse(`names the address ${quote(address)}. Leave it out: Davit publishes on one.`)
}
