import { AppError } from '../platform/errors.ts'
import { volumeNameOf } from './compose/containers.ts'
import type { Danger } from './compose/dangers.ts'
import type { Stack } from './compose/model.ts'
import { samplesOf, stackOf } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import type { Values } from './compose/values.ts'
import { portsWanted } from './ports.ts'
import type { WantedPort } from './ports.ts'

/** What a file asks for, before all of its variables have values. */
export type Outline = {
  services: { name: string; image: string }[]
  ports: WantedPort[]
  volumes: string[]
  dangers: Danger[]
  /** What is not done as the file says. */
  notes: string[]
}

/** Values that a variable has not got yet are stood in for; where that makes no sense, nothing is told. */
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

/** The names on the engine of an instance's volumes. */
export const volumeNames = (stack: Stack, serviceId: string) =>
  volumesOf(stack).map((volume) => volumeNameOf(serviceId, volume))

const volumesOf = ({ services }: Stack) => [
  ...new Set([...services.values()].flatMap((service) => service.volumes.map((v) => v.volume))),
]

function stackWith(template: Template, values: Values): Stack | null {
  try {
    return stackOf(template, samplesOf(template, values))
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
