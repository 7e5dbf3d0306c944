import { withoutTrailing } from '../../platform/without-trailing.ts'
import { normalPath } from './mounts.ts'
import type { Tree } from './source.ts'

/**
 * The tree with relative binds made named volumes, as other platforms keep directories of their own
 * for them. Those whose files are given stay.
 */
export function bindsToVolumes(tree: Tree, files: ReadonlyMap<string, unknown>): Tree {
  if (!(tree instanceof Map)) return tree
  const volumes = new Map(
    tree.get('volumes') instanceof Map ? (tree.get('volumes') as Map<string, Tree>) : [],
  )
  const services = tree.get('services')
  if (!(services instanceof Map)) return tree
  const changed = new Map([...services].map(([name, service]) => [name, withVolumes(service)]))
  return new Map([...tree, ['services', changed], ['volumes', volumes]])

  function withVolumes(service: Tree): Tree {
    const mounts = service instanceof Map ? service.get('volumes') : null
    if (!(service instanceof Map) || !Array.isArray(mounts)) return service
    return new Map([...service, ['volumes', mounts.map(withVolume)]])
  }

  function withVolume(mount: Tree): Tree {
    if (typeof mount === 'string') {
      const [source = '', ...rest] = mount.split(':')
      return rest.length > 0 && isDirectory(source) ? [nameFor(source), ...rest].join(':') : mount
    }
    if (!(mount instanceof Map)) return mount
    const source = mount.get('source')
    const made = new Map([...mount].filter(([key]) => key !== 'is_directory'))
    if (typeof source !== 'string' || mount.has('content') || !isDirectory(source)) return made
    made.delete('bind')
    return new Map([...made, ['type', 'volume'], ['source', nameFor(source)]])
  }

  function isDirectory(source: string) {
    const path = normalPath(source).replace(/\/$/, '')
    return (
      source.startsWith('.') &&
      ![...files.keys()].some((file) => file === path || file.startsWith(`${path}/`))
    )
  }

  function nameFor(source: string) {
    const plain = source.replace(/[^a-zA-Z0-9_-]+/g, '-').replace(/^[-_]+/, '')
    const name = withoutTrailing(plain, '-') || 'data'
    volumes.set(name.slice(0, 63), null)
    return name.slice(0, 63)
  }
}
