import { Failure } from '../../platform/errors.ts'
import type { Escape } from './directives.ts'
import { expand, roomForVariables } from './expand.ts'
import { argumentsOf, flagValues } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { mountOptions, unquote, wordsOf } from './words.ts'

export type ImageUse = {
  instruction: Instruction
  /** With variables expanded. */
  image: string
  /** The value of `--platform`; empty for the engine's own platform. */
  platform: string
}

/** Values for the arguments before the first FROM. */
export type Arguments = {
  /** The build arguments, which override the defaults in the file. */
  buildArgs: Record<string, string>
  /** Arguments that BuildKit itself sets, such as `TARGETARCH`. */
  preset?: Record<string, string>
}

/**
 * Returns the images that a Dockerfile starts from, copies from or mounts, without its own stages. Arguments
 * before the first FROM are expanded, with given values overriding defaults. A custom frontend (`# syntax=`)
 * isn't evaluated. Throws when the name of an image can't be resolved.
 */
export function imageUses({ escape, instructions }: Reading, given: Arguments): ImageUse[] {
  const room = roomForVariables()
  const args = globalArguments({ escape, instructions }, given)
  const stages = new Set<string>()
  const uses: ImageUse[] = []
  const lookup = lookupIn(args)
  for (const instruction of instructions) {
    if (instruction.onbuild) continue // `refuseTriggers` makes sure that it names no image
    if (instruction.name === 'FROM') {
      const [reference = '', as, name] = argumentsOf(instruction)
      note(instruction, reference)
      if (as?.toUpperCase() === 'AS' && name) stages.add(name.toLowerCase())
    } else for (const from of otherSources(instruction)) note(instruction, from)
  }
  return uses

  function note(instruction: Instruction, reference: string) {
    const resolve = (word: string) => expand(word, { escape, lookup, room })
    const image = resolve(reference)
    const platform = resolve(flagValues(instruction, 'platform').at(-1) ?? '')
    if (image === null || platform === null) throw unreadable(instruction, reference)
    const isStageNumber = instruction.name === 'COPY' && /^\d+$/.test(image)
    if (image === '' || image === 'scratch' || isStageNumber) return
    if (!stages.has(image.toLowerCase())) uses.push({ instruction, image, platform })
  }
}

export function globalArguments({ escape, instructions }: Reading, given: Arguments) {
  const { buildArgs, preset = {} } = given
  const room = roomForVariables()
  const args = new Map(Object.entries(preset))
  const lookup = lookupIn(args)
  for (const instruction of instructions) {
    if (instruction.onbuild) continue
    if (instruction.name === 'FROM') break
    if (instruction.name !== 'ARG') continue
    for (const { name, value } of declaredIn(instruction, escape)) {
      const set = Object.hasOwn(buildArgs, name) ? buildArgs[name] : undefined
      const known = set ?? (value === null ? null : expand(value, { escape, lookup, room }))
      if (known !== null) args.set(name, known)
    }
  }
  return args
}

const lookupIn = (args: Map<string, string>) => (name: string) => {
  if (name === 'TARGETSTAGE' && !args.has(name)) throw unsure(name)
  return args.get(name)
}

/** Defaults aren't expanded; null for an argument without one. */
export const declaredIn = ({ text }: Instruction, escape: Escape) =>
  wordsOf(text, escape).map((word) => {
    const at = word.indexOf('=')
    return {
      name: unquote(at === -1 ? word : word.slice(0, at), escape),
      value: at === -1 ? null : word.slice(at + 1),
    }
  })

/** Returns the images and stages that COPY and RUN use. */
export function otherSources(instruction: Instruction): string[] {
  if (instruction.name === 'COPY') return flagValues(instruction, 'from')
  if (instruction.name !== 'RUN') return []
  return flagValues(instruction, 'mount').flatMap((mount) => mountOptions(mount).get('from') ?? [])
}

/** Newer engines set this argument by themselves. */
const unsure = (name: string) =>
  new Failure(
    'image_name_invalid',
    `Build failed: the value of ${name} in an image name depends on Docker’s version.`,
    `Set it before the first FROM: ARG ${name}=…`,
  )

const unreadable = ({ line }: Instruction, reference: string) =>
  new Failure(
    'image_name_invalid',
    `Build failed: Davit can’t resolve the image name in line ${line} of the Dockerfile: ${reference}`,
    'Write the full name, or only use the forms $NAME, ${NAME} and ${NAME:-default}.',
  )
