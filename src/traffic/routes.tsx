import type { z } from 'zod'
import type { LogDb } from '../db/index.ts'
import type { HeadDeps } from '../environments/head.ts'
import { checkEnvironment, ownEnvironment } from '../environments/own-environment.ts'
import { toMetrics } from '../environments/paths.ts'
import { ownService, checkOwner, serviceCrumbs, servicePattern } from '../services/own-service.ts'
import { RangeChoice, rangeQuery, refreshEvery } from '../web/chart.tsx'
import { clientOf } from '../web/client.ts'
import { PageHead } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { block } from '../web/fields.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { readTraffic, trafficJson } from './history.ts'
import { TrafficPanel } from './traffic-page.tsx'
import type { Counting } from './traffic-page.tsx'

export const trafficQuery = rangeQuery.extend({
  host: block('one of its hosts, with its path if it has one, or its port', {
    max: 1000,
  }).optional(),
})

export type TrafficDeps = Pick<HeadDeps, 'config'> & { logDb: LogDb; edge: Omit<Counting, 'isOff'> }

/** Also returns whether requests are counted, and why not. */
export async function trafficOf(
  deps: TrafficDeps,
  source: { id: string },
  { range, host }: z.output<typeof trafficQuery>,
) {
  const { mode, trouble } = deps.edge
  return {
    traffic: await readTraffic(deps.logDb, { sourceId: source.id, key: host ?? null, range }),
    counting: { mode, trouble, isOff: deps.config.edge === 'direct' } satisfies Counting,
  }
}

export const servedJson = ({ traffic, counting }: Awaited<ReturnType<typeof trafficOf>>) =>
  trafficJson(traffic, { isCounted: counting.mode === 'caddy' })

/** The traffic of an environment or service: a page, the part of it that changes, or JSON. */
export const trafficRoutes = (deps: HeadDeps & TrafficDeps) =>
  factory
    .createApp()
    .get('/envs/:envId/traffic', checkEnvironment(deps), query(trafficQuery), async (c) => {
      const { environment } = ownEnvironment(deps, c)
      if (clientOf(c) !== 'program') return toMetrics(c, environment)
      return c.json(servedJson(await trafficOf(deps, environment, c.req.valid('query'))))
    })
    .get(`${servicePattern}/traffic`, checkOwner(deps), query(trafficQuery), async (c) => {
      const service = ownService(deps, c)
      const { range, host } = c.req.valid('query')
      const served = await trafficOf(deps, service, { range, host })
      const panel = () => <TrafficPanel path={c.req.path} {...served} />
      return show(c, {
        title: `Traffic of ${service.name}`,
        page: () => (
          <>
            <PageHead title="Traffic" crumbs={serviceCrumbs(service)} doc="edge#traffic" />
            <RangeChoice path={c.req.path} query={{ host }} range={range} />
            {panel()}
          </>
        ),
        partial: panel,
        json: () => servedJson(served),
        live: { every: refreshEvery[range] },
      })
    })
