import type { Config } from './config.ts'
import type { Conditions } from './runtime/conditions.ts'
import type { CleanUps } from './containers/clean-up/clean-ups.ts'
import type { ContainerStates } from './containers/container-states.ts'
import type { UsagePoller } from './containers/usage/poller.ts'
import type { Db, LogDb } from './db/index.ts'
import type { Docker, EngineFeed } from './docker/index.ts'
import type { Git } from './git/git.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Hub } from './live/hub.ts'
import type { Collector } from './logs/collector.ts'
import type { Logs } from './logs/logs.ts'
import type { Masks } from './logs/masks.ts'
import type { Secrets } from './platform/secrets.ts'
import type { PullProgress } from './services/progress.ts'
import type { ServiceEvent } from './services/state.ts'
import type { Streams } from './web/streams.ts'

/** Everything with a lifetime, as `assemble` builds it: once in a server, once in a test. */
export type Deps = {
  config: Config
  db: Db
  logDb: LogDb
  secrets: Secrets
  docker: Docker
  /** What happens to containers, whoever makes it happen. */
  feed: EngineFeed
  /** How containers fare beyond what the engine's list tells. */
  conditions: Conditions
  /** Containers that are watched, looked at once for all who watch. */
  states: ContainerStates
  /** Clean-ups of the engine. */
  cleanUps: CleanUps
  /** What containers use, asked once for all who watch. */
  usage: UsagePoller
  git: Git
  /** Stores the lines of logs, and tells of them and of changes of state, by the id of a deployment, environment or service. */
  logs: Logs
  /** Keeps what containers write. */
  collector: Collector
  /** What hides secrets in logs. */
  masks: Masks
  /** Deployments, changes of services and clean-ups, which take long. */
  jobs: Jobs
  /** How far the images of services have come that are being started, by their id. */
  pulls: Map<string, PullProgress>
  /** States and pulls of services, by their id. */
  serviceEvents: Hub<ServiceEvent>
  streams: Streams
  /** This installation's id: the `davit.instance` label of everything it makes. */
  instanceId: string
  /** What registering the first account needs; null where loopback is protection enough. */
  setupCode: string | null
}
