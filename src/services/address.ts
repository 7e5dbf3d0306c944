import { urlOn } from '../addresses/urls.ts'
import type { Places } from '../addresses/places.ts'
import type { AddressOf } from './compose/variables.ts'
import type { ServicePort } from './store.ts'

/** The scheme for well-known ports; all others are assumed to be HTTP. */
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

/** The address of the first port; null when the instance publishes none. */
export const addressOf = (places: Places, ports: ServicePort[]) => {
  const first = firstOf(ports)
  return first ? addressOn(places, first) : null
}

export function addressOn(places: Places, { port, containerPort, protocol }: ServicePort) {
  const url = urlOn(port, places)
  const scheme = protocol === 'udp' ? 'udp' : schemes[containerPort]
  return scheme ? url.replace(/^http:/, `${scheme}:`) : url
}

export const addressesOf =
  (places: Places, ports: ServicePort[]): AddressOf =>
  (service, port) => {
    const own = ports.filter(({ target, protocol }) => target === service && protocol === 'tcp')
    const meant = own.find(({ containerPort }) => containerPort === port) ?? own[0] ?? ports[0]
    return meant ? addressOn(places, meant) : nowhere
  }

/** The variables that every template may use without declaring them, for the address that its users enter. */
export function builtIns(places: Places, ports: ServicePort[]): Map<string, string> {
  const first = firstOf(ports)
  const url = first ? urlOn(first.port, places) : ''
  return new Map([
    ['DAVIT_URL', url],
    ['DAVIT_HOST', url === '' ? '' : new URL(url).hostname],
  ])
}

/** For an instance that publishes no port. */
const nowhere = 'http://localhost'

const firstOf = (ports: ServicePort[]) => ports.find(({ protocol }) => protocol === 'tcp')
