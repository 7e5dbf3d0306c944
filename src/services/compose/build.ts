import { posix } from 'node:path'
import { pairsOf } from './environment.ts'
import type { Outside } from './environment.ts'
import type { Field } from './field.ts'
import { quote } from './field.ts'
import type { Build } from './model.ts'

/** Null for a service that isn’t built: outside of a repository none is. */
export function buildOf(field: Field, { lookup, repository }: Outside): Build | null {
  if (field.absent || repository === null) return null
  const { base } = repository
  if (!field.isMap) {
    const context = insideOf(field, field.text('a directory'), base)
    return { context, dockerfile: posix.join(context, 'Dockerfile'), args: {}, target: null }
  }
  field.only(['context', 'dockerfile', 'args', 'target'], adviceOn, ignored)
  const context = insideOf(
    field.get('context'),
    field.get('context').or('.', (f) => f.text('a directory')),
    base,
  )
  const dockerfile = field.get('dockerfile')
  return {
    context,
    dockerfile: insideOf(
      dockerfile,
      dockerfile.or('Dockerfile', (f) => f.text('a path')),
      context,
    ),
    args: Object.fromEntries(
      pairsOf(field.get('args').atMost(100)).flatMap(([key, item, value]) => {
        if (!/^[A-Za-z_]\w{0,199}$/.test(key))
          throw item.refuse(`has the name ${quote(key)}. Use letters, digits and _.`)
        const given = value ?? lookup(key)
        return given === undefined ? [] : [[key, given]]
      }),
    ),
    target: field.get('target').or(null, (f) => f.matching(/^[\w.-]{1,100}$/, 'a stage')),
  }
}

/** A path of the repository, from its root, which is `.`. Links in it are followed when it is read. */
export function insideOf(field: Field, path: string, base: string) {
  if (/^[\w+.-]+:\/\/|^git@|^\w+:/.test(path))
    throw field.refuse(`is ${quote(path)}, but must be a path in the repository.`)
  const whole = posix.join(base, path)
  if (path.startsWith('/') || path.startsWith('~') || /^\.\.(\/|$)/.test(whole))
    throw field.refuse(`is ${quote(path)}, which leads out of the repository.`)
  return whole.replace(/(?<=.)\/$/, '')
}

const ignored = {
  cache_from: 'Docker keeps the cache of the builds on this server.',
  cache_to: 'Docker keeps the cache of the builds on this server.',
  labels: 'The image is only used here.',
  no_cache: 'Deploy without the build cache instead.',
  pull: 'Davit asks for the newest base images.',
  tags: 'The image is only used here.',
}

const adviceOn = (key: string) =>
  key === 'network' || key === 'ssh' || key === 'secrets'
    ? 'Builds use the settings of the project.'
    : key === 'dockerfile_inline'
      ? 'Write the Dockerfile into the repository.'
      : 'Remove it.'
