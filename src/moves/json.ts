import { z } from 'zod'
import { runStatuses } from '../backups/store.ts'
import type { StoredMove } from '../db/stored-move.ts'
import { componentOf, does, id, shown, time, works } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

export const move = componentOf('Move', () => ({
  /** For an environment it is that of the deployment. */
  id,
  from: id,
  to: id,
  status: z.enum(runStatuses),
  startedBy: z.string(),
  createdAt: time,
  /** Milliseconds for which it didn’t answer; null until it is there, and when it answered all the time. */
  outageMs: z.int().nullable(),
  /** Of the volumes that were copied. */
  bytes: z.int().nullable(),
  error: z.string().nullable(),
  /** The server that still has volumes of it that don’t count: what it had before, or copies of a move that failed. */
  leftOn: id.nullable(),
  /** When these are deleted by themselves; null for as soon as possible. */
  leftUntil: time.nullable(),
}))

export const movePreview = componentOf('MovePreview', () => ({
  /** The server that it is on. */
  from: id,
  /** The others, with the reason why it can’t be moved there. */
  servers: z.array(z.object({ id, name: z.string(), refused: z.string().nullable() })),
  volumes: z.array(z.string()),
  /** What they have now; null while that is unknown. */
  bytes: z.int().nullable(),
  /** How long it is likely not to answer, by its last move or backup; 0 without volumes, null when unknown. */
  outageSeconds: z.int().nullable(),
  /** Whether there is a target for a backup before it. */
  backupFirst: z.boolean(),
  last: move().nullable(),
}))

export type Preview = z.output<ReturnType<typeof movePreview>>

export const moveJson = ({ at, by, ...row }: StoredMove) =>
  shown(move, { ...row, startedBy: by, createdAt: at })

const ofSubject = (path: string, what: string): ReturnType<SliceOperations>[string] => ({
  [`GET ${path}`]: does(`Preview what moving ${what} to another server takes`, movePreview()),
  [`POST ${path}`]: works(
    `Move ${what} to another server, with its volumes; it stays where it is unless it answers there`,
    move(),
  ),
  [`DELETE ${path}`]: does(`Delete what the last move of ${what} left on another server`, move()),
})

export const operations: SliceOperations = () => ({
  Services: ofSubject('/services/:id/move', 'a service'),
  Environments: ofSubject('/envs/:envId/move', 'an environment'),
})
