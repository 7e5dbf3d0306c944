import { z } from 'zod'
import { inOneLine } from '../../platform/terminal-text.ts'
import { notExpected } from './frames.ts'

const text = z.string().max(4096)
const name = z.string().min(1).max(255)
/** Text from the other server is shown in a terminal, so control characters are removed. */
const shown = text.transform(inOneLine)
const count = z.number().int().nonnegative()
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** Only names that the engine accepts; none of them is a path. */
const volumeName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/)
const imageId = z.string().regex(/^sha256:[0-9a-f]{64}$/)
export const settingName = z.string().regex(/^(DAVIT|DOCKER)_[A-Z_]{1,60}$/)
export const settingValue = z
  .string()
  .max(8192)
  .regex(/^[^\p{Cc}]*$/u)

/** Requests of the old server. Data frames follow image, volume and backup, and then their checksum. */
export const request = z.discriminatedUnion('ask', [
  z.object({
    ask: z.literal('look'),
    /** Ports that Davit will need there. */
    ports: z.array(count.max(65_535)).max(16),
    /** The installation that moves. */
    instanceId: text,
    /** Files and folders that its settings name. */
    files: z.array(text).max(16).default([]),
  }),
  z.object({
    ask: z.literal('begin'),
    moveId: name,
    /** The installation that moves. */
    instanceId: name,
    from: text,
    settings: z.record(settingName, settingValue),
  }),
  z.object({ ask: z.literal('has'), images: z.array(imageId).max(5_000) }),
  z.object({ ask: z.literal('name'), id: imageId, name: text }),
  z.object({ ask: z.literal('image') }),
  z.object({ ask: z.literal('volume'), name: volumeName, labels: z.record(text, text) }),
  z.object({ ask: z.literal('backup'), passphrase: text }),
  /** Allowed anywhere, even between data frames; has no reply. */
  z.object({ ask: z.literal('alive') }),
  z.object({ ask: z.literal('sum'), bytes: count, sha256: hash }),
  z.object({ ask: z.literal('start') }),
  z.object({ ask: z.literal('running') }),
  z.object({ ask: z.literal('visit') }),
  z.object({ ask: z.literal('keep'), isFinal: z.boolean() }),
  z.object({ ask: z.literal('state'), moveId: name }),
  z.object({ ask: z.literal('halt'), moveId: name }),
])

export type Request = z.infer<typeof request>

const state = z.object({
  /** The id of the environment or service. */
  id: shown,
  name: shown,
  isRunning: z.boolean(),
  /** True when its state is final. */
  isOver: z.boolean(),
  state: shown,
})

export const visit = z.object({
  id: shown,
  name: shown,
  /** Null when it didn't respond. */
  status: z.number().nullable(),
  length: count.nullable(),
  title: shown.nullable(),
})

export const facts = z.object({
  version: shown,
  arch: shown,
  isRoot: z.boolean(),
  /** What it lacks to be an installation by `davit install`; null when it has everything. */
  lacks: shown.nullable(),
  engine: shown.nullable(),
  /** The engine that Davit uses there instead of the local one, which receives the move. */
  otherEngine: shown.nullable(),
  /** The user and group that root is mapped to, who own the files of volumes; null without mapping. */
  userNamespace: shown.nullable(),
  /** True if containerd stores the images, which changes their ids. */
  hasContainerdStore: z.boolean(),
  /** Why the server isn't empty; null if a move may use it. */
  occupied: shown.nullable(),
  /** The time of an earlier copy, which is replaced. */
  copyFrom: shown.nullable(),
  /** Bytes of the earlier copy's volumes, which are removed first. */
  replaced: count,
  /** Ports that Davit needs and other programs use. */
  taken: z.array(shown),
  /** Files from the request that don't exist. */
  missing: z.array(shown).default([]),
  space: z.object({ folder: shown, free: count, disk: z.number() }).nullable(),
  dataSpace: z.object({ folder: shown, free: count, disk: z.number() }).nullable(),
  addresses: z.array(shown),
})

export type Facts = z.infer<typeof facts>
export type WorkState = z.infer<typeof state>
export type Visit = z.infer<typeof visit>

const failed = z.object({ code: shown, message: shown, hint: shown })

/** Replies of the new server by request. */
export const answers = {
  look: facts,
  begin: z.object({}),
  has: z.object({ missing: z.array(shown) }),
  name: z.object({}),
  image: z.object({}),
  volume: z.object({}),
  backup: z.object({}),
  start: z.object({}),
  running: z.object({ states: z.array(state) }),
  visit: z.object({ visits: z.array(visit) }),
  keep: z.object({}),
  state: z.object({ phase: shown.nullable() }),
  halt: z.object({}),
} as const

export type Asked = keyof typeof answers
export type Answer<Ask extends Asked> = z.infer<(typeof answers)[Ask]>

const reply = z.union([z.object({ failed }), z.object({ done: z.unknown() })])

export function readRequest(message: unknown): Request {
  const read = request.safeParse(message)
  if (!read.success) throw notExpected()
  return read.data
}

/** Returns the result or the refusal. Throws for an invalid reply. */
export function readReply<Ask extends Asked>(ask: Ask, message: unknown) {
  const read = reply.safeParse(message)
  if (!read.success) throw notExpected()
  if ('failed' in read.data) return { failed: read.data.failed }
  const done = answers[ask].safeParse(read.data.done)
  if (!done.success) throw notExpected()
  return { done: done.data as Answer<Ask> }
}
