import { updateDeployment } from '../../src/deployments/store.ts'
import { newWatch } from '../../src/deployments/watch/store.ts'
import { getEnvironmentIn } from '../../src/environments/store.ts'
import type { TestApp } from '../support/app.ts'
import type { Ids } from '../support/everything.ts'

type Call = (route: string, step?: { body?: object }) => Promise<any>

/** Promotes the live deployment, which has a share of the requests, and keeps it, which is watched. */
export async function keepWatched(call: Call, t: TestApp, { environment, deployment }: Ids) {
  for (const [share, verb] of [
    [{ percent: 10, isSticky: true }, 'promote'],
    [null, 'keep'],
  ] as const) {
    const watch = newWatch(t.deps, getEnvironmentIn(t.db, environment!)!.environment, share)
    updateDeployment(t.db, deployment!, watch)
    t.watches.begin(deployment!)
    await call(`POST /projects/:id/deployments/:deploymentId/${verb}`)
  }
}

export async function changeSchedules(call: Call, t: TestApp) {
  const at = new Date(Date.now() + 86_400_000).toISOString()
  await call('POST /projects/:id/envs/:envId/planned', { body: { at } })
  await call('DELETE /projects/:id/envs/:envId/planned')
  const until = new Date(Date.now() + 2 * 86_400_000).toISOString()
  const fair = { from: at, until, reason: 'the fair' }
  await call('POST /envs/:envId/freezes', { body: fair })
  await call('PUT /envs/:envId/freezes/:id', { body: { reason: 'the trade fair' } })
  await call('DELETE /envs/:envId/freezes/:id')
  const hourly = { name: 'hourly', command: ['true'], schedule: '@hourly', timeout: 9 }
  await call('POST /envs/:envId/schedules', { body: hourly })
  await call('PUT /envs/:envId/schedules/:id', { body: { missed: 'once', enabled: true } })
  await t.jobs.ended((await call('POST /envs/:envId/schedules/:id/run')).id)
  await call('DELETE /envs/:envId/schedules/:id')
}
