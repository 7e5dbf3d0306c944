/*
 * What can be asked of an engine, which each of them takes as its first argument.
 */
export { attachContainer } from './attach.ts'
export { buildImage } from './build.ts'
export { whyUncapped } from './buildkit-caps.ts'
export { inspectContainer, inspectEnded } from './container-inspect.ts'
export { listContainers } from './container-list.ts'
export { createContainer, putArchive, removeContainer, restartContainer } from './containers.ts'
export { setRestartPolicy, startContainer, stopContainer, waitForExit } from './containers.ts'
export { diskUse, removeBuildCache } from './disk-use.ts'
export { engineEvents as events } from './events.ts'
export { untilHealthTestPasses } from './health-test.ts'
export { hasImage, inspectImage, listImages, removeImage, tagImage } from './images.ts'
export { engineFrontend as frontend, engineInfo as info, engineMachine as machine } from './info.ts'
export { containerLogs, logSnapshot, waitForOutput } from './logs.ts'
export {
  connectNetwork,
  createNetwork,
  disconnectNetwork,
  listJoined,
  listNetworks,
  networkUse,
  removeNetwork,
} from './networks.ts'
export { checkRegistry, imageDigest, pullImage } from './pull.ts'
export { containerStats } from './stats.ts'
export { usedSubnets } from './subnets.ts'
export { endLeftTerminals, openTerminal } from './terminal.ts'
export { createVolume, listVolumes, removeVolume } from './volumes.ts'
