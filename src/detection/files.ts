import { Failure } from '../platform/errors.ts'
import { procfileLines } from '../platform/procfile.ts'
import { readYaml } from '../platform/yaml.ts'
import { plain } from '../platform/yaml-source.ts'

/** The files of a build's directory as the rules see them: all names, and the texts of a few. */
export class Files {
  readonly paths: readonly string[]
  readonly #all: Set<string>
  readonly #texts: ReadonlyMap<string, string>
  /** Of the texts' paths, as those of a folder are known by their whole path. */
  readonly #prefix: string

  constructor(paths: readonly string[], texts: ReadonlyMap<string, string>, prefix = '') {
    this.paths = paths
    this.#all = new Set(paths)
    this.#texts = texts
    this.#prefix = prefix
  }

  /** The files of a folder; '' is all of them. */
  below(folder: string): Files {
    if (folder === '') return this
    const prefix = `${folder}/`
    const inside = this.paths.filter((path) => path.startsWith(prefix))
    const paths = inside.map((path) => path.slice(prefix.length))
    return new Files(paths, this.#texts, this.#prefix + prefix)
  }

  wasRead(path: string) {
    return this.#texts.has(this.#prefix + path)
  }

  has(path: string) {
    return this.#all.has(path)
  }

  /** The first of the paths that exists. */
  first(...paths: string[]) {
    return paths.find((path) => this.#all.has(path))
  }

  /** Those of the paths that exist. */
  present(...paths: string[]) {
    return paths.filter((path) => this.#all.has(path))
  }

  hasFolder(folder: string) {
    return this.paths.some((path) => path.startsWith(`${folder}/`))
  }

  /** The first path that matches, in git's order. */
  find(pattern: RegExp) {
    return this.paths.find((path) => pattern.test(path))
  }

  /** '' for a file that isn't there or wasn't read. */
  text(path: string) {
    return this.#texts.get(this.#prefix + path) ?? ''
  }

  /** The first line that isn't empty, trimmed, such as a version file has; null without one. */
  line(path: string) {
    return linesOf(this.text(path))[0] ?? null
  }

  /** An object in JSON, with comments and trailing commas as editors allow. {} for a file that isn't there. */
  json(path: string): JsonObject {
    return this.#parsed(path, (text) => Bun.JSONC.parse(text))
  }

  toml(path: string): JsonObject {
    return this.#parsed(path, (text) => Bun.TOML.parse(text))
  }

  yaml(path: string): JsonObject {
    return this.#parsed(path, (text) =>
      text.trim() === '' ? {} : plain(readYaml(text, { file: path }).tree),
    )
  }

  #parsed(path: string, parse: (text: string) => unknown): JsonObject {
    if (!this.wasRead(path)) return {}
    try {
      return objectOf(parse(this.text(path)))
    } catch (error) {
      throw new Failure(
        'manifest_invalid',
        `The file ${this.#prefix}${path} can’t be read. ${sentence(error)}`,
        'Correct the file and push it.',
      )
    }
  }
}

const sentence = (error: unknown) =>
  `${(error instanceof Error ? error.message : String(error)).replace(/[.\s]*$/, '')}.`

export type JsonObject = Record<string, unknown>

export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

export const stringOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : null

/** The command of the process “web”, a line for a shell; null without one. */
export const webOfProcfile = (files: Files) =>
  procfileLines(files.text('Procfile')).find(
    ({ name, command }) => name === 'web' && command !== '',
  )?.command ?? null

/** Apart from each other, as a pattern over all of a text may take the square of its length. */
const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
