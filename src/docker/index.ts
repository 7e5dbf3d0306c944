import * as calls from './calls.ts'
import { connectEngine } from './engine.ts'
import type { Engine } from './engine.ts'

type Calls = typeof calls

/** The calls, bound to one engine. */
type Bound = {
  [Name in keyof Calls]: Calls[Name] extends (engine: Engine, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never
}

export type Docker = ReturnType<typeof connectDocker>

/** Contacts nothing yet: with an absent engine, each call fails on its own. */
export function connectDocker({ host }: { host?: string | undefined } = {}) {
  const engine = connectEngine(host)
  const bound = Object.entries(calls).map(([name, call]) => [
    name,
    (call as (...args: unknown[]) => unknown).bind(null, engine),
  ])
  return {
    ...(Object.fromEntries(bound) as Bound),
    /** True when it is on another machine. */
    remote: engine.address.kind !== 'socket',
  }
}

export type { BuildOptions } from './build.ts'
export type { BuildOutput } from './build-output.ts'
export type { ContainerOptions, Granted, HealthCheck, RestartPolicy } from './container-config.ts'
export type { Container } from './container-inspect.ts'
export { killed } from './container-inspect.ts'
export type { ContainerSummary } from './container-list.ts'
export type { ContainerState, Health } from './container-list.ts'
export type { CacheEntry, DiskUse, UsedContainer, UsedImage, UsedVolume } from './disk-use.ts'
export type { RegistryAuth } from './engine.ts'
export type { EngineEvent } from './events.ts'
export type { Image } from './images.ts'
export { isOverloaded } from './images.ts'
export type { HealthVerdict } from './health-test.ts'
export type { Apart, EngineInfo } from './info.ts'
export type { LogEntry } from './log-entries.ts'
export { cutLine, isCut, lastDrawn } from './lines.ts'
export type { ContainerLine, ContainerLogsOptions, LogSnapshotOptions } from './logs.ts'
export type { Network } from './networks.ts'
export type { LayerProgress } from './pull-pace.ts'
export type { ContainerUsage, StatsReading } from './stats.ts'
export type { ArchivedFile } from './tar.ts'
export type { Terminal } from './terminal.ts'
export type { Attached, TerminalSize } from './attach.ts'
export { tarHead, tarPadding } from './tar.ts'
export { buildCaps } from './build-caps.ts'
export { BuildError, saidOf } from './build-output.ts'
export { compatCapabilities } from './container-config.ts'
export { publishedOnce } from './container-list.ts'
export { isSocket, remoteHost } from './address.ts'
export { EngineError } from './failures.ts'
export { EngineFeed } from './feed.ts'
export { resync } from '../live/hub.ts'
export { isSubnetTaken } from './networks.ts'
export { probeOnce, waitUntilAnswers } from './probe.ts'
export { usageBetween } from './stats.ts'
export { unlessUsed } from './refusals.ts'
export { freeAddress, freeSubnet, gatewayOf, roomOf } from './subnets.ts'
