import { LineSplitter } from '../../docker/lines.ts'
import { Failure } from '../../platform/errors.ts'
import { inOneLine } from '../../platform/terminal-text.ts'
import type { Judged } from '../judge.ts'

/*
 * What two Davits say to each other over ssh: a JSON object a line. Volumes, images and data take connections of
 * their own.
 */

export type Visit = {
  id: string
  name: string
  /** Null when it didn't respond. */
  status: number | null
  length: number | null
  title: string | null
}

export type Needs = {
  /** The new server's name in messages. */
  host: string
  version: string
  arch: string
  /** The installation that moves. */
  instanceId: string
  /** Ports that Davit will need there. */
  ports: number[]
  /** Files that settings name, with the setting. */
  files: { setting: string; path: string }[]
  userNamespace: string | null
  hasContainerdStore: boolean
  /** The repository of an earlier try, which volumes are in already. */
  repository: string | null
  /** Bytes of the chosen volumes and of the databases. */
  volumes: number
  data: number
  images: Image[]
}

type Image = { id: string; size: number; tag: string | null }

/** What the new server restores of volumes. */
export type Snapshot = {
  snapshot: string
  volumes: { name: string; labels: Record<string, string> }[]
}

/** Requests of the old server. */
type Requests = {
  look: { needs: Needs }
  begin: {
    moveId: string
    /** The installation that moves. */
    instanceId: string
    from: string
    settings: Record<string, string>
    /** Which one volumes will be in, and its key: that of an earlier try is used again. */
    repository: string
    password: string
  }
  /** Names images that are there, and asks for those that aren't. */
  images: { images: Image[] }
  /** The keys of the repository and of Davit's backup. */
  fill: { snapshots: Snapshot[]; password: string; passphrase: string }
  start: { expected: { id: string; name: string }[]; before: Visit[] }
  keep: { isFinal: boolean }
  state: { moveId: string }
  halt: { moveId: string }
}

export type RequestName = keyof Requests
export type Request<Ask extends RequestName = RequestName> = { ask: Ask } & Requests[Ask]

export type Compared = {
  /** What doesn't run there, or responds with another status. */
  differences: string[]
  /** Apps that respond as they do here. */
  alike: string[]
  /** Apps whose pages have another title or length. */
  changed: string[]
}

export type Found = {
  findings: Judged[]
  /** Ids of images that it lacks. */
  missing: string[]
  /** The time of an earlier copy, which is replaced. */
  copyFrom: string | null
  addresses: string[]
}

export type Answers = {
  look: Found
  begin: void
  images: { missing: string[] }
  fill: void
  start: Compared
  keep: void
  state: { phase: string | null }
  halt: void
}

/** Of the new server. */
export type Reply = {
  say?: string
  done?: unknown
  failed?: { code: string; message: string; hint: string }
}

/** Milliseconds between two signs of life of the old server, and without one until the new one ends the move. */
export const alive = { every: 30_000, longest: 3 * 60_000 }

/** Characters. */
const longestLine = 4 * 2 ** 20

/** One without anything only says that its side works on. */
export const lineOf = (message: Request | Reply | Record<string, never>) =>
  Buffer.from(`${JSON.stringify(message)}\n`)

/** Throws a Failure for what isn't a message. One that is cut is as little as none. */
export async function* messagesIn(source: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const lines = new LineSplitter(longestLine)
  for await (const chunk of source) for (const line of lines.push(chunk)) yield parsed(line)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new Failure(
      'move_protocol',
      `The other side doesn’t speak as davit move does: it starts with “${inOneLine(line.slice(0, 40))}”.`,
      'Its shell may print something when it starts: only terminals may get that (.bashrc, .profile).',
    )
  }
}

/** Text from the other server is shown in a terminal, so control characters are removed. */
export function readReply(message: unknown): Reply {
  if (typeof message !== 'object' || message === null) throw notExpected()
  return withoutControls(message) as Reply
}

function withoutControls(value: unknown): unknown {
  if (typeof value === 'string') return inOneLine(value)
  if (Array.isArray(value)) return value.map(withoutControls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutControls(one)]))
}

/** For a message that is invalid, or that isn't allowed at this point. */
export const notExpected = () =>
  new Failure(
    'move_protocol',
    'The other side said something that this Davit doesn’t understand.',
    'Install the same version of Davit on both servers.',
  )
