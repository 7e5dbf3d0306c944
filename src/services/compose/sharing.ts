import type { Danger } from './dangers.ts'
import type { Field } from './field.ts'
import type { Service } from './model.ts'
import { bindDanger } from './mounts.ts'
import { dnsName } from './networks.ts'
import { startOrder } from './order.ts'

/** Reads `links`: names by which a service reaches others. */
export const linksOf = (field: Field): Service['links'] =>
  pairsOf(field).map(([item, service, alias = service]) => {
    if (!dnsName.test(alias)) throw item.refuse('must be a service, or service:name.')
    return { service, alias }
  })

/** Reads `volumes_from`: services whose mounts a service shares. */
export const volumesFromOf = (field: Field): Service['volumesFrom'] =>
  pairsOf(field).map(([item, service, mode = 'rw']) => {
    if (mode !== 'rw' && mode !== 'ro') throw item.refuse('must be a service, or service:ro.')
    return { service, readOnly: mode === 'ro' }
  })

const pairsOf = (field: Field) =>
  field
    .atMost(50)
    .items()
    .map((item): [Field, string, string | undefined] => {
      const [service, more] = item.matching(/^[^:]+(:[^:]+)?$/, 'a service').split(':')
      return [item, service!, more]
    })

/** Applies `links` and `volumes_from`, and collects the dangers that they add. */
export function shareAmong(services: Map<string, Service>): Danger[] {
  const dangers: Danger[] = []
  // A link's name works for all services, since they share a network.
  for (const { links } of services.values())
    for (const { service, alias } of links) services.get(service)?.aliases.push(alias)
  for (const { service: name } of startOrder({ services })) {
    const own = services.get(name)!
    const taken = new Set([own.volumes, own.binds, own.files].flatMap(pathsOf))
    for (const { service, readOnly } of own.volumesFrom) {
      const other = services.get(service)
      if (!other) continue
      const isFree = ({ path }: { path: string }) => !taken.has(path)
      const as = <T extends { readOnly: boolean }>(mount: T) => ({
        ...mount,
        readOnly: readOnly || mount.readOnly,
      })
      const volumes = other.volumes.filter(isFree).map(as)
      const binds = other.binds.filter(isFree).map(as)
      const files = other.files.filter(isFree)
      own.volumes.push(...volumes)
      own.binds.push(...binds)
      own.files.push(...files)
      for (const path of [volumes, binds, files].flatMap(pathsOf)) taken.add(path)
      dangers.push(...binds.map(({ source }) => bindDanger(name, source)))
    }
  }
  return dangers
}

const pathsOf = (mounts: { path: string }[]) => mounts.map(({ path }) => path)
