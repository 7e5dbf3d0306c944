import { readStack } from '../../../src/services/compose/read-stack.ts'
import type { ReadOptions } from '../../../src/services/compose/environment.ts'
import { readYaml } from '../../../src/platform/yaml.ts'

export function stackFrom(text: string, given: ReadOptions = {}) {
  const { tree, source } = readYaml(text, { file: 'compose.yaml' })
  return readStack(tree, source, given)
}

/** The service `web` of a file that has the lines below it, and what else stands at the top level. */
export const web = (lines: string, { top = '', ...given }: ReadOptions & { top?: string } = {}) =>
  stackFrom(fileWith(lines, top), given).services.get('web')!

export const fileWith = (lines: string, top = '') =>
  `services:\n  web:\n    image: nginx:1.27\n${lines.replace(/^/gm, '    ')}\n${top}\n`
