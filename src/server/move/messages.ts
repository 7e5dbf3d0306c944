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

/** What the new server restores: volumes by their snapshots, and Davit's data, if its passphrase is there. */
export type Filling = {
  volumes: { snapshot: string; volumes: { name: string; labels: Record<string, string> }[] }[]
  passphrase?: string
  /** Without it the data is that of a copy, whose plans of backups are off. */
  isFinal?: boolean
}

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

/** What the old server asks for, and the replies. */
type Calls = {
  look: (asked: { needs: Needs }) => Found
  /** Which repository is used, and its key: that of an earlier try is used again. */
  begin: (asked: {
    moveId: string
    /** The installation that moves. */
    instanceId: string
    from: string
    settings: Record<string, string>
    repository: string
    password: string
  }) => void
  /** Names images that are there, and asks for those that aren't. */
  images: (asked: { images: Image[] }) => { missing: string[] }
  fill: (asked: Filling) => void
  start: (asked: { expected: { id: string; name: string }[]; before: Visit[] }) => Compared
  keep: (asked: { isFinal: boolean }) => void
  state: (asked: { moveId: string }) => { phase: string | null }
  halt: (asked: { moveId: string }) => void
}

export type RequestName = keyof Calls
export type Request<Ask extends RequestName = RequestName> = { ask: Ask } & Parameters<
  Calls[Ask]
>[0]
export type Answer<Ask extends RequestName> = ReturnType<Calls[Ask]>

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
export async function* messagesIn(
  source: AsyncIterable<Uint8Array>,
  read: (text: string) => string = (text) => text,
): AsyncGenerator<object> {
  const lines = new LineSplitter(longestLine)
  for await (const chunk of source)
    for (const line of lines.push(chunk)) {
      const message = parsed(line, read)
      if (typeof message !== 'object' || message === null) throw notExpected()
      yield message
    }
}

function parsed(line: string, read: (text: string) => string): unknown {
  try {
    return JSON.parse(line, (_, value) => (typeof value === 'string' ? read(value) : value))
  } catch {
    throw new Failure(
      'move_protocol',
      `The other side doesn’t speak as davit move does: it starts with “${inOneLine(line.slice(0, 40))}”.`,
      'Its shell may print something when it starts: only terminals may get that (.bashrc, .profile).',
    )
  }
}

/** For a message that is invalid, or that isn't allowed at this point. */
export const notExpected = () =>
  new Failure(
    'move_protocol',
    'The other side said something that this Davit doesn’t understand.',
    'Install the same version of Davit on both servers.',
  )
