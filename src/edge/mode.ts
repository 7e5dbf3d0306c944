import { Failure } from '../platform/errors.ts'
import { listenersOn } from '../platform/tcp-sockets.ts'

/** The kernel's limit for the path of a socket, in bytes. */
const longestSocket = 107

/** Why no Caddy of this machine reaches the containers of an engine. */
export type Apart = 'remote' | 'rootless'

/** What an engine says before a Caddy runs on it. */
export type Here = {
  apart: Apart | null
  /** True when Davit itself runs in a container, whose files the engine doesn't see. */
  isContained: boolean
  /** True when this installation's Caddy is running and has its ports. */
  isRunning: boolean
  hasImage: boolean
}

type Surroundings = Omit<Here, 'hasImage'> & {
  /** As Davit sees it. */
  folder: string
  ports: { http: number; https: number }
  /** Names the program that listens on a port, if it can be seen. */
  holderOf?: (port: number) => Promise<string>
}

/** Why Davit can't run Caddy here, so that apps are reached by their own ports; null when it can. */
export async function refusedHere(place: Surroundings): Promise<Failure | null> {
  if (place.apart) return refusedApart(place.apart)
  if (place.isContained)
    return cannotRun('Davit runs in a container', 'Run it on the host, or set DAVIT_EDGE=external.')
  if (isTooLong(place.folder))
    return cannotRun(
      'the path of the data directory is too long for a socket',
      'Set DAVIT_DATA_DIR to a shorter one.',
    )
  if (place.isRunning) return null
  const [taken] = await listenersOn([place.ports.http, place.ports.https])
  if (!taken) return null
  const { port, by } = taken
  const holder = (await place.holderOf?.(port)) ?? by?.name ?? 'something'
  return cannotRun(
    `${holder} on this server listens on port ${port}`,
    'Stop it, and Davit starts Caddy by itself. If it is your own Caddy, set DAVIT_EDGE=external.',
  )
}

/** True when the paths of sockets in a folder would be too long. */
export const isTooLong = (folder: string) =>
  Buffer.byteLength(`${folder}/pages/maintenance.sock`) > longestSocket

/** True when the state of containers is unknown now. */
export const isEngineAway = (error: unknown) =>
  error instanceof Failure && error.code === 'engine_unreachable'

/** Applies to every Caddy of this machine, whoever runs it. */
export const refusedApart = (apart: Apart) =>
  apart === 'remote'
    ? cannotRun('Docker is on another machine', 'Run Davit on that machine.')
    : cannotRun('Docker runs rootless', 'Use a Docker that root runs.')

export const cannotRun = (why: string, hint: string) =>
  new Failure('edge_direct', `Domains and HTTPS are off, because ${why}.`, hint)
