import { withProcesses } from './beginnings.ts'
import type { Story } from './order.ts'

const served = { settings: {}, isDeployed: true }
const withVolume = { settings: { volumes: ['data:/data'] }, isDeployed: true }
const worker = { settings: { port: 0 }, isDeployed: true }
const withService = { settings: {}, isDeployed: false, serviceSeed: 11 }
const withDatabase = { ...withService, serviceSeed: 3 }
const withFailedService = { ...withService, serviceSeed: 9 }
const stack = { settings: {}, isDeployed: true, isStack: true }
const withRelease = { settings: { releaseCommand: ['sleep', '1'] }, isDeployed: true }
const bare = { settings: {}, isDeployed: false }
const twofold = { ...withVolume, isTwofold: true }

/** What users do one after another, for kills at each call that it takes. */
export const stories: Record<string, Story> = {
  'a first deployment': { beginning: bare, acts: ['deploy'] },
  'a deployment that stops the old version first': { beginning: withVolume, acts: ['deploy'] },
  'a deployment of a worker': { beginning: worker, acts: ['deploy'] },
  'a deployment that doesn’t respond': { beginning: withVolume, acts: ['deploy'], app: 'ill' },
  'a deployment that ends at once': { beginning: served, acts: ['deploy'], app: 'ends' },
  'a deployment of several processes': { beginning: withProcesses[0]!, acts: ['deploy'] },
  'a deployment of several processes on one volume, that doesn’t respond': {
    beginning: withProcesses[1]!,
    acts: ['deploy'],
    app: 'ill',
  },
  'a deployment with a release command': { beginning: withRelease, acts: ['deploy'] },
  'a deployment whose release command fails': {
    beginning: { ...withRelease, settings: { releaseCommand: ['false'] } },
    acts: ['deploy'],
  },
  'a deployment that keeps services of a Compose file': { beginning: stack, acts: ['deploy'] },
  'a deployment of a Compose file that doesn’t respond': {
    beginning: stack,
    acts: ['deploy'],
    app: 'ill',
  },
  'a rollback of a Compose file': { beginning: stack, acts: ['deploy', 'rollBack'] },
  'a run of a command': { beginning: served, acts: ['runCommand'] },
  'a backup of a service': { beginning: withDatabase, acts: ['backUpService'] },
  'a backup of an environment': { beginning: withVolume, acts: ['backUpApp'] },
  'a proof of a backup': { beginning: withDatabase, acts: ['backUpService', 'proveBackup'] },
  'a restore of a service': {
    beginning: withDatabase,
    acts: ['backUpService', 'restoreService'],
  },
  'a restore into a new service': {
    beginning: withDatabase,
    acts: ['backUpService', 'restoreNew'],
  },
  'a clean-up': { beginning: served, acts: ['deploy', 'cleanUp'] },
  'a rollback': { beginning: served, acts: ['deploy', 'rollBack'] },
  'a promotion': {
    beginning: { ...served, isTwofold: true },
    acts: ['promoteAutomatically', 'deployFirst'],
  },
  'a version that crashes while it is watched': {
    beginning: served,
    acts: ['deploy', 'deploy'],
    app: 'endsLater',
  },
  'a share of the requests that is promoted': {
    beginning: served,
    acts: ['deploy', 'share', 'promoteShare'],
    isBehindEdge: true,
  },
  'a share of the requests that is taken back': {
    beginning: served,
    acts: ['deploy', 'share', 'cancelShare'],
    isBehindEdge: true,
  },
  'a promotion that waits for the end of a freeze': {
    beginning: { ...served, isTwofold: true },
    acts: ['promoteAutomatically', 'freezeSecond', 'deployFirst', 'endFreeze'],
  },
  'a rollout without a build': { beginning: withVolume, acts: ['apply'] },
  'a stop of an environment': { beginning: served, acts: ['stopApp'] },
  'a restart of an environment': { beginning: served, acts: ['restartApp'] },
  'a restart of several processes': { beginning: withProcesses[0]!, acts: ['restartApp'] },
  'a stop and a start of an environment': { beginning: served, acts: ['stopApp', 'startApp'] },
  'a deletion of an environment': { beginning: twofold, acts: ['deleteEnvironment'] },
  'a deletion of a project': { beginning: withVolume, acts: ['deleteProject'] },
  'a new service': { beginning: bare, acts: ['makeService'] },
  'a change of a service': { beginning: withService, acts: ['changeService'] },
  'a restart of a service': { beginning: withService, acts: ['restartService'] },
  'a restart of a service that failed': { beginning: withFailedService, acts: ['restartService'] },
  'a stop of a service': { beginning: withService, acts: ['stopService'] },
  'a stop and a start of a service': {
    beginning: withService,
    acts: ['stopService', 'restartService'],
  },
  'a deletion of a service': { beginning: withService, acts: ['deleteService'] },
}
