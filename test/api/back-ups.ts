import { Readable } from 'node:stream'
import { insertBackup } from '../../src/backups/store.ts'
import { backupPlans } from '../../src/db/schema.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import type { Ids } from '../support/everything.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { SimulatedRestic } from '../backups/simulated-restic.ts'

const checksum = new Bun.CryptoHasher('sha256').update('dump').digest('hex')
const file = { file: 'app.dump', snapshot: 'a', bytes: 4, checksum }

type Call = (route: string, step?: { path?: string; body?: object }) => Promise<{ id: string }>

/** One that stores nothing before it is cancelled. */
export function slowRestic() {
  const restic = new SimulatedRestic()
  const never = ({ signal }: { signal: AbortSignal }) =>
    unlessAborted(new Promise<never>(() => {}), signal)
  Object.assign(restic.faults, { gather: never, storeVolumes: never, storeGathered: never })
  // with a tag it looks for what a cancelled one has left
  restic.faults.list = (options) => (options.tag ? restic.usual.list(options) : never(options))
  restic.faults.read = async ({ to, signal }) => {
    await to(Readable.from([Buffer.from('dump')]), signal)
  }
  return restic.open
}

/** Davit, a service and an environment with a plan and a backup, that has a line in its log. Returns the last one. */
export async function backedUp(t: TestApp, ada: TestClient, { service, environment, target }: Ids) {
  const plan = { targetId: target, schedule: '0 3 * * *' }
  let last = ''
  const of = { ownerId: ada.user.id, targetId: target, startedBy: 'plan', hold: 'pause' } as const
  for (const [subjectKind, subjectId, path] of [
    ['davit', 'davit', '/settings'],
    ['service', service, `/services/${service}`],
    ['environment', environment, `/envs/${environment}`],
  ] as const) {
    await ada.put(`${path}/backups/plan`, plan)
    const subject = { subjectKind, subjectId, subjectName: 'web' }
    const { id } = insertBackup(t.db, { ...of, ...subject, status: 'succeeded', files: [file] })
    t.logs.write({ sourceId: id, logId: id }, [
      { time: Date.now(), stream: 'system', text: 'done' },
    ])
    last = id
  }
  return last
}

export async function backUps(call: Call, t: TestApp, { service, environment, target }: Ids) {
  const path = `/services/${service}/backups`
  const pattern = '/services/:id/backups'
  const plan = { targetId: target, schedule: '@daily', zone: 'Europe/Berlin', keepLast: 3 }
  await call(`PUT ${pattern}/plan`, { path: `${path}/plan`, body: plan })
  await call('PUT /envs/:envId/backups/plan', { body: { ...plan, hold: 'stop' } })
  const { id } = await call(`POST ${pattern}`, { path, body: {} })
  await call('POST /backups/:id/cancel', { path: `/backups/${id}/cancel` })
  await call('DELETE /backups/:id', { path: `/backups/${id}` })
  await call('POST /backups/:id/restore', { body: { backupFirst: true } })
  await call('POST /backups/:id/cancel')
  await call('POST /backups/:id/prove')
  await call('POST /backups/:id/cancel')
  const one = await call('POST /envs/:envId/backups', { body: { targetId: target } })
  await t.jobs.cancel([one.id])
  await call('PUT /settings/backups/plan', { body: plan })
  const own = await call('POST /settings/backups', { body: {} })
  await t.jobs.cancel([own.id])
  await call('DELETE /settings/backups/plan')
  await call(`DELETE ${pattern}/plan`, { path: `${path}/plan` })
  await call('DELETE /envs/:envId/backups/plan', { path: `/envs/${environment}/backups/plan` })
  t.db.delete(backupPlans).run() // others keep the target from being removed
}
