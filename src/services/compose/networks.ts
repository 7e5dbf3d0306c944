import type { Field } from './field.ts'

/** The format of a service name, an alias or a container name in the network. */
export const dnsName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/

/**
 * Reads top-level networks. An instance has one network, which replaces all of them; any setting that would
 * need another one is refused.
 */
export function networksOf(field: Field): string[] {
  return field.entries().map(([name, network]) => {
    network.only(['name', 'driver', 'labels', 'attachable', 'external', 'internal'], undefined, {
      ipam: 'Davit chooses the addresses.',
    })
    network.get('driver').or(null, (driver) => driver.oneOf(['bridge']))
    if (network.get('external').or(false, (external) => external.isMap || external.flag()))
      throw network.refuse('is external, but a service has its own network. Remove it.')
    if (network.get('internal').or(false, (internal) => internal.flag()))
      throw network.refuse(
        'is internal, but a service has one network with outside access. Remove it.',
      )
    return name
  })
}

/** Reads the names that a service has in its `networks`. */
export function aliasesOf(field: Field, declared: readonly string[]): string[] {
  const known = (name: string, at: Field) => {
    if (name === 'default' || declared.includes(name)) return
    throw at.refuse(`uses the network ${name}. Declare it under networks at the top level.`)
  }
  if (!field.isMap) {
    for (const item of field.items()) known(item.text('a network'), item)
    return []
  }
  return field.entries().flatMap(([name, network]) => {
    known(name, network)
    network.only(['aliases', 'priority'])
    return network
      .get('aliases')
      .items()
      .map((alias) => alias.matching(dnsName, 'a host name'))
  })
}
