import type { Tx } from '../db/index.ts'
import { firstFree, slugOf } from '../platform/names.ts'
import type { Stack } from './compose/model.ts'
import { listServiceHosts } from './store.ts'
import type { Service, ServicePort } from './store.ts'

/** In characters, so that a component's suffix fits into a name of 63. */
const maxHost = 40
const maxName = 63

/** The name by which linked apps reach an instance: its name as a slug, unique among its owner's. */
export function freeHost(db: Tx, { ownerId, name }: Pick<Service, 'ownerId' | 'name'>) {
  const slug = slugOf(name).slice(0, maxHost).replace(/-$/, '')
  // A name that begins with a digit may be mistaken for an address.
  const wanted = /^[a-z]/.test(slug) && slug !== 'localhost' ? slug : `service-${slug || '1'}`
  const taken = listServiceHosts(db, ownerId)
  return firstFree(
    (end) => wanted + end,
    (host) => !taken.includes(host),
  )
}

type Placed = { host: string | null; ports: Pick<ServicePort, 'target'>[] }

/**
 * The name of each component by which linked apps reach it on the instance's network. The first one is the
 * main component's: the first that is published or exposed. It gets the host itself, unless that name has a
 * meaning within the file, which always takes precedence. A component in the network of the server has no
 * name.
 */
export function hostsOf({ host, ports }: Placed, stack: Pick<Stack, 'services'>) {
  const services = [...stack.services.values()].filter(
    ({ hostNamespaces }) => !hostNamespaces.includes('network'),
  )
  const published = ports.flatMap(
    ({ target }) => services.find(({ name }) => name === target) ?? [],
  )
  const exposed = services.filter(({ expose }) => expose.length > 0)
  const hosts = new Map<string, string>()
  if (host === null) return hosts
  const taken = new Set([host])
  for (const service of new Set([...published, ...exposed, ...services])) {
    const { name } = service
    const others = services.filter((other) => other !== service)
    const isFree = (wanted: string) =>
      !others.some(({ name, aliases }) => name === wanted || aliases.includes(wanted))
    const own =
      hosts.size === 0 && isFree(host)
        ? host
        : firstFree(
            (end) => `${host}-${slugOf(name)}`.slice(0, maxName - end.length) + end,
            (wanted) => !taken.has(wanted) && isFree(wanted),
          )
    hosts.set(name, own)
    taken.add(own)
  }
  return hosts
}
