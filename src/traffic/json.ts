import { z } from 'zod'
import { time, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

const counts = () => ({
  requests: z.int(),
  perSecond: z.number(),
  /** Counts of requests that had a response. */
  statuses: z.object({
    '1xx': z.int(),
    '2xx': z.int(),
    '3xx': z.int(),
    '4xx': z.int(),
    '5xx': z.int(),
  }),
  /** In bytes, bodies only. */
  received: z.int(),
  sent: z.int(),
  /** In milliseconds; null without responses. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
})

/** Requests that Caddy served, over `span` seconds up to each time; the last span is incomplete. */
export const traffic = () =>
  z.object({
    range: z.enum(['hour', 'day', 'week']),
    span: z.int(),
    /** False when requests don't pass through Davit's own Caddy. */
    isCounted: z.boolean(),
    host: z.string().nullable(),
    /** Hosts, with a path if the domain has one, and ports. */
    hosts: z.array(z.object({ host: z.string(), requests: z.int() })),
    total: z.object(counts()),
    samples: z.array(z.object({ time, ...counts() })),
  })

const get = () =>
  does('Get the requests of the last hour, day or week, of all its hosts or one', traffic())

export const operations: SliceOperations = () => ({
  Environments: { 'GET /envs/:envId/traffic': get() },
  Services: { 'GET /services/:id/traffic': get() },
})
