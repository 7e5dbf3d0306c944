import type { Scheduler } from '../platform/scheduler.ts'
import type { Places } from '../addresses/places.ts'
import type { LogDb } from '../db/index.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import type { Git } from '../git/git.ts'
import type { Keys } from '../git/keys.ts'
import type { NewLine } from '../logs/log-line.tsx'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import type { BaseImages } from './base-images.ts'
import type { Lookup } from '../platform/hosts.ts'
import type { EngineFeed } from '../docker/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { ObservedContainers } from '../runtime/observed-containers.ts'
import type { WatchedTraffic } from '../traffic/watched.ts'
import type { StoredMove } from '../db/stored-move.ts'
import type { MoveDeps } from '../runtime/moves.ts'
import type { BuildEngine } from './steps/choose-build-engine.ts'
import type { Uploads } from './uploads.ts'
import type { Watches } from './watch/watches.ts'
import type { Job } from './store.ts'

export type PipelineDeps = MoveDeps & {
  logDb: LogDb
  git: Git
  logs: Logs
  masks: Masks
  baseImages: BaseImages
  /** Resolves the hosts of image registries; by default the system does. */
  lookup?: Lookup
  scheduler: Scheduler
  uploads: Uploads
  jobs: Jobs
  watches: Pick<Watches, 'prepare' | 'begin' | 'endFor'>
}

/** All that a watch needs. A pipeline ends watches, so it has them in its own. */
export type WatchDeps = Omit<PipelineDeps, 'watches'> & {
  feed: EngineFeed
  observed: ObservedContainers
  watched: WatchedTraffic
  /** Aborted when Davit stops: the next process continues. */
  shutdown: AbortSignal
}

/** The input of a step, which must not depend on HTTP. */
export type Run = Job &
  Omit<PipelineDeps, 'logDb' | 'logs' | 'masks'> & {
    /** Set when it runs the live version on another server. */
    move: StoredMove | null
    /** The addresses at which the owner's ports are published. */
    places: Places

    /** Set by hand in an earlier deployment, for a rollback; otherwise undefined. */
    own: OpenVariable[] | undefined
    /** Only those set by hand until the image is built. Later also those of links and Davit's own. */
    variables: OpenVariable[]
    /** The services whose networks the app joins. */
    joins: string[]
    /** The credentials for the repository and its submodules; empty when an image is reused. */
    keys: Keys
    log: (text: string, stream?: NewLine['stream']) => void
    signal: AbortSignal
    /** Chosen once, while the repository is cloned. */
    buildEngine: () => Promise<BuildEngine>
    /** Waits for a slot before work that needs the machine's memory or processors. */
    takeSlot: () => Promise<void>
    /** Aborted when Davit stops: the next process then does the rest of the undo. */
    shutdown: AbortSignal
  }
