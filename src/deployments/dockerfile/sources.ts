import { Failure } from '../../platform/errors.ts'
import type { Escape } from './directives.ts'
import { otherSources } from './base-images.ts'
import { argumentsOf, flagValues, isJsonList, readingsOf } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { visitStages } from './stages.ts'
import type { StageArguments } from './stages.ts'
import { unquote } from './words.ts'

/** An address in ADD. Davit fetches it, as the engine would fetch from anywhere it can reach. */
export type RemoteFile = {
  address: string
  /** Such as `sha256:…`; null without a checksum. */
  checksum: string | null
}

export type Add = {
  /** With variables expanded. */
  sources: string[]
  isExpanded: boolean
  /** Either all of its sources, or none. */
  remotes: RemoteFile[]
}

/**
 * Returns the sources of each ADD. Throws for every source that is neither in the context nor a literal
 * address. Variables have no values after ONBUILD, and none at all without `given`.
 */
export function addsOf(reading: Reading, given?: StageArguments): Map<Instruction, Add> {
  const resolved = new Map<Instruction, (string | null)[]>()
  if (given)
    visitStages(reading, given, (instruction, { resolve }) => {
      if (instruction.name === 'ADD')
        resolved.set(instruction, sourcesOf(instruction).map(onlyVariables(resolve)))
    })
  const adds = reading.instructions.filter(({ name }) => name === 'ADD')
  return new Map(
    adds.map((instruction) => [
      instruction,
      addOf(instruction, reading.escape, resolved.get(instruction)),
    ]),
  )
}

const sourcesOf = (instruction: Instruction) => argumentsOf(instruction).slice(0, -1)

const hasVariable = (source: string) => source.includes('$')

const onlyVariables = (resolve: (word: string) => string | null) => (source: string) =>
  hasVariable(source) ? resolve(source) : source

function addOf(instruction: Instruction, escape: Escape, resolved?: (string | null)[]): Add {
  const written = sourcesOf(instruction)
  const isExpanded = written.some(hasVariable)
  const sources = isExpanded ? (resolved ?? []) : written
  if (isExpanded) {
    if (sources.length === 0 || sources.some((source) => source === null || source === ''))
      throw refused(instruction, unknown)
    if (!written.every((source, i) => !hasVariable(source) || plain.test(sources[i]!)))
      throw refused(instruction, variables)
  }
  const known = sources as string[]
  return { sources: known, isExpanded, remotes: remotesOf(instruction, escape, known) }
}

function remotesOf(instruction: Instruction, escape: Escape, sources: string[]): RemoteFile[] {
  const isRemote = (source: string) => elsewhere.test(unquote(source, escape))
  if (isHalfList(instruction)) throw refused(instruction, halfLists)
  if (!sources.some(isRemote)) return []
  if (instruction.onbuild) throw refused(instruction, inTriggers)
  if (!sources.every((source) => literal.test(source) && !repository.test(source)))
    throw refused(instruction, literals)
  const kept = /^--(checksum|chown|chmod|link|exclude)(=|$)/
  const other = instruction.flags.find((flag) => !kept.test(flag))
  if (other) throw refused(instruction, `can’t use ${other.split('=')[0]} with an address.`)
  const checksum = flagValues(instruction, 'checksum').at(-1) ?? null
  if (checksum !== null && !/^sha256:[0-9a-f]{64}$/.test(checksum))
    throw refused(instruction, 'must have its --checksum as sha256: and 64 hexadecimal digits.')
  return sources.map((address) => ({ address, checksum }))
}

/** An address, or a repository written as `user@host:`; builders fetch both. */
const elsewhere = /:\/\/|^[^/]*@[^/]*:|git@/

/** Ends with a file name, and has no characters that a builder could read differently. */
const literal = /^https?:\/\/[\w.-]+(:\d+)?\/[\w.~%+,;=@&?/:-]*$/

/** Engines read a JSON list with trailing text as a list. */
const isHalfList = ({ text }: Instruction) => /^\[\s*"/.test(text) && !isJsonList(text)

const halfLists =
  'starts with a list that isn’t valid JSON, or has text after it. Correct the list.'
/** Newer builders clone such an address. */
const repository = /\.git(?:\?.*)?$/i

/** Characters that every builder takes literally or as a wildcard, and that can't form an address. */
const plain = /^(?!-)[\p{L}\p{N}_.~+,=/*?-]+$/u

const unknown =
  'has a variable in its source whose value isn’t known. Write the source, or give the variable a value before it.'
const variables =
  'has a variable in its source whose value isn’t a path. Write the full source, or use COPY for files of the repository.'
const inTriggers = 'after ONBUILD has an address. Fetch it with RUN instead.'
const literals =
  'has a source that isn’t in the build context. Use a single https:// or http:// address in the ADD, or fetch it with RUN.'

const refused = ({ line }: Instruction, why: string) =>
  new Failure('add_refused', `Build failed: ADD in line ${line} of the Dockerfile ${why}`, hint)

const hint =
  'Davit fetches the addresses in ADD itself, so that a build can’t reach anything private to the server.'

/** Throws when an image's triggers would make builds on it fetch something. */
export function refuseTriggers(triggers: string[], image: string) {
  try {
    for (const text of triggers) {
      refuseOddCharacters(text)
      for (const reading of readingsOf(text)) {
        const trigger = { ...reading, instructions: asTriggers(reading) }
        refuseSources(trigger)
        addsOf(trigger)
      }
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      error.code,
      `Build failed: the image ${image} has an ONBUILD that Davit doesn’t run.`,
      error.hint,
    )
  }
}

const asTriggers = ({ instructions }: Reading) =>
  instructions.map((instruction) => ({ ...instruction, onbuild: true }))

/** Throws for invalid instructions after ONBUILD. */
export function refuseSources(reading: Reading) {
  for (const instruction of reading.instructions) refuseOddFlags(instruction)
  for (const instruction of reading.instructions)
    if (instruction.onbuild && otherSources(instruction).length > 0)
      throw new Failure(
        'onbuild_refused',
        `Build failed: ${instruction.name} after ONBUILD in line ${instruction.line} of the Dockerfile copies files from another image or stage.`,
        'Copy them in the Dockerfile that builds on it.',
      )
}

/**
 * Throws for characters that some engine treats as whitespace or line breaks and Davit doesn't: an
 * instruction could hide within another.
 */
export function refuseOddCharacters(text: string) {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  for (const [index, line] of lines.entries()) {
    if (/[\u0085\uFEFF]|\r(?!$)/.test(line))
      throw odd(index + 1, 'contains an invisible whitespace character')
    if (line.includes('\uFFFD') && !/^[ \t]*#/.test(line)) throw odd(index + 1, 'isn’t valid UTF-8')
  }
}

/** Engines split flags at bytes, which may split a character, and treat ONBUİLD as ONBUILD. */
function refuseOddFlags({ name, flags, line }: Instruction) {
  if (/[^\x20-\x7e]/.test(name)) throw odd(line, 'starts with letters that aren’t ASCII')
  if (flags.some((flag) => /[^\x20-\x7e]/.test(flag)))
    throw odd(line, 'has a flag with characters that aren’t ASCII')
}

const odd = (line: number, why: string) =>
  new Failure(
    'dockerfile_invalid',
    `Build failed: line ${line} of the Dockerfile ${why}.`,
    'Type the line again in an editor that saves plain UTF-8.',
  )
