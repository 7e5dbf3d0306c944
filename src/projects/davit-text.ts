import { packageFile } from '../detection/manifests.ts'
import { readYaml } from '../platform/yaml.ts'
import type { Path } from '../platform/yaml-source.ts'
import { keyOf, plain, refuseAt, valueAt } from '../platform/yaml-source.ts'

export type DavitText = { file: string; text: string }

/** The message follows the key as its subject, or is a sentence. Its place may be inside of the key's value. */
export type Mistake = { path: Path; inside?: Path; message: string }

const rootOf = (file: string) => (file === packageFile ? ['davit'] : [])

/**
 * Undefined for a package.json without settings, or one that isn't JSON, which is for others to refuse. Throws
 * `invalid` with line and column. Call it through `parse`.
 */
export function readDavitText({ file, text }: DavitText): unknown {
  if (file === packageFile && !hasSettings(text)) return undefined
  return plain(valueAt(readYaml(text, { file }).tree, rootOf(file)) ?? null)
}

function hasSettings(text: string) {
  try {
    return Object(JSON.parse(text)).davit !== undefined
  } catch {
    return false
  }
}

/** Each mistake as a sentence with its line and column, in the order of lines. Call it through `parse`. */
export function placeMistakes({ file, text }: DavitText, mistakes: Mistake[]): string[] {
  const { source } = readYaml(text, { file })
  return mistakes
    .map(({ path, inside = [], message }) => {
      const key = [...rootOf(file), ...path]
      const said = /^\p{Lu}/u.test(message) ? message : `${keyOf(key)} ${message}`.trimStart()
      return { place: source.positionOf([...key, ...inside]), said }
    })
    .sort((a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0))
    .map(({ place, said }) => refuseAt(source, place, said).message)
}
