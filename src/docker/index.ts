import type { Engine } from './engine.ts'
import { buildImage } from './build.ts'
import { whyUncapped } from './buildkit-caps.ts'
import { inspectContainer, inspectEnded } from './container-inspect.ts'
import { listContainers } from './container-list.ts'
import {
  createContainer,
  removeContainer,
  restartContainer,
  setRestartPolicy,
  startContainer,
  stopContainer,
  waitForExit,
  putArchive,
} from './containers.ts'
import { diskUse, removeBuildCache } from './disk-use.ts'
import { connectEngine } from './engine.ts'
import { engineEvents } from './events.ts'
import { hasImage, inspectImage, listImages, removeImage, tagImage } from './images.ts'
import { untilHealthTestPasses } from './health-test.ts'
import { engineFrontend, engineInfo, engineMachine } from './info.ts'
import { containerLogs, logSnapshot, waitForOutput } from './logs.ts'
import { createNetwork, listNetworks, networkUse, removeNetwork } from './networks.ts'
import { imageDigest, pullImage, checkRegistry } from './pull.ts'
import { containerStats } from './stats.ts'
import { usedSubnets } from './subnets.ts'
import { createVolume, listVolumes, removeVolume } from './volumes.ts'

export type Docker = ReturnType<typeof connectDocker>

/** Contacts nothing yet: an engine that is absent fails the calls that need it, one by one. */
export function connectDocker({ host }: { host?: string | undefined } = {}) {
  const engine = connectEngine(host)
  const on =
    <A extends unknown[], R>(call: (engine: Engine, ...args: A) => R) =>
    (...args: A): R =>
      call(engine, ...args)

  return {
    /** Container addresses can't be reached from here. */
    remote: engine.address.kind !== 'socket',
    info: on(engineInfo),
    machine: on(engineMachine),
    events: on(engineEvents),

    frontend: on(engineFrontend),
    buildImage: on(buildImage),
    whyUncapped: on(whyUncapped),
    pullImage: on(pullImage),
    imageDigest: on(imageDigest),
    inspectImage: on(inspectImage),
    hasImage: on(hasImage),
    listImages: on(listImages),
    tagImage: on(tagImage),
    removeImage: on(removeImage),

    createContainer: on(createContainer),
    startContainer: on(startContainer),
    stopContainer: on(stopContainer),
    restartContainer: on(restartContainer),
    removeContainer: on(removeContainer),
    putArchive: on(putArchive),
    inspectContainer: on(inspectContainer),
    inspectEnded: on(inspectEnded),
    untilHealthTestPasses: on(untilHealthTestPasses),
    listContainers: on(listContainers),
    waitForExit: on(waitForExit),
    setRestartPolicy: on(setRestartPolicy),
    containerLogs: on(containerLogs),
    containerStats: on(containerStats),
    logSnapshot: on(logSnapshot),
    waitForOutput: on(waitForOutput),

    diskUse: on(diskUse),
    removeBuildCache: on(removeBuildCache),

    checkRegistry: on(checkRegistry),

    listNetworks: on(listNetworks),
    networkUse: on(networkUse),
    createNetwork: on(createNetwork),
    removeNetwork: on(removeNetwork),
    usedSubnets: on(usedSubnets),

    createVolume: on(createVolume),
    listVolumes: on(listVolumes),
    removeVolume: on(removeVolume),
  }
}

export type { BuildOptions, BuildOutput } from './build.ts'
export type { ContainerOptions, Granted, HealthCheck, RestartPolicy } from './container-config.ts'
export type { Container } from './container-inspect.ts'
export { killed } from './container-inspect.ts'
export type { ContainerSummary } from './container-list.ts'
export type { ContainerState, Health } from './container-state.ts'
export type { CacheEntry, DiskUse, UsedContainer, UsedImage, UsedVolume } from './disk-use.ts'
export type { RegistryAuth } from './engine.ts'
export type { EngineEvent } from './events.ts'
export type { Image } from './images.ts'
export { isOverloaded } from './images.ts'
export type { HealthVerdict } from './health-test.ts'
export type { EngineInfo } from './info.ts'
export type { LogEntry } from './log-entries.ts'
export { cutLine, isCut, lastDrawn } from './lines.ts'
export type { ContainerLine, ContainerLogsOptions, LogSnapshotOptions } from './logs.ts'
export type { Network } from './networks.ts'
export type { LayerProgress } from './pull.ts'
export type { ContainerUsage, StatsReading } from './stats.ts'
export type { ArchivedFile } from './tar.ts'
export { tarHead, tarPadding } from './tar.ts'
export { buildCaps } from './build-caps.ts'
export { BuildError } from './build-error.ts'
export { compatCapabilities } from './container-config.ts'
export { publishedOnce } from './container-state.ts'
export { atItsPace } from './containers.ts'
export { EngineError } from './failures.ts'
export { EngineFeed } from './feed.ts'
export { resync } from '../live/hub.ts'
export { isSubnetTaken } from './networks.ts'
export { waitUntilAnswers } from './probe.ts'
export { usageBetween } from './stats.ts'
export { unlessUsed } from './refusals.ts'
export { freeAddress, freeSubnet, gatewayOf, roomOf } from './subnets.ts'
