import { eq } from 'drizzle-orm'
import { backupPlans } from '../../src/db/schema.ts'
import { timed } from '../../src/backups/start.ts'
import { startDue } from '../../src/jobs/due.ts'
import { idle, made } from '../services/instances.ts'
import { simulatedApp } from '../support/app.ts'
import { aTarget } from './a-target.ts'
import { SimulatedRestic } from './simulated-restic.ts'

type Overrides = Parameters<typeof simulatedApp>[1]

export const withVolume = `
services:
  one: { ${idle}, volumes: ["data:/data"] }
volumes: { data: {} }
`

/** A service with a volume, and a target of its owner, on the simulated engine and restic. */
export async function aService(overrides: Overrides = {}) {
  const restic = new SimulatedRestic()
  const listTarget = async (_: unknown, options: { signal: AbortSignal }) =>
    restic.usual.list(options)
  const t = simulatedApp({}, { openRestic: restic.open, listTarget, ...overrides })
  const ada = t.logIn('ada@example.com')
  const service = await made(t, ada, withVolume)
  const targetId = aTarget(t, ada.user.id)
  const path = `/services/${service.id}/backups`
  const states = async () => {
    const labels = [`davit.service=${service.id}`]
    return (await t.docker.listContainers({ labels, all: true })).map(({ state }) => state)
  }
  const see = async (id: string) => (await ada.get(`/backups/${id}`)).json
  /** Restores a backup to the end. */
  const restore = async (id: string, body: Record<string, unknown> = {}) => {
    const { status, json, headers } = await ada.post(`/backups/${id}/restore`, body)
    await t.jobs.idle()
    const created = headers.get('Location')
    return { answer: status, created, errors: json?.errors, ...(await see(id)).restore }
  }
  return {
    ...{ t, ada, restic, service, targetId, path, states, see, restore },
    db: t.db,
    restoreNew: (id: string, body: object = {}) => restore(id, { into: 'new', ...body }),
    /** Backs it up to the end. */
    async backUp(body: object = {}) {
      const { status, json, text } = await ada.post(path, { targetId, ...body })
      if (status !== 201) throw new Error(text)
      await t.jobs.idle()
      return see(json.id)
    },
    /** Proves a backup to the end. */
    async prove(id: string) {
      const { status } = await ada.post(`/backups/${id}/prove`, {})
      await t.jobs.idle()
      return { ...(await see(id)), answer: status }
    },
    async plan(values: object = {}) {
      const { status, json, text } = await ada.put(`${path}/plan`, {
        ...{ targetId, schedule: '0 3 * * *' },
        ...values,
      })
      if (status !== 200) throw new Error(text)
      return json
    },
    /** Lets the plan be due then. */
    async due(at: string) {
      const isIts = eq(backupPlans.subjectId, service.id)
      t.db
        .update(backupPlans)
        .set({ nextAt: new Date(at) })
        .where(isIts)
        .run()
      await startDue(t.db, timed(t.deps), new Date(at))
    },
  }
}
