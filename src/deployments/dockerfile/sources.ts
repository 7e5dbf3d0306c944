import { Failure } from '../../platform/errors.ts'
import type { Escape } from './directives.ts'
import { otherSources } from './base-images.ts'
import { argumentsOf, flagValues, isJsonList, readingsOf } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { unquote } from './words.ts'

/** An address that ADD names, for Davit to fetch: the engine would, from wherever it reaches. */
export type RemoteFile = {
  address: string
  /** As `sha256:…`; null where the file names none. */
  checksum: string | null
}

/** The addresses that ADD is to bring. Throws for every other source that is not in the context. */
export function remoteFiles({ escape, instructions }: Reading): RemoteFile[] {
  return instructions
    .filter(({ name }) => name === 'ADD')
    .flatMap((instruction) => remotesOf(instruction, escape))
}

/** Those of one ADD: all of its sources, or none. */
export function remotesOf(instruction: Instruction, escape: Escape): RemoteFile[] {
  const sources = argumentsOf(instruction).slice(0, -1)
  const isRemote = (source: string) => elsewhere.test(unquote(source, escape))
  if (sources.some((source) => source.includes('$'))) throw refused(instruction, variables)
  if (isHalfList(instruction)) throw refused(instruction, halfLists)
  if (!sources.some(isRemote)) return []
  if (instruction.onbuild) throw refused(instruction, inTriggers)
  if (!sources.every((source) => literal.test(source) && !repository.test(source)))
    throw refused(instruction, literals)
  const kept = /^--(checksum|chown|chmod|link|exclude)(=|$)/
  const other = instruction.flags.find((flag) => !kept.test(flag))
  if (other) throw refused(instruction, `can't be given ${other.split('=')[0]} with an address.`)
  const checksum = flagValues(instruction, 'checksum').at(-1) ?? null
  if (checksum !== null && !/^sha256:[0-9a-f]{64}$/.test(checksum))
    throw refused(instruction, 'must have its --checksum as sha256: and 64 hexadecimal digits.')
  return sources.map((address) => ({ address, checksum }))
}

/** An address, or a repository by `user@host:`, with which builders go and fetch. */
const elsewhere = /:\/\/|^[^/]*@[^/]*:|git@/

/** A name of a file at its end, and nothing that a builder could read in another way. */
const literal = /^https?:\/\/[\w.-]+(:\d+)?\/[\w.~%+,;=@&?/:-]*$/

/** Engines take a JSON list with more behind it for the list. */
const isHalfList = ({ text }: Instruction) => /^\[\s*"/.test(text) && !isJsonList(text)

const halfLists = 'begins with a list that is not JSON, or that more follows. Correct the list.'
/** Newer builders clone it. */
const repository = /\.git(?:\?.*)?$/i

const variables =
  'takes a source with a variable in it. Write the source out, or use COPY for files of the repository.'
const inTriggers = 'behind ONBUILD names an address. Let the Dockerfile fetch it with RUN.'
const literals =
  'names a source that is not in the build context. Use an address that begins with https:// or http:// alone in its ADD, or fetch it with RUN.'

const refused = ({ line }: Instruction, why: string) =>
  new Failure('add_refused', `Build failed: ADD in line ${line} of the Dockerfile ${why}`, hint)

const hint =
  'Davit fetches what ADD names by itself, so that a build reaches nothing that only the server can.'

/** Throws where triggers of an image would bring something from elsewhere into builds on it. */
export function refuseTriggers(triggers: string[], image: string) {
  try {
    for (const text of triggers) {
      refuseOddCharacters(text)
      for (const reading of readingsOf(text))
        refuseSources({ ...reading, instructions: asTriggers(reading) })
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      error.code,
      `Build failed: the image ${image} brings an ONBUILD that Davit does not run.`,
      error.hint,
    )
  }
}

const asTriggers = ({ instructions }: Reading) =>
  instructions.map((instruction) => ({ ...instruction, onbuild: true }))

/** Throws for what instructions behind ONBUILD may not name. */
export function refuseSources(reading: Reading) {
  for (const instruction of reading.instructions) refuseOddFlags(instruction)
  remoteFiles(reading)
  for (const instruction of reading.instructions)
    if (instruction.onbuild && otherSources(instruction).length > 0)
      throw new Failure(
        'onbuild_refused',
        `Build failed: ${instruction.name} behind ONBUILD in line ${instruction.line} of the Dockerfile takes files from another image or stage.`,
        'Copy them in the Dockerfile that builds on it.',
      )
}

/**
 * Throws for characters by which a line can end, or begin, for an engine where it does not for us: it
 * reads bytes, and has blanks of its own. One instruction could hide in another behind them.
 */
export function refuseOddCharacters(text: string) {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  for (const [index, line] of lines.entries()) {
    if (/[\u0085\uFEFF]|\r(?!$)/.test(line)) throw odd(index + 1, 'holds a blank that is not shown')
    if (line.includes('\uFFFD') && !/^[ \t]*#/.test(line)) throw odd(index + 1, 'is not UTF-8')
  }
}

/** Engines split flags at bytes, which may be the half of a character, and know ONBUİLD for ONBUILD. */
function refuseOddFlags({ name, flags, line }: Instruction) {
  if (/[^\x20-\x7e]/.test(name)) throw odd(line, 'begins with other letters than those of ASCII')
  if (flags.some((flag) => /[^\x20-\x7e]/.test(flag)))
    throw odd(line, 'has a flag with other characters than those of ASCII')
}

const odd = (line: number, why: string) =>
  new Failure(
    'dockerfile_invalid',
    `Build failed: line ${line} of the Dockerfile ${why}.`,
    'Type the line again in an editor that saves plain UTF-8.',
  )
