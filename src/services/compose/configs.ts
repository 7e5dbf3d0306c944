import type { ContainerFile } from '../../runtime/component.ts'
import type { Field } from './field.ts'
import { fileAt, normalPath, pathIn } from './mounts.ts'

/** Configs of the top level with their content, which is in the file or comes along with it. */
export function configsOf(field: Field, files: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(
    field.entries().map(([name, config]) => {
      config.only(['content', 'file', 'name'])
      if (!config.get('content').absent) return [name, config.get('content').text()]
      const path = config.get('file')
      const content = files.get(normalPath(path.text('a file, or content beside it')))
      if (content === undefined)
        throw path.refuse('is not among the given files. Write it as content instead.')
      return [name, content]
    }),
  )
}

/** A service's `configs`: each becomes a file, by default at the root. */
export const configFilesOf = (field: Field, configs: Map<string, string>): ContainerFile[] =>
  field.items().map((item) => {
    const named = item.isMap ? item.only(['source', 'target', 'mode']).get('source') : item
    const name = named.text('a config')
    const content = configs.get(name)
    if (content === undefined)
      throw named.refuse(`names ${name}. Declare it under configs at the top level.`)
    const target = item.get('target')
    const file = fileAt(
      pathIn(
        target,
        target.or(`/${name}`, (t) => t.text()),
      ),
      content,
    )
    // YAML 1.2 reads 0755 as a decimal number, whose digits are meant as octal
    const mode = item.get('mode').or(null, (m) => m.matching(/^0?[0-7]{3,4}$/, 'a mode'))
    return mode === null ? file : { ...file, mode: Number.parseInt(mode, 8) }
  })
