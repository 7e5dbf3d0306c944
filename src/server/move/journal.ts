import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sync, writeFileAtomically } from '../../platform/atomic-write.ts'
import { Failure } from '../../platform/errors.ts'
import type { Layout } from '../layout.ts'
import { nameOf } from './remote.ts'

const text = z.string().max(8192)

/** In characters. */
const mostSettings = 2 ** 20

const policy = z.union([
  z.object({ name: z.enum(['no', 'always', 'unless-stopped']) }),
  z.object({ name: z.literal('on-failure'), maximumRetries: z.number() }),
])

const sent = z.object({
  /**
   * copying: this server is the live one, and restarts what the move stopped. deciding: the new server was
   * asked to take over, and its reply is unknown. moved: the new server took over, and nothing starts here.
   */
  phase: z.enum(['copying', 'deciding', 'moved']),
  moveId: text,
  host: text,
  port: text.nullable(),
  identity: text.nullable(),
  at: z.number(),
  /** Stopped containers, in the order in which they are started again. */
  stopped: z.array(z.object({ id: text, name: text, policy, wasUp: z.boolean() })),
})

const received = z.object({
  /**
   * receiving: the data is incomplete. trying: everything runs, but isn't kept yet.
   * copy: a later move replaces it. moved: this server is the live one now. halted:
   * it was, and has data that the old server doesn't have.
   */
  phase: z.enum(['receiving', 'trying', 'copy', 'moved', 'halted']),
  moveId: text,
  from: text,
  at: z.number(),
  /** The installation that the received containers and volumes belong to. */
  instanceId: text,
  /** The settings file before the move. */
  settings: z.string().max(mostSettings),
  /** The repository of volumes that are sent. */
  repository: text,
})

export type Sent = z.infer<typeof sent>
export type Received = z.infer<typeof received>

const files = { sent, received }
type Side = keyof typeof files
type Journal<S extends Side> = z.infer<(typeof files)[S]>
type Places = Pick<Layout, 'moves'>

const fileOf = ({ moves }: Places, side: Side) => join(moves, `${side}.json`)

/** The move from this server (`sent`) or to it (`received`); null without one. Throws for a damaged file. */
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

/** Synced to disk when it returns. Throws rather than write what couldn't be read again. */
export function writeMove<S extends Side>(places: Places, side: S, journal: Journal<S>) {
  files[side].parse(journal)
  mkdirSync(places.moves, { recursive: true, mode: 0o700 })
  writeFileAtomically(fileOf(places, side), `${JSON.stringify(journal, null, 2)}\n`)
  sync(places.moves)
}

/** Backups in transit; a killed process leaves them or their drafts behind. */
export const drafts = { sent: 'leaving.backup', received: 'arriving.backup' }

/** Removes the journal, and a backup left behind. */
export function removeMove(places: Places, side: Side) {
  if (!existsSync(places.moves)) return
  for (const name of readdirSync(places.moves))
    if (name.includes(drafts[side])) rmSync(join(places.moves, name), { force: true })
  rmSync(fileOf(places, side), { force: true })
  sync(places.moves)
}

/** True for data that isn't kept: it is discarded when its move ends. */
export const isPartial = (received: Received | null) =>
  received?.phase === 'receiving' || received?.phase === 'trying'

type AtStart = {
  sent: Pick<Sent, 'phase'> | null
  received: Pick<Received, 'phase'> | null
  /** True while a davit move or davit receive runs. */
  isOpen: boolean
  isGuarded: boolean
}

/**
 * Decides what a start of Davit does. While a move is open, it waits. The start undoes a
 * move that was killed: `resume` restarts what was stopped here, `discard` removes what
 * arrived. `refuse`: another server runs the apps, or may.
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
    case 'copy': // a move that replaces the copy is about to begin
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
