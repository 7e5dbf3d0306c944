import type { Context } from 'hono'
import type { LogDb } from '../../db/index.ts'
import { rangeQuery } from '../../web/chart.tsx'
import { PageHead } from '../../web/components.tsx'
import { factory } from '../../web/factory.ts'
import { query, streamQuery } from '../../web/query.ts'
import { show } from '../../web/respond.tsx'
import { sse } from '../../web/sse.ts'
import type { Streams } from '../../web/streams.ts'
import { userOf } from '../../web/user-of.ts'
import type { ObservedContainers } from '../../runtime/observed-containers.ts'
import { findContainer } from '../find.ts'
import type { FindDeps } from '../find.ts'
import { containerPath } from '../place.ts'
import { statsJson } from './shown.ts'
import { StatsHistory, statsOf, StatsPanel, usageEvent } from './panel.tsx'
import type { UsagePoller } from './poller.ts'

type RouteDeps = FindDeps & {
  logDb: LogDb
  observed: ObservedContainers
  usage: UsagePoller
  streams: Streams
}

export const statsRoutes = (deps: RouteDeps) => {
  return factory
    .createApp()
    .get('/containers/:id/stats', query(streamQuery), async (c) => {
      const { id } = await find(c)
      const as = c.req.valid('query').format
      return sse(c, {
        streams: deps.streams,
        events: async function* (signal) {
          for await (const look of deps.usage.follow(id, signal)) yield usageEvent(look, as)
        },
      })
    })
    .get('/containers/:id/usage', query(rangeQuery), async (c) => {
      const container = await find(c)
      const stats = statsOf(deps, container, c.req.valid('query').range)
      return show(c, {
        title: `Usage of ${container.name}`,
        page: () => (
          <>
            <PageHead
              title={`Usage of ${container.name}`}
              crumbs={[
                { href: '/containers', name: 'Containers' },
                { href: containerPath(container), name: container.name },
              ]}
            />
            <StatsPanel stats={stats} />
          </>
        ),
        partial: () => <StatsHistory stats={stats} />,
        json: () => statsJson(stats),
      })
    })

  async function find(c: Context) {
    const id = c.req.param('id')!
    const look = () => deps.observed.look(id)
    const found = await findContainer(deps, { id, user: userOf(c), look })
    return found.container
  }
}
