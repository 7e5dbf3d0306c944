import { Failure } from '../../platform/errors.ts'
import { expand, roomForVariables } from './expand.ts'
import { argumentsOf, flagValues } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { mountOptions, unquote, wordsOf } from './words.ts'

export type ImageUse = {
  instruction: Instruction
  /** With its variables expanded. */
  image: string
  /** The value of `--platform`; empty for the engine's own. */
  platform: string
}

/** The values of arguments before the first FROM. */
export type Arguments = {
  /** Build arguments, overriding the defaults in the file. */
  buildArgs: Record<string, string>
  /** What BuildKit sets by itself: `TARGETARCH`. */
  preset?: Record<string, string>
}

/**
 * The images that a Dockerfile starts from, copies from or mounts, without its own stages.
 * Arguments before the first FROM are expanded, with given values overriding defaults. A
 * custom frontend (`# syntax=`) isn't evaluated. Throws when the name of an image can't be resolved.
 */
export function imageUses({ escape, instructions }: Reading, given: Arguments): ImageUse[] {
  const { buildArgs, preset = {} } = given
  const room = roomForVariables()
  const args = new Map(Object.entries(preset))
  const stages = new Set<string>()
  const uses: ImageUse[] = []
  const lookup = (name: string) => {
    if (name === 'TARGETSTAGE' && !args.has(name)) throw unsure(name)
    return args.get(name)
  }
  let inStage = false
  for (const instruction of instructions) {
    if (instruction.onbuild) continue // it may name no image: `refuseTriggers`
    if (instruction.name === 'ARG' && !inStage) declare(instruction)
    else if (instruction.name === 'FROM') {
      inStage = true
      const [reference = '', as, name] = argumentsOf(instruction)
      note(instruction, reference)
      if (as?.toUpperCase() === 'AS' && name) stages.add(name.toLowerCase())
    } else for (const from of otherSources(instruction)) note(instruction, from)
  }
  return uses

  function declare({ text }: Instruction) {
    for (const word of wordsOf(text, escape)) {
      const at = word.indexOf('=')
      const name = unquote(at === -1 ? word : word.slice(0, at), escape)
      const set = Object.hasOwn(buildArgs, name) ? buildArgs[name] : undefined
      const value = at === -1 ? null : expand(word.slice(at + 1), { escape, lookup, room })
      const known = set ?? value
      if (known !== null) args.set(name, known)
    }
  }

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

/** Images in COPY and RUN. */
export function otherSources(instruction: Instruction): string[] {
  if (instruction.name === 'COPY') return flagValues(instruction, 'from')
  if (instruction.name !== 'RUN') return []
  return flagValues(instruction, 'mount').flatMap((mount) => mountOptions(mount).get('from') ?? [])
}

/** Newer engines set it by themselves. */
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
