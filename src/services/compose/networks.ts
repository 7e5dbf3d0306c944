import type { Field } from './field.ts'

/** What a name in the network may be: that of a service, an alias or a container. */
export const dnsName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/

/**
 * Networks of the top level. An instance has one network of its own, which stands for all of them:
 * what would need another one is refused.
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

/** The names that a service's `networks` give it. */
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
