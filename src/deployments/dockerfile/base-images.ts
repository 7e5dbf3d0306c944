import { expand, roomForVariables } from './expand.ts'
import type { Room } from './expand.ts'
import { argumentsOf, flagValues, readingsOf } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { mountOptions, unquote, wordsOf } from './words.ts'

/**
 * The images that a Dockerfile begins with, copies from or mounts, without the stages of its own.
 * Arguments before the first FROM are put in, those given over their defaults. What a frontend of the
 * file's own (`# syntax=`) makes of it is not seen.
 */
export function baseImages(dockerfile: string, buildArgs: Record<string, string>): string[] {
  const room = roomForVariables()
  const found = readingsOf(dockerfile).flatMap((reading) => imagesOf(reading, { buildArgs, room }))
  return [...new Set(found)]
}

function imagesOf(
  { escape, instructions }: Reading,
  { buildArgs, room }: { buildArgs: Record<string, string>; room: Room },
): string[] {
  const args = new Map<string, string>()
  const stages = new Set<string>()
  const images = new Set<string>()
  const lookup = (name: string) => args.get(name)
  let inStage = false
  for (const instruction of instructions) {
    if (instruction.onbuild) continue // it runs in builds on this image only
    if (instruction.name === 'ARG' && !inStage) declare(instruction)
    else if (instruction.name === 'FROM') {
      inStage = true
      const [reference = '', as, name] = argumentsOf(instruction)
      note(reference)
      if (as?.toUpperCase() === 'AS' && name) stages.add(name.toLowerCase())
    } else for (const from of otherSources(instruction)) note(from)
  }
  return [...images]

  function declare({ text }: Instruction) {
    for (const word of wordsOf(text, escape)) {
      const at = word.indexOf('=')
      const name = unquote(at === -1 ? word : word.slice(0, at), escape)
      const given = Object.hasOwn(buildArgs, name) ? buildArgs[name] : undefined
      const value = at === -1 ? null : expand(word.slice(at + 1), { escape, lookup, room })
      const known = given ?? value
      if (known !== null) args.set(name, known)
    }
  }

  function note(reference: string) {
    const image = expand(reference, { escape, lookup, room })
    if (image === null || image === '' || image === 'scratch' || /^\d+$/.test(image)) return
    if (!stages.has(image.toLowerCase())) images.add(image)
  }
}

/** What COPY and RUN take from elsewhere. */
function otherSources(instruction: Instruction): string[] {
  if (instruction.name === 'COPY') return flagValues(instruction, 'from')
  if (instruction.name !== 'RUN') return []
  return flagValues(instruction, 'mount').flatMap((mount) => mountOptions(mount).get('from') ?? [])
}
