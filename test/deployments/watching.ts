import { expect } from 'bun:test'
import { eq } from 'drizzle-orm'
import { deployments } from '../../src/db/schema.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { withAda } from '../support/app.ts'
import { anApp, aProject } from './apps.ts'
import { appBehindEdge } from './simulated-edge.ts'

/** Two versions, of which the second one is watched. */
export async function watched({ promotes = false, watchSeconds = 600, asked = {} } = {}) {
  const { t, ada } = withAda(appBehindEdge({ watchSeconds }))
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 0 })
  const path = `/projects/${project.id}`
  const further = { promoteFrom: project.environmentId, promoteAutomatically: true }
  if (promotes) await ada.post(`${path}/envs`, { name: 'further', ...further })
  const first = await project.deploy()
  await t.jobs.idle()
  const second = await project.deployFiles(anApp('second'), asked)
  expect(getDeployment(t.db, second.id)!.watchUntil).not.toBeNull()
  const stored = () => getDeployment(t.db, second.id)!
  const isPromotion = eq(deployments.trigger, 'promotion')
  const promoted = () =>
    t.db
      .select()
      .from(deployments)
      .where(isPromotion)
      .all()
      .map(({ imageOf }) => imageOf)
  const crash = () => t.engine.kill(second.containerId)
  return { t, ada, project, path, first, second, stored, promoted, crash }
}
