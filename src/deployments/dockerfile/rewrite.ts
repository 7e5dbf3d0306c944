import { Failure } from '../../platform/errors.ts'
import type { ImageUse } from './base-images.ts'
import type { Escape } from './directives.ts'
import { argumentsOf } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import type { Add } from './sources.ts'
import { csvFields } from './words.ts'

export type Replacements = {
  /** Build arguments for the names of images on the engine, by the key of the image. */
  images: Record<string, string>
  /** Paths of files in the context, by the address that they were fetched from. */
  files: Record<string, string>
}

type Named = {
  syntax: string | undefined
  named: Map<ImageUse, string>
  adds: Map<Instruction, Add>
  files: Record<string, string>
}

/**
 * Writes a Dockerfile as it was parsed, one line per instruction, so that no engine can read it differently.
 * Image names come from build arguments, since the file is part of the context, which the built app may
 * publish.
 */
export function rewrite(
  { escape, instructions }: Reading,
  { syntax, named, adds, files }: Named,
): string {
  const uses = [...named]
  const bases = new Map(uses.map(([{ instruction }, argument]) => [instruction, argument]))
  // COPY and RUN don't support variables there, so they refer to added stages.
  const stages = new Map(
    uses
      .filter(([{ instruction }]) => instruction.name !== 'FROM')
      .map(([{ image, platform }, argument]) => [
        image,
        { name: argument.toLowerCase().replaceAll('_', '-'), argument, platform },
      ]),
  )
  const lines = instructions.map(written)
  const first = Math.max(
    instructions.findIndex(({ name }) => name === 'FROM'),
    0,
  )
  return [
    ...(syntax ? [`# syntax=${syntax}`] : []),
    `# escape=${escape}`,
    ...[...new Set(named.values())].map((argument) => `ARG ${argument}`),
    ...lines.slice(0, first),
    ...[...stages.values()].map(
      ({ name, argument, platform }) =>
        `FROM ${platform ? `--platform=${platform} ` : ''}\${${argument}} AS ${name}`,
    ),
    ...lines.slice(first),
    '',
  ].join('\n')

  function written(instruction: Instruction): string {
    const { onbuild, heredocs } = instruction
    const line = [...(onbuild ? ['ONBUILD'] : []), ...wordsFor(instruction)].join(' ')
    if (line.endsWith(escape)) throw endsWithEscape(instruction, escape)
    return [line, ...heredocs.flatMap(({ name, text }) => (text ? [text, name] : [name]))].join(
      '\n',
    )
  }

  function wordsFor(instruction: Instruction): string[] {
    const { name, flags, text } = instruction
    const kept = flags.map((flag) => flagOf(flag))
    if (name === 'FROM' && bases.has(instruction)) {
      const [, ...rest] = argumentsOf(instruction)
      return [name, ...kept, `\${${bases.get(instruction)}}`, ...rest]
    }
    const { sources, isExpanded, remotes } = adds.get(instruction) ?? keepAdd
    const isRemote = remotes.length > 0
    if (!isRemote && !isExpanded) return [name, ...kept, text]
    const paths = [
      ...(isRemote ? remotes.map(({ address }) => files[address]!) : sources),
      argumentsOf(instruction).at(-1)!,
    ]
    const written = text.startsWith('[') ? [JSON.stringify(paths)] : paths
    if (!isRemote) return [name, ...kept, ...written]
    return ['COPY', ...kept.filter((flag) => !flag.startsWith('--checksum=')), ...written]
  }

  /** Replaces the image and keeps the rest of the flag's meaning. */
  function flagOf(flag: string) {
    const [, key, value = ''] = /^--(from|mount)=(.*)$/s.exec(flag) ?? []
    const moved =
      key === 'from' ? `--from=${sourceOf(value)}` : key === 'mount' ? mountOf(value) : flag
    return moved.replace(/[\s"'`\\]/g, (char) =>
      /[`\\]/.test(char) && char !== escape ? char : escape + char,
    )
  }

  /** Added stages shift the numbers of the others. */
  function sourceOf(from: string) {
    return /^\d+$/.test(from) ? `${Number(from) + stages.size}` : (stages.get(from)?.name ?? from)
  }

  function mountOf(value: string) {
    const fields = csvFields(value)?.map((field) => {
      const [, image] = /^from=(.*)$/is.exec(field) ?? []
      return image === undefined ? field : `from=${stages.get(image)?.name ?? image}`
    })
    return `--mount=${fields?.map(csvField).join(',') ?? value}`
  }
}

const keepAdd: Add = { sources: [], isExpanded: false, remotes: [] }

const csvField = (field: string) =>
  /[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field

const endsWithEscape = ({ line }: Instruction, escape: Escape) =>
  new Failure(
    'dockerfile_invalid',
    `Build failed: the instruction in line ${line} of the Dockerfile ends with ${escape}, which builders read differently.`,
    'Remove the character, or add another one after it.',
  )
