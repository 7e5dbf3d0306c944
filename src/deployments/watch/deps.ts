import type { EngineFeed } from '../../docker/index.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { ObservedContainers } from '../../runtime/observed-containers.ts'
import type { WatchedTraffic } from '../../traffic/watched.ts'
import type { PipelineDeps } from '../context.ts'

/** All that a watch needs. A pipeline ends watches, so it has them in its own. */
export type WatchDeps = Omit<PipelineDeps, 'watches'> & {
  feed: EngineFeed
  jobs: Jobs
  observed: ObservedContainers
  watched: WatchedTraffic
}
