import { containerLimits } from '../platform/limits.ts'
import type { ContainerOptions, RestartPolicy } from './container-config.ts'
import type { Abortable, Engine } from './engine.ts'
import { isInit } from './init.ts'
import { containerConfig, restartPolicy } from './container-config.ts'
import { inspectImage } from './images.ts'
import type { Image } from './images.ts'
import { retryWhileBusy, unlessMissing } from './refusals.ts'
import { Readable } from 'node:stream'
import type { ArchivedFile } from './tar.ts'
import { tarOf } from './tar.ts'

/** Returns the id of the new container. An existing name is refused with status 409. */
export async function createContainer(
  engine: Engine,
  { signal, ...options }: ContainerOptions & Abortable,
): Promise<string> {
  const query = { name: options.name, ...(options.platform && { platform: options.platform }) }
  const image = await inspectImage(engine, options.image, { signal })
  const body = containerConfig({
    ...(image && lessOften(image)),
    ...options,
    init: options.init ?? !(image && isInit(argvOf(image, options))),
  })
  const { Id } = await engine.request<{ Id: string }>('POST', '/containers/create', {
    query,
    body,
    signal,
  })
  return Id
}

/**
 * The engine starts each health check as a process outside the limits of the container: an image must not
 * request one every millisecond.
 */
function lessOften({ healthInterval: asked }: Image): Pick<ContainerOptions, 'healthCheck'> {
  const { healthInterval: least } = containerLimits
  return asked && asked < least ? { healthCheck: { interval: least } } : {}
}

/** An explicit entrypoint replaces the image's command too. */
const argvOf = (image: Image, { entrypoint, command }: ContainerOptions) => [
  ...(entrypoint ?? image.entrypoint),
  ...(command ?? (entrypoint ? [] : image.command)),
]

export const startContainer = (engine: Engine, id: string, { signal }: Abortable = {}) =>
  engine.request('POST', `/containers/${encodeURIComponent(id)}/start`, { signal })

type Grace = {
  /** Seconds between stop signal and SIGKILL; by default its own, for a database writes its data then. */
  timeoutSeconds?: number | undefined
}

/** Sends its stop signal, then SIGKILL after the timeout. Returns false when there is no such container. */
export const stopContainer = (engine: Engine, id: string, options: Grace & Abortable = {}) =>
  unlessMissing(signalAndWait(engine, id, 'stop', options))

/** Freezes its processes. Throws unless it runs. */
export const pauseContainer = (engine: Engine, id: string, { signal }: Abortable = {}) =>
  engine.request('POST', `/containers/${encodeURIComponent(id)}/pause`, { signal })

/** Throws unless it is paused. */
export const unpauseContainer = (engine: Engine, id: string, { signal }: Abortable = {}) =>
  engine.request('POST', `/containers/${encodeURIComponent(id)}/unpause`, { signal })

/** Starts it even if it was stopped. Returns false when there is no such container. */
export const restartContainer = (engine: Engine, id: string, options: Grace & Abortable = {}) =>
  unlessMissing(signalAndWait(engine, id, 'restart', options))

const signalAndWait = (
  engine: Engine,
  id: string,
  verb: 'stop' | 'restart',
  { timeoutSeconds, signal }: Grace & Abortable,
) =>
  engine.request('POST', `/containers/${encodeURIComponent(id)}/${verb}`, {
    query: { t: timeoutSeconds },
    signal,
    timeout: timeoutSeconds === undefined ? null : timeoutSeconds * 1000 + 30_000,
  })

/** Resolves once it was removed, by this or another call. Returns false when there was no such container. */
export const removeContainer = (
  engine: Engine,
  id: string,
  {
    force = false,
    volumes = false,
    signal,
  }: { force?: boolean; volumes?: boolean } & Abortable = {},
) =>
  retryWhileBusy(signal, () =>
    unlessMissing(
      engine.request('DELETE', `/containers/${encodeURIComponent(id)}`, {
        query: { force, v: volumes },
        signal,
      }),
    ),
  )

export const setRestartPolicy = (
  engine: Engine,
  id: string,
  policy: RestartPolicy,
  { signal }: Abortable = {},
) =>
  retryWhileBusy(signal, () =>
    engine.request('POST', `/containers/${encodeURIComponent(id)}/update`, {
      body: { RestartPolicy: restartPolicy(policy) },
      signal,
    }),
  )

/** Waits without a timeout. Returns at once for a container that doesn't run. */
export async function waitForExit(
  engine: Engine,
  id: string,
  { signal }: Abortable = {},
): Promise<{ exitCode: number }> {
  const path = `/containers/${encodeURIComponent(id)}/wait`
  const options = { signal, timeout: null }
  const { StatusCode } = await engine.request<{ StatusCode: number }>('POST', path, options)
  return { exitCode: StatusCode }
}

/**
 * Writes files into a container, running or not, below an existing directory; missing directories are
 * created. The engine refuses it for a read-only root file system.
 */
export const putArchive = (
  engine: Engine,
  id: string,
  { files, ...options }: { path: string; files: ArchivedFile[] } & Abortable,
): Promise<void> => putTar(engine, id, { tar: Readable.from([tarOf(files)]), ...options })

/** Unpacks a tar archive under the same conditions as `putArchive`. */
export async function putTar(
  engine: Engine,
  id: string,
  { path, tar, signal }: { path: string; tar: Readable } & Abortable,
): Promise<void> {
  const query = { path, noOverwriteDirNonDir: true }
  const url = `/containers/${encodeURIComponent(id)}/archive`
  for await (const _ of engine.stream('PUT', url, { query, upload: tar, signal })) continue
}

/** Returns a path of a container, all below it and its volumes, as a tar archive. It needn't run. */
export const readArchive = (
  engine: Engine,
  id: string,
  { path, signal }: { path: string } & Abortable,
) =>
  engine.stream('GET', `/containers/${encodeURIComponent(id)}/archive`, { query: { path }, signal })
