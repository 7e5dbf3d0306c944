import { urlOn } from '../addresses/urls.ts'
import type { Places } from '../addresses/places.ts'
import type { AddressOf } from './compose/values.ts'
import type { ServicePort } from './store.ts'

/** What is spoken at well-known ports; all others are taken for HTTP. */
const schemes: Record<number, string> = {
  443: 'https',
  1883: 'mqtt',
  3306: 'mysql',
  4222: 'nats',
  5432: 'postgresql',
  5672: 'amqp',
  6379: 'redis',
  8443: 'https',
  9443: 'https',
  27017: 'mongodb',
}

/** Where an instance is reached: the first of its ports. Null when it publishes none. */
export const addressOf = (places: Places, ports: ServicePort[]) => {
  const first = firstOf(ports)
  return first ? addressOn(places, first) : null
}

/** Where one published port is reached. */
export function addressOn(places: Places, { port, containerPort, protocol }: ServicePort) {
  const url = urlOn(port, places)
  const scheme = protocol === 'udp' ? 'udp' : schemes[containerPort]
  return scheme ? url.replace(/^http:/, `${scheme}:`) : url
}

/** Addresses by service and port, for values that follow from them. */
export const addressesOf =
  (places: Places, ports: ServicePort[]): AddressOf =>
  (service, port) => {
    const own = ports.filter(({ target, protocol }) => target === service && protocol === 'tcp')
    const meant = own.find(({ containerPort }) => containerPort === port) ?? own[0] ?? ports[0]
    return meant ? addressOn(places, meant) : nowhere
  }

/** What every template may mention without declaring it: the address that its users will type. */
export function builtIns(places: Places, ports: ServicePort[]): Map<string, string> {
  const first = firstOf(ports)
  const url = first ? urlOn(first.port, places) : ''
  return new Map([
    ['DAVIT_URL', url],
    ['DAVIT_HOST', url === '' ? '' : new URL(url).hostname],
  ])
}

/** Of an instance that publishes nothing. */
const nowhere = 'http://localhost'

const firstOf = (ports: ServicePort[]) => ports.find(({ protocol }) => protocol === 'tcp')
