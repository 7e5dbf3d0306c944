import { join } from 'node:path'
import { setupCodeFor } from './accounts/admission.ts'
import { handleAppJobs } from './apps/app-jobs.ts'
import type { Config } from './config.ts'
import { CleanUps } from './containers/clean-up/clean-ups.ts'
import { Conditions } from './runtime/conditions.ts'
import { ContainerStates } from './containers/container-states.ts'
import { UsagePoller } from './containers/usage/poller.ts'
import { openDatabase, openLogDatabase } from './db/index.ts'
import type { Db, LogDb } from './db/index.ts'
import { openInstallation } from './db/installation.ts'
import { deployHandler } from './deployments/deploy-job.ts'
import { connectDocker, EngineFeed } from './docker/index.ts'
import type { Docker } from './docker/index.ts'
import { connectGit } from './git/git.ts'
import type { Git } from './git/git.ts'
import { Hub } from './live/hub.ts'
import { Jobs } from './jobs/jobs.ts'
import { Collector } from './logs/collector.ts'
import { Logs } from './logs/logs.ts'
import { Masks } from './logs/masks.ts'
import { openSecrets } from './platform/secrets.ts'
import type { Secrets } from './platform/secrets.ts'
import type { ServiceEvent } from './services/state.ts'
import type { PullProgress } from './services/progress.ts'
import { runHandler } from './runs/run-job.ts'
import { Starts } from './runs/starts.ts'
import { handleServiceJobs } from './services/service-jobs.ts'
import { Streams } from './web/streams.ts'

/** Everything with a lifetime: built once in a server, once in a test. */
export type Deps = ReturnType<typeof assemble>

/** What a test gives instead of what the settings say. */
export type Overrides = Partial<{
  secrets: Secrets
  db: Db
  logDb: LogDb
  docker: Docker
  git: Git
  setupCode: string | null
  /** Milliseconds between two polls of a container that is watched. */
  usageInterval: number
}>

/** Builds everything that has a lifetime from the settings, each from what stands above it. */
export function assemble(config: Config, overrides: Overrides = {}) {
  const {
    secrets = openSecrets(config),
    db = openDatabase(join(config.dataDir, 'davit.db')),
    logDb = openLogDatabase(join(config.dataDir, 'logs.db')),
    docker = connectDocker({ host: config.dockerHost }),
    git = connectGit(config),
    /** What registering the first account needs; null where loopback is protection enough. */
    setupCode = setupCodeFor(config),
    usageInterval,
  } = overrides
  /** The `davit.instance` label of everything that this installation makes. */
  const instanceId = openInstallation(db, secrets)
  const streams = new Streams(config.streamsPerUser)
  const outside = { config, db, logDb, secrets, docker, git, streams, instanceId, setupCode }

  const feed = new EngineFeed()
  const conditions = new Conditions()
  const states = new ContainerStates({ docker, feed })
  const usage = new UsagePoller({ docker, states, logDb }, { interval: usageInterval })
  const watching = { feed, conditions, states, usage }

  const masks = new Masks({ db, secrets })
  const logs = new Logs({ config, logDb })
  const collector = new Collector({ db, logDb, docker, feed, instanceId, masks, logs })

  /** States and pulls of services, and how far the latter are, by the service's id. */
  const serviceEvents = new Hub<ServiceEvent>()
  const pulls = new Map<string, PullProgress>()
  const slots = { build: config.buildConcurrency, service: 4, 'clean-up': 1 }
  const jobs = new Jobs({ db, slots })
  const starts = new Starts()
  const working = { ...outside, logs, collector, masks, jobs, starts, serviceEvents, pulls }
  jobs.handle('deploy', deployHandler(working))
  jobs.handle('run', runHandler(working))
  handleAppJobs(working)
  handleServiceJobs(working)
  const cleanUps = new CleanUps(working)
  return { ...watching, ...working, cleanUps }
}
