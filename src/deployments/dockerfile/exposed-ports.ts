import type { Reading } from './instructions.ts'
import { visitStages } from './stages.ts'
import type { Stage, StageArguments } from './stages.ts'

/**
 * Returns the TCP ports that a Dockerfile exposes, in order: those of the last stage, then those of the
 * stages in the file that it starts from. The engine keeps them unordered, mixed with those of the base
 * image.
 */
export function exposedPorts(reading: Reading, given: StageArguments): number[] {
  const ports = new Map<Stage, number[]>()
  const last = visitStages(reading, given, ({ name, text }, { stage, resolve }) => {
    if (name !== 'EXPOSE') return
    const words = text.split(/\s+/).flatMap((word) => resolve(word)?.split(/\s+/) ?? [])
    ports.set(stage, [...(ports.get(stage) ?? []), ...words.flatMap(portsIn)].slice(0, maxPorts))
  })
  const found: number[] = []
  for (let stage = last; stage && found.length < maxPorts; stage = stage.parent)
    found.push(...(ports.get(stage) ?? []))
  return [...new Set(found)].slice(0, maxPorts)
}

const maxPorts = 20

/** Reads `80`, `80/tcp` or `80-90`; empty for other protocols. */
function portsIn(word: string): number[] {
  const [, first, last = first, protocol = 'tcp'] =
    /^(\d{1,5})(?:-(\d{1,5}))?(?:\/(\w+))?$/.exec(word) ?? []
  if (first === undefined || protocol.toLowerCase() !== 'tcp') return []
  const count = Math.min(Math.max(Number(last) - Number(first) + 1, 0), maxPorts)
  return Array.from({ length: count }, (_, i) => Number(first) + i)
}
