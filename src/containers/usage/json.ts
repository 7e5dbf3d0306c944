import { z } from 'zod'
import { componentOf, time } from '../../web/operation.ts'

/** Bytes since the container started, or bytes per second. */
const transfers = () => ({
  received: z.number(),
  sent: z.number(),
  read: z.number(),
  written: z.number(),
})

/** `cpu` is in per cent of one processor: two busy ones make 200. Usage is only present while it runs. */
export const containerUsage = componentOf('ContainerUsage', () => ({
  state: z.enum(['running', 'stopped', 'restarting', 'removed', 'unknown']),
  time,
  cpu: z.number().optional(),
  memory: z.number().optional(),
  memoryLimit: z.number().optional(),
  ...z.object(transfers()).partial().shape,
  rates: z.object(transfers()).optional(),
  pids: z.int().optional(),
}))

const sample = () =>
  z.object({
    time,
    cpu: z.number(),
    memory: z.number(),
    ...transfers(),
    pids: z.number(),
  })

/** Measurements, averaged over `span` seconds up to each time. */
export const containerHistory = componentOf('ContainerHistory', () => ({
  range: z.enum(['hour', 'day', 'week']),
  span: z.int(),
  samples: z.array(sample()),
  now: containerUsage().nullable(),
}))

const use = () =>
  z.object({
    now: z
      .object({ containers: z.int(), cpu: z.number(), memory: z.number(), memoryLimit: z.number() })
      .nullable(),
    samples: z.array(sample()),
  })

/** The same for the containers of each process, and for all together. */
export const workloadUsage = componentOf('WorkloadUsage', () => ({
  range: z.enum(['hour', 'day', 'week']),
  span: z.int(),
  processes: z.array(use().extend({ process: z.string() })),
  total: use(),
}))
