import { z } from 'zod'

const time = z.iso.datetime()

/** Bytes since the container started, or bytes a second. */
const transfers = {
  received: z.number(),
  sent: z.number(),
  read: z.number(),
  written: z.number(),
}

/** Per cent of one processor: two that are busy make 200. All but the first two only while it runs. */
export const containerUsage = z.object({
  state: z.enum(['running', 'stopped', 'restarting', 'removed', 'unknown']),
  time,
  cpu: z.number().optional(),
  memory: z.number().optional(),
  memoryLimit: z.number().optional(),
  ...z.object(transfers).partial().shape,
  rates: z.object(transfers).optional(),
  pids: z.int().optional(),
})

/** What was measured, averaged over so many seconds up to each time. */
export const containerHistory = z.object({
  range: z.enum(['hour', 'day', 'week']),
  span: z.int(),
  samples: z.array(
    z.object({ time, cpu: z.number(), memory: z.number(), ...transfers, pids: z.number() }),
  ),
  now: containerUsage.nullable(),
})
