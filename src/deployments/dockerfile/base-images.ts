import { Failure } from '../../platform/errors.ts'
import { expand, roomForVariables } from './expand.ts'
import { argumentsOf, flagValues } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { mountOptions, unquote, wordsOf } from './words.ts'

export type ImageUse = {
  instruction: Instruction
  /** With its variables put in. */
  image: string
  /** What `--platform` says; empty for the engine's own. */
  platform: string
}

/** What arguments before the first FROM are worth. */
export type Arguments = {
  /** Given to the build, over the defaults in the file. */
  buildArgs: Record<string, string>
  /** What BuildKit sets by itself: `TARGETARCH`. */
  preset?: Record<string, string>
}

/**
 * The images that a Dockerfile begins with, copies from or mounts, without the stages of its own.
 * Arguments before the first FROM are put in, those given over their defaults. What a frontend of the
 * file's own (`# syntax=`) makes of it is not seen. Throws where the name of an image can't be followed.
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

/** What COPY and RUN take from elsewhere. */
export function otherSources(instruction: Instruction): string[] {
  if (instruction.name === 'COPY') return flagValues(instruction, 'from')
  if (instruction.name !== 'RUN') return []
  return flagValues(instruction, 'mount').flatMap((mount) => mountOptions(mount).get('from') ?? [])
}

/** Newer engines set it by themselves. */
const unsure = (name: string) =>
  new Failure(
    'image_name_invalid',
    `Build failed: engines differ in what ${name} is worth in the name of an image.`,
    `Give it a value before the first FROM: ARG ${name}=…`,
  )

const unreadable = ({ line }: Instruction, reference: string) =>
  new Failure(
    'image_name_invalid',
    `Build failed: Davit can't follow the name of the image in line ${line} of the Dockerfile: ${reference}`,
    'Write the name out, or use no other forms than $NAME, ${NAME} and ${NAME:-default}.',
  )
