import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { maxFileBytes } from '../platform/yaml.ts'
import { aboutTemplate } from './compose/declaration.ts'
import { readTemplate } from './compose/template.ts'
import type { About, Template } from './compose/template.ts'

/** The folder beside this file, also within the executable, which embeds it. */
const ownDirectory = join(import.meta.dir, 'templates')

/** A template as listed. `isLinkable` means that it declares variables for linked apps. */
export type Entry = { template: string; about: About; isLinkable: boolean }

/** A file of the operator's directory that is unusable, with the reason. */
export type Refused = { file: string; message: string }

type File = { template: string; file: string; path: string; isOwn: boolean; refusal?: string }

/** A file's description, or the reason why it is unusable. Valid while the file's stamp stays the same. */
type Looked = { stamp: string; about?: About; isLinkable?: boolean; refusal?: string }

/** Davit's own templates and those in `DAVIT_TEMPLATES_DIR`, read on first use. */
export class Catalogue {
  readonly #extraDirectory: string | null
  /** By path. */
  readonly #looked = new Map<string, Looked>()

  constructor({ templatesDir }: Pick<Config, 'templatesDir'>) {
    this.#extraDirectory = templatesDir
  }

  /** Sorted by name. An operator's file replaces Davit's own template with the same name. */
  async list(): Promise<{ entries: Entry[]; refused: Refused[] }> {
    const entries = new Map<string, Entry>()
    const refused: Refused[] = []
    for (const file of await this.#files()) {
      const { about, isLinkable = false, refusal } = await this.#look(file)
      if (about) entries.set(file.template, { template: file.template, about, isLinkable })
      else refused.push({ file: file.file, message: refusal! })
    }
    const sorted = [...entries.values()].toSorted((a, b) => byText(a.about.name, b.about.name))
    return { entries: sorted, refused }
  }

  /** Returns the template and its text, for an instance to keep. Throws `not_found` for an unknown name. */
  async open(name: string): Promise<{ compose: string; file: Template }> {
    for (const file of (await this.#files()).toReversed()) {
      if (file.template !== name || !(await this.#look(file)).about) continue
      const compose = await textOf(file)
      return { compose, file: readTemplate(compose, { file: file.file }) }
    }
    throw new AppError('not_found', 'The catalogue has no template with this name.')
  }

  async #files(): Promise<File[]> {
    const own = (await readdir(ownDirectory)).map((file) => fileIn(ownDirectory, file))
    const directory = this.#extraDirectory
    if (directory === null) return own
    const extra = await readdir(directory).then(
      (names) =>
        names.filter((file) => /\.ya?ml$/.test(file)).map((file) => fileIn(directory, file)),
      ({ code }: NodeJS.ErrnoException) => [unreadable(directory, code)],
    )
    return [...own, ...extra.toSorted((a, b) => byText(a.file, b.file))]
  }

  /** Reports each problem to the operator only once. */
  async #look(file: File): Promise<Looked> {
    const known = this.#looked.get(file.path)
    const stamp = file.isOwn ? '' : await stampOf(file)
    if (known?.stamp === stamp) return known
    const looked = { stamp, ...(await readAbout(file)) }
    if (looked.refusal && looked.refusal !== known?.refusal)
      journal.warn('a template was skipped', { file: file.path, reason: looked.refusal })
    this.#looked.set(file.path, looked)
    return looked
  }
}

async function readAbout(file: File): Promise<Omit<Looked, 'stamp'>> {
  if (file.isOwn) return readOwnAbout(await textOf(file))
  const refusal = file.refusal ?? refuseName(file.template)
  if (refusal) return { refusal }
  try {
    const { about, provides } = readTemplate(await textOf(file), { file: file.file })
    return { about, isLinkable: provides.size > 0 }
  } catch (error) {
    return { refusal: error instanceof AppError ? error.message : `${file.file} can’t be read.` }
  }
}

async function textOf({ path, file }: File) {
  const { size } = await stat(path)
  if (size > maxFileBytes) throw new AppError('invalid', `${file} is larger than 1 MiB.`)
  return Bun.file(path).text()
}

const stampOf = ({ path }: File) =>
  stat(path).then(
    ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
    () => 'gone',
  )

const fileIn = (directory: string, file: string): File => ({
  template: file.replace(/\.ya?ml$/, ''),
  file,
  path: join(directory, file),
  isOwn: directory === ownDirectory,
})

/** A placeholder that reports an unreadable directory. */
const unreadable = (directory: string, code: string | undefined): File => ({
  ...fileIn(directory, ''),
  file: directory,
  refusal: `This directory can’t be read (${code}). Check DAVIT_TEMPLATES_DIR.`,
})

/** Names are part of URLs, where these have another meaning. */
const taken = ['compose', 'deploy']

function refuseName(name: string): string | null {
  if (/^[a-f0-9-]{36}$/.test(name)) return 'Its name looks like the id of a service. Rename it.'
  if (taken.includes(name)) return `The name ${name} is reserved. Rename it.`
  if (/^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/.test(name)) return null
  return 'Its name must be lower-case letters, digits and hyphens, such as my-app.yaml. Rename it.'
}

/**
 * Reads the description of one of Davit's own templates. It is known to be valid, so Bun's YAML reader is
 * enough: it takes a hundredth of the time of the one that locates errors.
 */
function readOwnAbout(text: string) {
  const parsed = z.object({ 'x-davit': ownAbout }).parse(Bun.YAML.parse(text))
  const { provides, ...about } = parsed['x-davit']
  return { about, isLinkable: Object.keys(provides).length > 0 }
}

const ownAbout = aboutTemplate.extend({ provides: z.record(z.string(), z.string()).default({}) })

const collator = new Intl.Collator('en', { numeric: true })

const byText = (a: string, b: string) => collator.compare(a, b)

export function matching(entries: Entry[], { q, category }: { q: string; category: string }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ template, about }) => {
    if (category && about.category !== category) return false
    const text = [template, about.name, about.description, about.category, ...about.tags]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
