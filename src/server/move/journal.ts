import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'
import { nameOf } from './remote.ts'
import { syncDirectory } from '../upgrade/journal.ts'

const text = z.string().max(8192)

/** Characters of a settings file. */
const mostSettings = 2 ** 20

const policy = z.union([
  z.object({ name: z.enum(['no', 'always', 'unless-stopped']) }),
  z.object({ name: z.literal('on-failure'), maximumRetries: z.number() }),
])

const sent = z.object({
  /**
   * copying: this server counts, and starts what the move stopped. deciding: the new server was asked to keep what it
   * got, and its reply isn't known. moved: it has it, and nothing starts here.
   */
  phase: z.enum(['copying', 'deciding', 'moved']),
  moveId: text,
  host: text,
  port: text.nullable(),
  identity: text.nullable(),
  at: z.number(),
  /** Containers that were stopped, in the order in which they are started again. */
  stopped: z.array(z.object({ id: text, name: text, policy, wasUp: z.boolean() })),
})

const received = z.object({
  /**
   * receiving: what is there is a part. trying: all of it runs, but isn't kept yet. copy: a later move replaces it.
   * moved: this is the server now. halted: it was, and has data that the old server doesn't have.
   */
  phase: z.enum(['receiving', 'trying', 'copy', 'moved', 'halted']),
  moveId: text,
  from: text,
  at: z.number(),
  /** Whose containers and volumes are there. */
  instanceId: text,
  /** The settings file before. */
  settings: z.string().max(mostSettings).nullable(),
})

export type Sent = z.infer<typeof sent>
export type Received = z.infer<typeof received>

const files = { sent, received }
type Side = keyof typeof files
type Journal<S extends Side> = z.infer<(typeof files)[S]>
type Places = Pick<Layout, 'moves'>

const fileOf = ({ moves }: Places, side: Side) => join(moves, `${side}.json`)

/** The move from this server (`sent`), or to it (`received`); null when there is none. Throws when it was damaged. */
export function readMove<S extends Side>(places: Places, side: S): Journal<S> | null {
  const file = fileOf(places, side)
  if (!existsSync(file)) return null
  try {
    return files[side].parse(JSON.parse(readFileSync(file, 'utf8'))) as Journal<S>
  } catch (cause) {
    throw new Failure(
      'move_journal',
      `The journal of a move, ${file}, can’t be read.`,
      'Davit writes it whole or not at all, so someone changed it. Remove it if this server is the one to use.',
      { cause },
    )
  }
}

/** It is on the disk when this returns. Throws rather than write what couldn’t be read again. */
export function writeMove<S extends Side>(places: Places, side: S, journal: Journal<S>) {
  files[side].parse(journal)
  mkdirSync(places.moves, { recursive: true, mode: 0o700 })
  writeFileAtomically(fileOf(places, side), `${JSON.stringify(journal, null, 2)}\n`)
  syncDirectory(places.moves)
}

/** Backups on their way; what was killed leaves them, or drafts of them. */
export const drafts = { sent: 'leaving.backup', received: 'arriving.backup' }

/** Removes its journal, and the backup that it may have left. */
export function removeMove(places: Places, side: Side) {
  if (!existsSync(places.moves)) return
  for (const name of readdirSync(places.moves))
    if (name.includes(drafts[side])) rmSync(join(places.moves, name), { force: true })
  rmSync(fileOf(places, side), { force: true })
  syncDirectory(places.moves)
}

/** Whether it hasn't been kept: it is discarded when its move ends. */
export const isPartial = (received: Received | null) =>
  received?.phase === 'receiving' || received?.phase === 'trying'

type AtStart = {
  sent: Pick<Sent, 'phase'> | null
  received: Pick<Received, 'phase'> | null
  /** Whether a davit move or davit receive runs. */
  isOpen: boolean
  isGuarded: boolean
}

/**
 * What a start of Davit does. While a move is open, it waits; one that was killed is undone by it: `resume` starts
 * here again what was stopped, `discard` removes what arrived. `refuse`: another server runs the apps, or may.
 */
export function atStart({ sent, received, isOpen, isGuarded }: AtStart) {
  if (sent && isOpen) return 'wait'
  if (sent) return sent.phase === 'copying' ? 'resume' : 'refuse'
  switch (received?.phase) {
    case 'receiving':
      return isOpen ? 'wait' : 'discard'
    case 'trying':
      return isOpen ? 'start' : 'discard'
    case undefined:
    case 'copy': // one is about to begin, which replaces the copy
      return isOpen && isGuarded ? 'wait' : 'start'
    default:
      return 'start'
  }
}

/** Throws on a server that was moved to another one. */
export function refuseMoved(places: Places) {
  const move = readMove(places, 'sent')
  if (move?.phase === 'moved' || move?.phase === 'deciding') throw wasMoved(move)
}

export const wasMoved = ({ host, phase }: Pick<Sent, 'host' | 'phase'>, cause?: unknown) =>
  phase === 'moved'
    ? new Failure(
        'moved',
        `This server was moved to ${nameOf({ host })}, which runs its apps now.`,
        'To use this one again, as it was then: davit move --undo.',
      )
    : new Failure(
        'moving',
        `The connection to ${nameOf({ host })} broke as it took over, so it isn’t known whether it did.${cause instanceof Error ? ` ${cause.message}` : ''}`,
        'Nothing starts here until that is known: run davit move --undo or davit move again, which asks it.',
        { cause },
      )
