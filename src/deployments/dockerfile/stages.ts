import { declaredIn, globalArguments } from './base-images.ts'
import type { Arguments } from './base-images.ts'
import { expand, roomForVariables, take } from './expand.ts'
import { argumentsOf, flagValues, readDockerfile } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { unquote, wordsOf } from './words.ts'

/** The variables and triggers that stages on top of an image inherit. */
export type Base = { env: string[]; onBuild: string[] }

export type StageArguments = Arguments & {
  /**
   * In the classic builder any ENV takes precedence over every ARG, and an ARG isn't visible in other stages.
   * In BuildKit the last one wins.
   */
  buildKit: boolean
  baseOf: (image: { image: string; platform: string }) => Base | undefined
}

/** By name; null when the value can't be known. */
type Values = Map<string, string | null>

export type Stage = {
  /** The stage that it starts from, whose variables it inherits. */
  parent: Stage | null
  env: Values
  /** Only used for the classic builder. */
  args: Values
  triggers: Instruction[]
}

/** Called for each instruction that runs. `resolve` expands the variables of a word; null if it can't. */
export type Visit = (
  instruction: Instruction,
  at: { stage: Stage; resolve: (word: string) => string | null },
) => void

/** Follows variables through all stages, and returns the last stage. */
export function visitStages(reading: Reading, given: StageArguments, visit: Visit): Stage | null {
  const { escape, instructions } = reading
  const room = roomForVariables()
  const globals: Values = globalArguments(reading, given)
  const named = new Map<string, Stage>()
  let stage: Stage | null = null
  for (const instruction of instructions) {
    if (instruction.name === 'FROM' && !instruction.onbuild) stage = begin(instruction)
    else if (stage && instruction.onbuild) stage.triggers.push({ ...instruction, onbuild: false })
    else if (stage) run(instruction, stage)
  }
  return stage

  function begin(from: Instruction) {
    const lookup = (name: string) => globals.get(name) ?? undefined
    const resolve = (word: string) => expand(word, { escape, lookup, room }) ?? ''
    const [reference = '', as, name] = argumentsOf(from)
    const image = resolve(reference)
    const parent = named.get(image.toLowerCase()) ?? null
    const platform = resolve(flagValues(from, 'platform').at(-1) ?? '')
    const base = parent ? undefined : given.baseOf({ image, platform })
    const began: Stage = {
      parent,
      env: new Map(base?.env.map(splitPair)),
      args: new Map(),
      triggers: [],
    }
    for (const trigger of parent?.triggers ?? base?.onBuild.flatMap(readTrigger) ?? []) {
      take(room, trigger.text.length + 1) // many stages may run many triggers
      run(trigger, began)
    }
    if (as?.toUpperCase() === 'AS' && name) named.set(name.toLowerCase(), began)
    return began
  }

  function run(instruction: Instruction, stage: Stage) {
    const { env, args } = stage
    const resolve = (word: string) => {
      let isKnown = true
      const lookup = (name: string) => {
        const set = envOf(stage, name)
        const value = set === undefined ? args.get(name) : set
        if (value === null) isKnown = false
        return value ?? undefined
      }
      const text = expand(word, { escape, lookup, room })
      return isKnown ? text : null
    }
    if (instruction.name === 'ARG') {
      const declared = declaredIn(instruction, escape)
      const before = declared.map(({ value }) => (value === null ? null : resolve(value)))
      for (const [index, { name, value }] of declared.entries()) {
        const now = value === null ? globals.get(name) : resolve(value)
        // engines differ in whether a default sees earlier names on its line
        const own = value === null || now === before[index] ? now : null
        const known = Object.hasOwn(given.buildArgs, name) ? given.buildArgs[name] : own
        if (known !== undefined) (given.buildKit ? env : args).set(name, known)
        else if (!given.buildKit) args.delete(name)
      }
    } else if (instruction.name === 'ENV') {
      const set = pairsOf(instruction).map(([name, value]) => [name, resolve(value)] as const)
      for (const [name, value] of set) env.set(name, value) // a line sees the values from before it
    }
    visit(instruction, { stage, resolve })
  }

  /** Reads `ENV A=b C=d`, or the old form `ENV A b`. */
  function pairsOf({ text }: Instruction): [name: string, value: string][] {
    const words = wordsOf(text, escape)
    const [first = ''] = words
    if (!first.includes('=')) return [[first, text.slice(first.length).trim()]]
    return words.map(splitPair).map(([name, value]) => [unquote(name, escape), value])
  }
}

/** Searches the parents instead of copying their values: a file may have thousands of stages and values. */
function envOf(stage: Stage, name: string) {
  for (let at: Stage | null = stage; at; at = at.parent)
    if (at.env.has(name)) return at.env.get(name)
  return undefined
}

const readTrigger = (text: string) =>
  readDockerfile(text, { heredocs: true, doubledContinues: false, escape: '\\' }).instructions

function splitPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=')
  return at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
}
