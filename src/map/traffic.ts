import type { LogDb } from '../db/index.ts'
import { sumServed } from '../traffic/store.ts'
import type { Owned } from './store.ts'

/** `errorShare` counts responses with a status of 5xx, from 0 to 1. */
export type Rate = { perMinute: number; errorShare: number }

/** Minutes that the rates cover, including the current one. */
const minutes = 5

export function readRates(
  { logDb, edge }: { logDb: LogDb; edge: { mode: string } },
  { apps, services }: Pick<Owned, 'apps' | 'services'>,
) {
  const now = Date.now() / 1000
  const after = (Math.floor(now / 60) + 1 - minutes) * 60
  const ids = [...apps.map(({ environment }) => environment.id), ...services.map(({ id }) => id)]
  const rows = edge.mode === 'caddy' ? sumServed(logDb, { sourceIds: ids, after }) : []
  const bySource = Map.groupBy(rows, ({ sourceId }) => sourceId)
  return {
    of(sourceId: string, key?: string): Rate | null {
      if (edge.mode !== 'caddy') return null
      const own = bySource.get(sourceId) ?? []
      const counted = key === undefined ? own : own.filter((row) => row.key === key)
      const requests = counted.reduce((sum, row) => sum + row.requests, 0)
      const failed = counted.reduce((sum, row) => sum + row.failed, 0)
      const passed = (now - after) / 60
      return {
        perMinute: Number((requests / passed).toPrecision(3)),
        errorShare: requests === 0 ? 0 : Number((failed / requests).toPrecision(3)),
      }
    },
  }
}

/** Formatted as `12/min, 3 % errors`; null without requests. */
export function rateText(rate: Rate | null) {
  if (!rate || rate.perMinute === 0) return null
  const { perMinute, errorShare } = rate
  const count = perMinute < 1 ? '<1' : Math.round(perMinute).toLocaleString('en')
  const errors = errorShare > 0 && errorShare < 0.01 ? '<1' : String(Math.round(errorShare * 100))
  return `${count}/min${errorShare > 0 ? `, ${errors} % errors` : ''}`
}
