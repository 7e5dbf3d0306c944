/*
 * All calls to an engine, which each takes as its first argument.
 */
export { attachContainer } from './attach.ts'
export { buildImage } from './build.ts'
export { whyUncapped } from './buildkit-caps.ts'
export { inspectContainer, inspectEnded } from './container-inspect.ts'
export { listContainers } from './container-list.ts'
export { createContainer, putArchive, readArchive, removeContainer } from './containers.ts'
export { pauseContainer, putTar, restartContainer, unpauseContainer } from './containers.ts'
export { setRestartPolicy, startContainer, stopContainer, waitForExit } from './containers.ts'
export { diskUse, removeBuildCache } from './disk-use.ts'
export { engineEvents as events } from './events.ts'
export { runInContainer } from './exec.ts'
export { untilHealthTestPasses } from './health-test.ts'
export {
  hasImage,
  inspectImage,
  listImages,
  loadImage,
  removeImage,
  saveImage,
  tagImage,
} from './images.ts'
export {
  engineFrontend as frontend,
  engineInfo as info,
  engineMachine as machine,
  whyApart,
} from './info.ts'
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
export { execPiped, runPiped } from './piped.ts'
export { checkRegistry, imageDigest, pullImage } from './pull.ts'
export { pushImage } from './push.ts'
export { containerStats } from './stats.ts'
export { usedSubnets } from './subnets.ts'
export {
  beginSwarm,
  getNode,
  getSwarm,
  joinSwarm,
  leaveSwarm,
  listNodes,
  removeNode,
  swarmState,
} from './swarm.ts'
export { endLeftTerminals, openTerminal } from './terminal.ts'
export { createVolume, listVolumes, removeVolume, volumeFolder } from './volumes.ts'

/** Asked rarely, and loaded then. */
export const rootSpace = async (
  ...args: Parameters<(typeof import('./root-space.ts'))['rootSpace']>
) => (await import('./root-space.ts')).rootSpace(...args)
