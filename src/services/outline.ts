import { AppError } from '../platform/errors.ts'
import { volumeNameOf } from './compose/containers.ts'
import type { Danger } from './compose/dangers.ts'
import { mentionsIn } from './compose/interpolate.ts'
import type { Stack } from './compose/model.ts'
import { Refusal, valueAt } from '../platform/yaml-source.ts'
import { samplesOf, stackOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import type { Values } from './compose/variables.ts'
import { portsWanted } from './ports.ts'
import type { WantedPort } from './ports.ts'

/** What a file asks for, before all of its variables have values. */
export type Outline = {
  services: { name: string; image: string }[]
  ports: WantedPort[]
  volumes: string[]
  dangers: Danger[]
  /** Differences between the file and what Davit does. */
  notes: string[]
}

/** Missing values are replaced by placeholders. Empty when none of these is valid. */
export function outlineOf(template: Template, values: Values = new Map()): Outline {
  const stack = stackWith(template, values)
  if (!stack) return { services: [], ports: [], volumes: [], dangers: [], notes: [] }
  return {
    services: [...stack.services.values()].map(({ name, image }) => ({ name, image })),
    ports: portsWanted(template, stack),
    volumes: volumesOf(stack),
    dangers: stack.dangers,
    notes: stack.notes,
  }
}

export const volumeNames = (stack: Stack, serviceId: string) =>
  volumesOf(stack).map((volume) => volumeNameOf(serviceId, volume))

/** As the file names them. */
export const volumesOf = ({ services }: Pick<Stack, 'services'>) => [
  ...new Set([...services.values()].flatMap((service) => service.volumes.map((v) => v.volume))),
]

/** Placeholders for values of other kinds, tried in order: empty, a port, a size, a switch. */
const otherSamples = ['', '8080', '64m', 'true']
/** Each attempt takes as long as reading the whole file. */
const maxTries = 8

function stackWith(template: Template, given: Values): Stack | null {
  const unknown = [...template.variables.values()].filter(
    ({ name, generate, default: value, options }) =>
      !generate && value === null && options.length === 0 && !given.has(name),
  )
  const left = new Map(unknown.map(({ name }) => [name, [...otherSamples]]))
  const others = new Map<string, string>()
  for (let tries = 0; tries < maxTries; tries++)
    try {
      return stackOf(template, samplesOf(template, new Map([...given, ...others])))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const at = error instanceof Refusal ? (valueAt(template.tree, error.path) ?? null) : null
      const names = new Set(mentionsIn(at, template.source).map(({ name }) => name))
      const tried = [...names].filter((name) => left.get(name)?.length)
      if (tried.length === 0) return null
      for (const name of tried) others.set(name, left.get(name)!.shift()!)
    }
  return null
}
