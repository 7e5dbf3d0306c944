import { posix } from 'node:path'
import type { Path, Tree } from '../../platform/yaml-source.ts'
import { Source } from '../../platform/yaml-source.ts'
import { insideOf } from './build.ts'
import { Field } from './field.ts'

export type ComposeFile = { path: string; tree: Tree; source: Source }

type Keys = Map<string, Tree>

/** The part of a service that stands in one place, the nearest first. */
type Origin = { source: Source; path: Path; keys: Keys }

/** In the values of all services: aliases and `extends` may repeat any of them. */
const maxValues = 40_000

/**
 * Returns the file with `extends` resolved by Compose's rules, and paths of other files relative to this one.
 * `open` throws for a file that can’t be read. Errors name the place where a value was written.
 */
export function extendServices(
  main: ComposeFile,
  open: (path: string, named: Field) => ComposeFile,
): Pick<ComposeFile, 'tree' | 'source'> {
  const root = new Field(main.tree, [], main.source)
  const services = root.get('services')
  if (!services.isMap) return main
  let values = 0
  const origins = new Map<string, Origin[]>()
  const whole: Keys = new Map()
  for (const [name, service] of services.entries()) {
    if (!service.isMap) {
      whole.set(name, service.value ?? null)
      continue
    }
    const found = resolve(main, service, [])
    values += countOf(found.keys)
    if (values > maxValues) throw service.refuse(`makes this over ${maxValues} values. Split it.`)
    whole.set(name, found.keys)
    origins.set(name, found.origins)
  }
  const tree = new Map(main.tree as Keys).set('services', whole)
  return { tree, source: new ExtendedSource(main.source, origins) }

  function resolve(
    file: ComposeFile,
    service: Field,
    trail: string[],
  ): { keys: Keys; origins: Origin[] } {
    const written = service.value as Keys
    const own = {
      keys: rebased(written, posix.relative(posix.dirname(main.path), posix.dirname(file.path))),
      origins: [{ source: file.source, path: service.path, keys: written }],
    }
    const extended = service.get('extends')
    if (extended.absent) return own
    const here = `${file.path}: ${service.path.at(-1)}`
    if (trail.includes(here))
      throw extended.refuse(`leads back to itself: ${[...trail, here].join(' → ')}.`)
    if (!extended.isText) extended.only(['service', 'file'])
    const named = extended.isText ? extended : extended.get('service')
    const place = extended.get('file')
    const other = place.absent
      ? file
      : open(insideOf(place, place.text('a path'), posix.dirname(file.path)), place)
    const base = new Field(other.tree, [], other.source)
      .get('services')
      .get(named.text('a service'))
    if (!base.isMap) throw named.refuse(`names a service that isn’t in ${other.path}.`)
    const below = resolve(other, base, [...trail, here])
    return {
      keys: mergedService(below.keys, own.keys),
      origins: [...own.origins, ...below.origins],
    }
  }
}

class ExtendedSource extends Source {
  readonly #origins: ReadonlyMap<string, Origin[]>

  constructor({ file, field, places }: Source, origins: ReadonlyMap<string, Origin[]>) {
    super(file, field, places)
    this.#origins = origins
  }

  override refuse(path: Path, complaint: string) {
    const [root, name, key, ...rest] = path
    const origin =
      root === 'services' && key !== undefined
        ? this.#origins.get(String(name))?.find(({ keys }) => keys.has(String(key)))
        : undefined
    return origin
      ? origin.source.refuse([...origin.path, key!, ...rest], complaint)
      : super.refuse(path, complaint)
  }
}

function countOf(tree: Tree): number {
  const below = tree instanceof Map ? [...tree.values()] : Array.isArray(tree) ? tree : []
  return below.reduce((sum: number, value) => sum + countOf(value), 1)
}

function rebased(service: Keys, directory: string): Keys {
  const own = new Map(service)
  own.delete('extends')
  if (directory === '') return own
  const moved = (path: Tree): Tree =>
    typeof path === 'string' && !/^[/~]|^\w+:|^git@/.test(path)
      ? `./${posix.join(directory, path)}`
      : path
  const inMap = (key: string, tree: Tree) =>
    tree instanceof Map && tree.has(key) ? new Map(tree).set(key, moved(tree.get(key)!)) : tree
  const change = (key: string, to: (tree: Tree) => Tree) => {
    if (own.has(key)) own.set(key, to(own.get(key)!))
  }
  change('build', (build) =>
    build instanceof Map ? inMap('context', new Map([['context', '.'], ...build])) : moved(build),
  )
  change('env_file', (files) =>
    listOf(files).map((file) => (file instanceof Map ? inMap('path', file) : moved(file))),
  )
  change('volumes', (volumes) =>
    listOf(volumes).map((volume) => {
      if (volume instanceof Map)
        return volume.get('type') === 'bind' ? inMap('source', volume) : volume
      return typeof volume === 'string' && volume.startsWith('.') ? moved(volume) : volume
    }),
  )
  return own
}

const listOf = (tree: Tree): Tree[] => (Array.isArray(tree) ? tree : tree === null ? [] : [tree])

const mergedService = (base: Keys, own: Keys) =>
  mergedMap(base, own, (key, from, to) => {
    if (key === 'command' || key === 'entrypoint') return to
    if (['environment', 'labels', 'sysctls'].includes(key))
      return mergedMap(pairsIn(from, '='), pairsIn(to, '='), (_, __, last) => last)
    if (key === 'depends_on' || key === 'networks')
      return mergedMap(pairsIn(from), pairsIn(to), mergedValue)
    if (key === 'volumes' || key === 'devices') return mergedMounts(listOf(from), listOf(to))
    if (key === 'env_file' || key === 'tmpfs') return mergedValue(key, listOf(from), listOf(to))
    if (key === 'build') return mergedValue(key, asBuild(from), asBuild(to))
    return mergedValue(key, from, to)
  })

type Merge = (key: string, from: Tree, to: Tree) => Tree

/** As in Compose, a key without a value doesn’t replace one. */
function mergedMap(base: Keys, own: Keys, merge: Merge): Keys {
  const all = new Map(base)
  for (const [key, value] of own) {
    const before = base.get(key)
    if (before === undefined || before === null) all.set(key, value)
    else if (value !== null) all.set(key, merge(key, before, value))
  }
  return all
}

function mergedValue(key: string, from: Tree, to: Tree): Tree {
  if (key === 'test') return to
  if (key === 'args') return mergedMap(pairsIn(from, '='), pairsIn(to, '='), (_, __, last) => last)
  if (from instanceof Map && to instanceof Map) return mergedMap(from, to, mergedValue)
  if (!Array.isArray(from) && !Array.isArray(to)) return to
  const added = listOf(to).filter(
    (item) => typeof item !== 'string' || !listOf(from).includes(item),
  )
  return [...listOf(from), ...added]
}

/** A list as a map: of names, or of `KEY=value`. */
function pairsIn(tree: Tree, sign?: string): Keys {
  if (tree instanceof Map) return tree
  return new Map(
    listOf(tree).map((item) => {
      const text = String(item)
      const at = sign === undefined ? -1 : text.indexOf(sign)
      return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

const asBuild = (tree: Tree): Tree =>
  typeof tree === 'string' ? new Map([['context', tree]]) : tree

/** A mount replaces the one at the same path. */
function mergedMounts(from: Tree[], to: Tree[]) {
  const replaced = new Set(to.map(targetOf))
  return [...from.filter((mount) => !replaced.has(targetOf(mount))), ...to]
}

function targetOf(mount: Tree): string {
  if (mount instanceof Map) return String(mount.get('target') ?? '')
  const [first = '', second] = String(mount).split(':')
  return second ?? first
}
