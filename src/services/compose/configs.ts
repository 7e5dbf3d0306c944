import type { ContainerFile } from '../../runtime/component.ts'
import type { Field } from './field.ts'
import type { Lookup } from './interpolate.ts'
import { fileAt, normalPath, pathIn } from './mounts.ts'

/** Reads top-level `configs` or `secrets`: their content is in the file, beside it, or in a variable. */
export function configsOf(
  field: Field,
  { files, lookup }: { files: ReadonlyMap<string, string>; lookup: Lookup },
): Map<string, string> {
  return new Map(
    field.entries().map(([name, config]) => {
      config.only(['content', 'environment', 'file', 'name'])
      if (!config.get('content').absent) return [name, config.get('content').text()]
      const variable = config.get('environment')
      if (!variable.absent) return [name, lookup(variable.text('a variable')) ?? '']
      const path = config.get('file')
      const content = files.get(normalPath(path.text('a file, or content beside it')))
      if (content === undefined)
        throw path.refuse('isn’t among the given files. Use content instead.')
      return [name, content]
    }),
  )
}

/** Reads a service's `configs` or `secrets`. Each becomes a file, in `directory` unless it has a path. */
export const configFilesOf = (
  field: Field,
  declared: Map<string, string>,
  directory: string,
): ContainerFile[] =>
  field.items().map((item) => {
    const named = item.isMap
      ? item.only(['source', 'target', 'mode'], undefined, ignored).get('source')
      : item
    const name = named.text('a name')
    const content = declared.get(name)
    if (content === undefined) throw named.refuse(`uses ${name}. Declare it at the top level.`)
    const target = item.get('target')
    const path = target.or(name, (t) => t.text())
    const whole = path.startsWith('/') ? path : `${directory}/${path}`
    return fileAt(pathIn(target, whole), content, item.get('mode'))
  })

const ignored = {
  uid: 'It belongs to root and is readable by all.',
  gid: 'It belongs to root and is readable by all.',
}
