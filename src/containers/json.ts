import { z } from 'zod'
import {
  component,
  componentOf,
  shown,
  time,
  does,
  lists,
  works,
  reads,
  follows,
} from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { containerHistory, containerUsage } from './usage/json.ts'
import { previousCursor } from '../logs/json.ts'
import { containerFields, containerFieldsJson } from '../runtime/container-json.ts'
import type { Page } from '../web/paging.ts'
import type { ContainerView } from './container-view.ts'
import { isKept, stopReasonOf } from './row.ts'
import type { Row } from './row.ts'

export const container = componentOf('Container', () => ({
  ...containerFields(),
  process: z.string().nullable(),
  replica: z.int().nullable(),
  own: z.boolean(),
  restartCount: z.int().nullable(),
  exitCode: z.int().nullable(),
  oomKilled: z.boolean().nullable(),
  crashLooping: z.boolean(),
  /** True for one of the previous version, which a rollback starts again. */
  kept: z.boolean(),
}))

const containerList = component('ContainerList', () =>
  z.object({ containers: z.array(container()) }),
)

export const containerDetails = component('ContainerDetails', () =>
  container().extend({
    imageId: z.string(),
    error: z.string().nullable(),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    command: z.array(z.string()).nullable().describe('Null for a token without the scope write.'),
    user: z.string().nullable(),
    workingDir: z.string().nullable(),
    variables: z.array(z.object({ key: z.string(), value: z.string().nullable() })),
    mounts: z.array(
      z.object({
        type: z.string(),
        source: z.string().nullable(),
        destination: z.string(),
        readOnly: z.boolean(),
      }),
    ),
    networks: z.array(
      z.object({
        name: z.string(),
        address: z.string().nullable(),
        gateway: z.string().nullable(),
        mac: z.string().nullable(),
        aliases: z.array(z.string()),
      }),
    ),
    exposedPorts: z.array(z.object({ container: z.int(), protocol: z.string() })),
    limits: z.object({
      memoryBytes: z.int().nullable(),
      cpus: z.number().nullable(),
      pids: z.int().nullable(),
    }),
    restartPolicy: z.enum(['no', 'always', 'unless-stopped', 'on-failure']),
    privileged: z.boolean(),
    tty: z.boolean(),
    logDriver: z.string(),
    labels: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Null for a token without the scope write.'),
    stopReason: z.string().nullable(),
  }),
)

export const terminal = component('Terminal', () => z.object({ id: z.string(), name: z.string() }))

/** A log line of a container. Its id is the engine's timestamp, with `/` and a number if several share it. */
const containerLine = componentOf('ContainerLine', () => ({
  /** The sequence number, for requests of lines after or before it. */
  seq: z.number(),
  time: z.string(),
  stream: z.enum(['system', 'stdout', 'stderr']),
  text: z.string(),
  id: z.string(),
}))

/** An entry of `GET /containers/api`. */
export const containerJson = ({ container, place, condition, looping }: Row) => {
  const own = place.kind === 'own' ? place : null
  return {
    ...containerFieldsJson(container, own ?? {}),
    process: own?.process?.name ?? null,
    replica: own?.process?.replica ?? null,
    own: own !== null,
    restartCount: condition?.restartCount ?? null,
    exitCode: container.exitCode,
    oomKilled: condition?.oomKilled ?? null,
    crashLooping: looping,
    kept: isKept(place),
  }
}

/** Newest first. The cursor is a position in that order, so it stays valid when its container is removed. */
export function containersPage(rows: Row[], { cursor, limit }: Page) {
  const sorted = rows.toSorted((a, b) => (placeInOrder(a) < placeInOrder(b) ? 1 : -1))
  const rest = cursor ? sorted.filter((row) => placeInOrder(row) < cursor) : sorted
  const kept = rest.slice(0, limit)
  const nextCursor = rest.length > limit ? placeInOrder(kept.at(-1)!) : null
  return { items: kept.map(containerJson), nextCursor }
}

/** The form of a cursor: time of creation and id. */
export const placeForm = /^\d{4}-\d\d-\d\dT[\d:.]+Z-[0-9a-f]{64}$/

const placeInOrder = ({ container }: Row) => `${container.createdAt.toISOString()}-${container.id}`

export const containerDetailsJson = (view: ContainerView) => {
  const { container, environment, texts } = view
  const { memoryLimit: memoryBytes, cpus, pidsLimit: pids } = container
  return shown(containerDetails, {
    ...container,
    ...containerJson(view),
    command: texts?.command ?? null,
    variables: environment.map(({ key, value }) => ({ key, value })),
    limits: { memoryBytes, cpus, pids },
    restartPolicy: container.restartPolicy.name,
    labels: texts?.labels ?? null,
    stopReason: stopReasonOf(view)?.message ?? null,
  })
}

export const operations: SliceOperations = () => ({
  Containers: {
    'GET /containers': lists('List containers: yours, or as an admin all', container()),
    'GET /containers/api': does('List all of them at once', containerList()),
    'GET /containers/:id': does('Get a container', containerDetails()),
    'GET /containers/:id/stats': follows('Follow its usage, every 2 s', containerUsage()),
    'GET /containers/:id/logs': reads(
      'Read the last lines, search or follow them',
      z.object({
        items: z.array(containerLine()),
        nextCursor: z.string().nullable().optional(),
        previousCursor: previousCursor(),
      }),
      containerLine(),
    ),
    'GET /containers/:id/terminal': does(
      'Open a shell over a WebSocket of bytes, with {"resize":[80,24]} as text; without a handshake: check whether it is allowed',
      terminal(),
    ),
    'GET /containers/:id/usage': does(
      'Get its usage over the last hour, day or week',
      containerHistory(),
    ),
    'POST /containers/:id/stop': works('Stop a container', containerDetails()),
    'POST /containers/:id/restart': works('Restart a container, or start it', containerDetails()),
  },
})
