import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { AppError } from '../platform/errors.ts'
import { journal } from '../platform/journal.ts'
import { maxFileBytes } from './compose/read.ts'
import { readTemplate } from './compose/template.ts'
import type { About, Template } from './compose/template.ts'

/** The folder beside this file; embedded, it stands beside the code too. */
const ownDirectory = join(import.meta.dir, 'templates')

/** A template as the catalogue lists it. */
export type Entry = { template: string; about: About }

/** A file of the operator's directory that can't be used, and why. */
export type Refused = { file: string; message: string }

type File = { template: string; file: string; path: string; extra: boolean }
type Listed = { stamp: string; entry: Entry } | { stamp: string; refused: Refused }

/** Davit's own templates and those of `DAVIT_TEMPLATES_DIR`, read when they are first asked for. */
export class Catalogue {
  readonly #extraDirectory: string | null
  readonly #listed = new Map<string, Listed>()

  constructor({ templatesDir }: Pick<Config, 'templatesDir'>) {
    this.#extraDirectory = templatesDir
  }

  /** All by name; a file of the operator's takes the place of Davit's own of that name. */
  async list(): Promise<{ entries: Entry[]; refused: Refused[] }> {
    const { files, refused } = await this.#files()
    const entries = new Map<string, Entry>()
    for (const file of files) {
      const listed = await this.#look(file)
      if ('entry' in listed) entries.set(file.template, listed.entry)
      else refused.push(listed.refused)
    }
    const sorted = [...entries.values()].toSorted((a, b) => byText(a.about.name, b.about.name))
    return { entries: sorted, refused }
  }

  /** The template with its text, for one instance to keep. Throws `not_found` for an unknown name. */
  async open(name: string): Promise<{ compose: string; file: Template }> {
    const { files } = await this.#files()
    const named = files.filter(({ template }) => template === name).toReversed()
    for (const file of named) {
      if (file.extra && 'refused' in (await this.#look(file))) continue
      const compose = await textOf(file)
      return { compose, file: readTemplate(compose, { file: file.file }) }
    }
    throw new AppError('not_found', 'The catalogue has no template of this name.')
  }

  async #files() {
    const own = (await readdir(ownDirectory)).map((file) => fileIn(ownDirectory, file, false))
    const extra = await this.#extraFiles()
    return { files: [...own, ...extra.files], refused: extra.refused }
  }

  async #extraFiles(): Promise<{ files: File[]; refused: Refused[] }> {
    const directory = this.#extraDirectory
    if (directory === null) return { files: [], refused: [] }
    const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => error)
    if (names instanceof Error) {
      const message = `This directory can’t be read (${names.code}). Check DAVIT_TEMPLATES_DIR.`
      return { files: [], refused: [this.#report(directory, { file: directory, message })] }
    }
    const found = names
      .filter((file) => /\.ya?ml$/.test(file))
      .toSorted()
      .map((file) => fileIn(directory, file, true))
    const refused = found.flatMap(({ file, path, template }) => {
      const message = refuseName(template)
      return message ? [this.#report(path, { file, message })] : []
    })
    return { files: found.filter(({ template }) => !refuseName(template)), refused }
  }

  /** What the list says of a file, until the file changes. */
  async #look(file: File): Promise<Listed> {
    const stamp = file.extra ? await stampOf(file) : ''
    const known = this.#listed.get(file.path)
    if (known?.stamp === stamp) return known
    const listed = await lookAt(file, stamp)
    if ('refused' in listed) this.#report(file.path, listed.refused)
    this.#listed.set(file.path, listed)
    return listed
  }

  /** Tells the operator once of each trouble. */
  #report(path: string, refused: Refused) {
    const told = this.#listed.get(path)
    if (!told || !('refused' in told) || told.refused.message !== refused.message)
      journal.warn('a template is not used', { file: path, reason: refused.message })
    this.#listed.set(path, { stamp: '', refused })
    return refused
  }
}

async function lookAt(file: File, stamp: string): Promise<Listed> {
  const { template, file: name } = file
  if (!file.extra) return { stamp, entry: { template, about: aboutOf(await textOf(file)) } }
  try {
    return {
      stamp,
      entry: { template, about: readTemplate(await textOf(file), { file: name }).about },
    }
  } catch (error) {
    const message = error instanceof AppError ? error.message : `${name} can’t be read.`
    return { stamp, refused: { file: name, message } }
  }
}

async function textOf({ path, file }: File) {
  const { size } = await stat(path)
  if (size > maxFileBytes) throw new AppError('invalid', `${file} is over 1 MiB.`)
  return Bun.file(path).text()
}

const stampOf = ({ path }: File) =>
  stat(path).then(
    ({ mtimeMs, size }) => `${mtimeMs} ${size}`,
    () => 'gone',
  )

const fileIn = (directory: string, file: string, extra: boolean): File => ({
  template: file.replace(/\.ya?ml$/, ''),
  file,
  path: join(directory, file),
  extra,
})

/** Names stand in addresses, where these mean something else. */
const taken = ['compose', 'deploy']

function refuseName(name: string): string | null {
  if (/^[a-f0-9-]{36}$/.test(name)) return 'Its name looks like the id of a service. Rename it.'
  if (taken.includes(name)) return `The name ${name} has another meaning. Rename it.`
  if (/^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/.test(name)) return null
  return 'Its name wants lower-case letters, digits and hyphens, such as my-app.yaml. Rename it.'
}

/**
 * What a template of our own says of itself. It is known to be good, so the engine's own reader does,
 * which costs a hundredth of the one that says what is wrong where.
 */
function aboutOf(text: string): About {
  const parsed = z.object({ 'x-davit': ownAbout }).parse(Bun.YAML.parse(text))
  return parsed['x-davit']
}

const ownAbout = z.object({
  name: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(z.string()),
  links: z.record(z.string(), z.string()),
  logo: z.string().nullable().default(null),
  version: z.string(),
})

const collator = new Intl.Collator('en', { numeric: true })

const byText = (a: string, b: string) => collator.compare(a, b)

/** Entries that have every word somewhere in name, description, tags or category. */
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
