import { engineState } from '../home/server.ts'
import type { Docker } from '../docker/index.ts'
import { factory } from '../web/factory.ts'
import type { SliceOperations } from '../web/operation.ts'
import { textInPieces } from '../web/text-file.ts'
import { userOf } from '../web/user-of.ts'
import { collectMetrics } from './collect.ts'
import type { MetricDeps } from './collect.ts'

const types = {
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  text: 'text/plain; version=0.0.4; charset=utf-8',
}

/** For Prometheus and the like: an admin's has all users' apps and the server, unless the token has one project. */
export const metricRoutes = (deps: MetricDeps & { docker: Pick<Docker, 'info'> }) => {
  const stateOfEngine = engineState(deps.docker)
  const isDockerUp = async () => (await stateOfEngine()).ok
  return factory.createApp().get('/metrics', async (c) => {
    const { id, role } = userOf(c)
    const projectId = c.var.token?.projectId ?? null
    const hasServer = role === 'admin' && projectId === null
    const scope = { userId: hasServer ? null : id, projectId, hasServer }
    const metrics = await collectMetrics(deps, scope, { isDockerUp })
    const isOpenMetrics = c.req.header('Accept')?.includes('application/openmetrics-text') ?? false
    return textInPieces(c, {
      pieces: metrics.text({ isOpenMetrics }),
      headers: { 'Content-Type': isOpenMetrics ? types.openMetrics : types.text },
    })
  })
}

export const operations: SliceOperations = () => ({
  Health: {
    'GET /metrics': {
      summary: 'Get metrics for Prometheus, as OpenMetrics or in its older text format',
      answers: {},
      texts: ['application/openmetrics-text', 'text/plain'],
    },
  },
})
