import type { Context } from 'hono'
import type { Environment } from './store.ts'

type Key = Pick<Environment, 'id' | 'projectId'>

export const environmentPath = ({ id, projectId }: Key) => `/projects/${projectId}/envs/${id}`

export const promotePath = (key: Key) => `${environmentPath(key)}/promote`

export const metricsPath = (key: Key) => `${environmentPath(key)}/metrics`

export const toMetrics = (c: Context, key: Key) =>
  c.redirect(metricsPath(key) + new URL(c.req.url).search, 303)

export const settingsPath = (key: Key) => `${environmentPath(key)}/edit`
