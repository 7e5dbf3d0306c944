import { join } from 'node:path'
import { setupCodeFor } from './accounts/setup-code.ts'
import { hasSeveralUsers } from './accounts/store.ts'
import { planOf } from './addresses/plan.ts'
import { listIssued } from './addresses/store.ts'
import type { BackupDeps, Progress } from './backups/deps.ts'
import type { Config } from './config.ts'
import { sharers } from './backups/restic/repository.ts'
import { CleanUps } from './containers/clean-up/clean-ups.ts'
import { CheckWatch } from './deployments/checks.ts'
import { ObservedContainers } from './runtime/observed-containers.ts'
import { edgeEngine } from './runtime/edge-container.ts'
import { onEngines } from './runtime/on-engine.ts'
import { pinnedTo } from './runtime/pin-store.ts'
import { countContainers, listServersOf } from './runtime/routing-store.ts'
import { InstanceTasks } from './runtime/instance-tasks.ts'
import type { MoveDeps } from './runtime/moves.ts'
import { Routing } from './runtime/routing.ts'
import { WorkloadLocks } from './runtime/workload-locks.ts'
import { DiskGuard } from './containers/disk-guard.ts'
import { UsagePoller } from './containers/usage/poller.ts'
import { ServerMeter } from './home/server.ts'
import { openDatabase, openLogDatabase } from './db/index.ts'
import type { Db, LogDb } from './db/index.ts'
import { openInstallation } from './db/installation.ts'
import { connectDocker, EngineFeed, Engines } from './docker/index.ts'
import type { Docker } from './docker/index.ts'
import { Watches } from './deployments/watch/watches.ts'
import { BaseImages } from './deployments/base-images.ts'
import { ImageWatch } from './deployments/new-images/image-watch.ts'
import { Uploads } from './deployments/uploads.ts'
import { CertificateKeeper } from './domains/certificate-keeper.ts'
import { caddyOf } from './edge/caddy.ts'
import { Edge } from './edge/edge.ts'
import { Drains } from './drains/drains.ts'
import { appJobs } from './environments/app-steps.ts'
import { connectGit } from './git/git.ts'
import type { Git } from './git/git.ts'
import { ChangeFeed } from './live/change-feed.ts'
import { Jobs } from './jobs/jobs.ts'
import { Collector } from './logs/collector.ts'
import { Logs } from './logs/logs.ts'
import { Masks } from './logs/masks.ts'
import { emit } from './notifications/emit.ts'
import { newVersion } from './notifications/texts.ts'
import { OpenPages } from './notifications/open-pages.ts'
import { Outbox } from './notifications/outbox.ts'
import { version } from './platform/root.ts'
import { ReleaseWatch } from './releases/watch.ts'
import type { Clock } from './platform/scheduler.ts'
import { Scheduler } from './platform/scheduler.ts'
import type { Lookup } from './platform/hosts.ts'
import { ShortCache } from './platform/short-cache.ts'
import { KeyedLock } from './platform/semaphore.ts'
import { openTarget } from './backups/targets/store.ts'
import type { TargetDeps } from './backups/targets/try-out.ts'
import { openSecrets } from './platform/secrets.ts'
import type { Secrets } from './platform/secrets.ts'
import type { PullProgress } from './services/progress.ts'
import { Starts } from './runs/starts.ts'
import { ServerEngines } from './servers/server-engines.ts'
import { listEdgeServers, listServers } from './servers/store.ts'
import { serviceJobs } from './services/state.ts'
import { WatchedTraffic } from './traffic/watched.ts'
import { Streams } from './web/streams.ts'

/** Everything with a lifetime, built once per server or test. */
export type Deps = ReturnType<typeof assemble>

/** Replacements for tests. */
export type Overrides = Partial<{
  secrets: Secrets
  db: Db
  logDb: LogDb
  docker: Docker
  /** Those of other servers. */
  otherEngines: Docker[]
  /** Connects to the engine of a server that joins or has joined. */
  connectServer: typeof connectDocker
  git: Git
  setupCode: string | null
  /** Milliseconds between two polls of a watched container. */
  usageInterval: number
  /** Name servers (`127.0.0.1:5300`) for users' domains; null uses the system's. */
  nameServers: string[] | null
  clock: Clock
  /** Resolves the hosts of image registries. */
  lookup: Lookup
  /** Tries a backup target out. */
  tryOut: TargetDeps['targets']['tryOut']
  /** Lists the snapshots of a backup target. */
  listTarget: TargetDeps['targets']['list']
  /** Milliseconds without a request after which an edge that is left ends. */
  edgeQuietTime: number
  /** Opens the repository of a target. */
  openRestic: BackupDeps['openRestic']
}>

/** Builds everything with a lifetime from the settings, in order of dependency. */
export function assemble(config: Config, overrides: Overrides = {}) {
  const {
    secrets = openSecrets(config),
    db = openDatabase(join(config.dataDir, 'davit.db')),
    logDb = openLogDatabase(join(config.dataDir, 'logs.db')),
    docker = connectDocker({ host: config.dockerHost }),
    otherEngines = [],
    connectServer = connectDocker,
    git = connectGit(config),
    /** The setup code for the first account; null when listening on loopback only. */
    setupCode = setupCodeFor(config),
    usageInterval,
    nameServers = null,
    clock,
    lookup,
    tryOut,
    listTarget,
    edgeQuietTime,
  } = overrides
  /** The `davit.instance` label of everything that this installation creates. */
  const instanceId = openInstallation(db, secrets)
  const on = onEngines(new Engines([docker, ...otherEngines]), {
    list: () => listServers(db),
    count: () => countContainers(db),
    holding: (of, options) => listServersOf(db, of, options),
    pinnedTo: (id) => pinnedTo(db, id),
  })
  const { engines } = on
  const scheduler = new Scheduler(clock)
  const streams = new Streams(config.streamsPerUser)
  const pages = new OpenPages()
  const changes = new ChangeFeed()
  const outbox = new Outbox({ db, scheduler })
  db.$client.onWrite = (table) => {
    changes.touch()
    if (table === 'outbox') outbox.wake()
    if (table === 'servers') void edge.sync()
  }
  const observed = new ObservedContainers(engines)
  observed.listen(streams.shutdown, () => changes.touch())
  const plan = () => planOf({ db, secrets, config })
  const folder = join(config.dataDir, 'edge')
  const isDirect = config.edge === 'direct'
  const edge: Edge = new Edge({
    folder,
    caddy: caddyOf(config, { folder, engine: edgeEngine({ docker, instanceId }) }),
    isOptional: config.edge === 'auto' || isDirect,
    isEnding: isDirect,
    others: () =>
      listEdgeServers(db).length === 0
        ? null
        : import('./runtime/other-edges.ts').then(({ otherEdges }) =>
            otherEdges(
              { ...on, db, config, instanceId, folder, issued: () => listIssued(db) },
              { quietTime: edgeQuietTime },
            ),
          ),
    plan() {
      routing.routeNew()
      return isDirect ? { ...plan(), hosts: [] } : plan()
    },
    fill: () => routing.routeAll(),
  })
  const instanceTasks = new InstanceTasks()
  const locks = new WorkloadLocks()
  const routing: Routing = new Routing({ db, engines, edge })
  const hosts = () => plan().hosts
  const known = { config, db, docker, edge, instanceId, nameServers, hosts }
  const certificates = new CertificateKeeper(known)
  const releases = new ReleaseWatch(config, {
    found: (newer) =>
      emit(db, {
        ...{ subject: 'Davit', href: '/docs/upgrade' },
        ...newVersion({ version: newer, own: version }),
      }),
  })
  const outside = {
    ...{ config, db, logDb, secrets, ...on, edge, routing, observed, certificates },
    ...{ instanceTasks, locks, scheduler },
    ...{ git, streams, changes, instanceId, setupCode, releases, outbox, pages },
    ...(lookup && { lookup }),
  }

  const feed = new EngineFeed()
  const serverEngines = new ServerEngines({
    ...{ db, secrets, engines, instanceId, config, connect: connectServer },
    changed(one) {
      routing.routeOn(one)
      if (engines.all.length === 1) return
      edge.others?.doubt()
      void edge.sync()
    },
  })
  const server = new ServerMeter(config, db)
  const usage = new UsagePoller({ observed, logDb }, { interval: usageInterval })
  const watching = { feed, usage, server, serverEngines }

  const masks = new Masks({ db, secrets })
  const logs = new Logs({ config, logDb })
  /** Of restic, by their address. */
  const repositories = new KeyedLock(sharers)
  const collector = new Collector({ db, logDb, engines, feed, instanceId, masks, logs })

  /** The progress of image pulls by service id. */
  const pulls = new Map<string, PullProgress>()
  const slots = {
    build: config.buildConcurrency,
    service: 5,
    schedule: 5,
    'clean-up': 1,
    backup: 2,
    move: 4,
  }
  const jobs = new Jobs({ db, logs, slots, isShared: () => hasSeveralUsers(db) })
  const starts = new Starts()
  const diskGuard = new DiskGuard({ config, db, docker, instanceId, serverEngines })
  /** Of running backups, by id. */
  const progress = new Map<string, Progress>()
  /** Of complete logs: grouping takes long, and pages load again on every change. */
  const groupedLogs = new ShortCache({ milliseconds: 60_000, max: 10 })
  const baseImages = new BaseImages()
  const uploads = new Uploads({ config, db, git })
  const watched = new WatchedTraffic()
  const steps = {
    ...{ ...outside, logs, collector, masks, feed, watched },
    ...{ jobs, starts, pulls, repositories, baseImages, groupedLogs, uploads, diskGuard },
    progress,
    removing: new Set<string>(),
    countData: async (...of: Parameters<MoveDeps['countData']>) =>
      (await import('./backups/count-data.ts')).countData(backingUp, ...of),
  }
  const working = { ...steps, watches: new Watches(steps) }
  outbox.handle('notice', async () =>
    (await import('./notifications/deliver.ts')).noticeHandler(outside),
  )
  outbox.handle('commit_status', async () =>
    (await import('./deployments/commit-status.ts')).statusHandler(working),
  )
  outbox.handle('account_mail', async () =>
    (await import('./accounts/account-mail.ts')).accountMailHandler(outside),
  )
  jobs.handle('deploy', async () =>
    (await import('./deployments/deploy-job.ts')).deployKind(working),
  )
  jobs.handle('run', async () => (await import('./runs/run-job.ts')).runKind(working))
  for (const kind of appJobs)
    jobs.handle(kind, async () => (await import('./apps/app-jobs.ts')).appKind(working, kind))
  for (const kind of serviceJobs)
    jobs.handle(kind, async () => (await import('./services/service-jobs.ts')).serviceKind(working))
  const openRestic: BackupDeps['openRestic'] = async (target, options) => {
    if (overrides.openRestic) return overrides.openRestic(target, options)
    const { openRestic } = await import('./backups/restic/restic.ts')
    return openRestic({ ...working, ...options }, openTarget(outside, target))
  }
  const backingUp: BackupDeps = { ...working, openRestic }
  jobs.handle('backup', async () => (await import('./backups/backup-job.ts')).backupKind(backingUp))
  jobs.handle('proof', async () =>
    (await import('./backups/proof/proof-job.ts')).proofKind(backingUp),
  )
  jobs.handle('restore', async () =>
    (await import('./backups/restore/restore-job.ts')).restoreKind(backingUp),
  )
  const cleanUps = new CleanUps(working)
  const images = new ImageWatch(working)
  const checks = new CheckWatch(working)
  const targets: TargetDeps['targets'] = {
    async tryOut(target, options) {
      if (tryOut) return tryOut(target, options)
      const { openRestic } = await import('./backups/restic/restic.ts')
      const restic = openRestic(working, target)
      if (options.mustExist) await restic.ready(options)
      return restic.tryOut(options)
    },
    async list(target, options) {
      if (listTarget) return listTarget(target, options)
      const { openRestic } = await import('./backups/restic/restic.ts')
      return openRestic(working, target).list(options)
    },
  }
  const drains = new Drains(working)
  return { ...watching, ...working, openRestic, cleanUps, images, checks, targets, drains }
}
