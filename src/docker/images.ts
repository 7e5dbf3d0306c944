import { Readable } from 'node:stream'
import { Failure } from '../platform/errors.ts'
import { AnswerTooLarge } from './engine.ts'
import type { Abortable, Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { portsLabel } from './labels.ts'
import { readJsonLines } from './lines.ts'
import { orNull, retryWhileBusy, unlessMissing } from './refusals.ts'

export type Image = NonNullable<Awaited<ReturnType<typeof inspectImage>>>
export type ImageSummary = ReturnType<typeof toImageSummary>

type Inspected = {
  Id: string
  RepoTags: string[] | null
  RepoDigests: string[] | null
  Created: string
  Size: number
  RootFS?: { Layers?: string[] | null } | null
  Config: {
    Labels?: Record<string, string> | null
    ExposedPorts?: Record<string, object> | null
    OnBuild?: string[] | null
    Volumes?: Record<string, object> | null
    Healthcheck?: { Interval?: number } | null
    Entrypoint?: string[] | null
    Cmd?: string[] | null
    Env?: string[] | null
  } | null
}

export type SentImage = {
  Id: string
  RepoTags: string[] | null
  Labels: Record<string, string> | null
  Created: number
  Size: number
}

/**
 * An image may add at most these settings to each of its containers: the engine stores all of them for every
 * container, and includes labels, command, ports and volumes in each list.
 */
const maxConfig = { bytes: 128 * 1024, ports: 1000, volumes: 64 }

/** In bytes; enough for an image within the limits and its layers. */
const maxAnswer = 2 * 1024 * 1024

/** Null when it doesn't exist. Throws when its settings are far too large: it must not be used. */
export async function inspectImage(engine: Engine, ref: string, { signal }: Abortable = {}) {
  const options = { signal, maxBytes: maxAnswer }
  const found = await orNull(
    engine.request<Inspected>('GET', `${pathOf(ref)}/json`, options).catch((error) => {
      throw error instanceof AnswerTooLarge ? overloaded('over 2 MiB of settings') : error
    }),
  )
  if (!found) return null
  const config = found.Config ?? {}
  refuseOverloaded(config)
  const { Labels, ExposedPorts, OnBuild, Healthcheck, Env, Entrypoint, Cmd, Volumes } = config
  return {
    id: found.Id,
    tags: found.RepoTags ?? [],
    /** Its names in registries, such as `busybox@sha256:…`; empty for one that was built or loaded here. */
    digests: found.RepoDigests ?? [],
    /** Instructions that run in builds based on it. */
    onBuild: OnBuild ?? [],
    /** `NAME=value`. */
    env: Env ?? [],
    labels: Labels ?? {},
    /** The lowest first. */
    layers: found.RootFS?.Layers ?? [],
    createdAt: new Date(found.Created),
    size: found.Size,
    /** TCP ports. For an image that was built here, the Dockerfile's own come first, in its order. */
    exposedPorts: await inOrder(engine, ref, {
      ports: tcpPorts(ExposedPorts ?? {}),
      own: Labels?.[portsLabel] ?? '',
      signal,
    }),
    entrypoint: Entrypoint ?? [],
    command: Cmd ?? [],
    /** Paths that it declares as volumes, if any. */
    ...(Volumes && { volumes: Object.keys(Volumes).toSorted() }),
    /** The interval of its health check in milliseconds; null when it isn't set. */
    healthInterval: Healthcheck?.Interval ? Healthcheck.Interval / 1e6 : null,
  }
}

export async function hasImage(engine: Engine, ref: string, { signal }: Abortable = {}) {
  const answer = engine.stream('GET', `${pathOf(ref)}/json`, { signal })
  try {
    return (await orNull(answer.next())) !== null
  } finally {
    await answer.return(undefined)
  }
}

function refuseOverloaded(config: NonNullable<Inspected['Config']>) {
  const bytes = Buffer.byteLength(JSON.stringify(config))
  const ports = Object.keys(config.ExposedPorts ?? {}).length
  const volumes = Object.keys(config.Volumes ?? {}).length
  if (bytes > maxConfig.bytes) throw overloaded(`${Math.ceil(bytes / 1024)} KiB of settings`)
  if (ports > maxConfig.ports) throw overloaded(`${ports} exposed ports`)
  if (volumes > maxConfig.volumes) throw overloaded(`${volumes} volumes`)
}

/** True when an image was refused because of the size of its settings. */
export const isOverloaded = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'image_overloaded'

const overloaded = (what: string) =>
  new Failure(
    'image_overloaded',
    `The image has ${what}, which is more than a container may have.`,
    `Shorten its labels, variables and command to ${maxConfig.bytes / 1024} KiB, and use at most ${maxConfig.ports} exposed ports and ${maxConfig.volumes} volumes.`,
  )

/** Newest first. A label is `key` or `key=value`. */
export async function listImages(
  engine: Engine,
  { labels = [], signal }: { labels?: string[] } & Abortable = {},
): Promise<ImageSummary[]> {
  const query = { filters: { label: labels } }
  const found = await engine.request<SentImage[]>('GET', '/images/json', { query, signal })
  return found.map(toImageSummary)
}

export const toImageSummary = (sent: SentImage) => ({
  id: sent.Id,
  tags: (sent.RepoTags ?? []).filter((tag) => tag !== '<none>:<none>'),
  labels: sent.Labels ?? {},
  createdAt: new Date(sent.Created * 1000),
  size: sent.Size,
})

export const tagImage = (engine: Engine, id: string, name: string) => {
  const colon = name.lastIndexOf(':')
  const query = { repo: name.slice(0, colon), tag: name.slice(colon + 1) }
  return engine.request('POST', `${pathOf(id)}/tag`, { query })
}

/** False when it didn't exist, or another call removed it. One in use is refused with status 409. */
export const removeImage = (
  engine: Engine,
  ref: string,
  { force = false, signal }: { force?: boolean } & Abortable = {},
) =>
  retryWhileBusy(signal, () =>
    unlessMissing(engine.request('DELETE', pathOf(ref), { query: { force }, signal })),
  )

/** Yields a tar archive of the image with its name and all of its layers. */
export const saveImage = (engine: Engine, ref: string, { signal }: Abortable = {}) =>
  engine.stream('GET', `/images/${encodeReference(ref)}/get`, { signal })

/**
 * Adds the images of such an archive under their names, and gives the archive up when that ends early. Throws
 * the engine's refusal, and the archive's own error when that breaks off.
 */
export async function loadImage(
  engine: Engine,
  archive: AsyncIterable<Uint8Array>,
  { signal }: Abortable = {},
) {
  const upload = Readable.from(archive)
  let broken: unknown
  upload.on('error', (error) => (broken ??= error))
  try {
    const call = { query: { quiet: true }, upload, signal }
    const answer = engine.stream('POST', '/images/load', call)
    for await (const { error } of readJsonLines<{ error?: string }>(answer))
      if (error) throw new EngineError(500, error)
  } catch (error) {
    signal?.throwIfAborted()
    throw broken ?? error
  } finally {
    upload.destroy()
  }
}

const tcpPorts = (exposed: Record<string, object>) =>
  Object.keys(exposed)
    .filter((port) => !port.includes('/') || port.endsWith('/tcp'))
    .map((port) => Number.parseInt(port))
    .sort((a, b) => a - b)

/** An image lists its ports unordered, but its history has a line for each EXPOSE. */
async function inOrder(
  engine: Engine,
  ref: string,
  { ports, own, signal }: { ports: number[]; own: string } & Abortable,
) {
  if (ports.length < 2) return ports
  type Layer = { CreatedBy: string }
  const layers = await engine.request<Layer[]>('GET', `${pathOf(ref)}/history`, { signal })
  const exposing = layers.reverse().filter(({ CreatedBy }) => CreatedBy.includes('EXPOSE'))
  const mentioned = exposing.flatMap(({ CreatedBy }) => CreatedBy.match(/\d+/g) ?? []).map(Number)
  const first = own.split(',').map(Number)
  const known = [...first, ...mentioned].filter((port) => ports.includes(port))
  return [...new Set([...known, ...ports])]
}

// a reference's slashes are part of the path; the engine doesn't decode them
export const encodeReference = (ref: string) => encodeURIComponent(ref).replaceAll('%2F', '/')

const pathOf = (ref: string) => `/images/${encodeReference(ref)}`
