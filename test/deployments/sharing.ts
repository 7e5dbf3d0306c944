import { getDeployment } from '../../src/environments/store.ts'
import { withAda } from '../support/app.ts'
import { anApp, aProject } from './apps.ts'
import { appBehindEdge } from './simulated-edge.ts'

export const asked = { strategy: 'share', percent: 10, sticky: true }

/** Two versions, of which the second one has a tenth of the requests. */
export async function shared({ watchSeconds = 600, promotes = false } = {}) {
  const { t, ada } = withAda(appBehindEdge({ watchSeconds }))
  const project = await aProject(t, ada, anApp('first'), { drainSeconds: 0 })
  const { environmentId } = project
  const path = `/projects/${project.id}`
  const further = { promoteFrom: environmentId, promoteAutomatically: true }
  if (promotes) await ada.post(`${path}/envs`, { name: 'further', ...further })
  const first = await project.deploy()
  await t.jobs.idle()
  project.repository.commit(anApp('second'))
  const second = await project.deploy(asked)
  await t.jobs.idle()
  const addressOf = async (id: string) =>
    Object.values((await t.docker.inspectContainer(id))!.addresses).map((one) => `${one}:8080`)
  const addresses = {
    before: await addressOf(first.containerId),
    new: await addressOf(second.containerId),
  }
  const stored = () => getDeployment(t.db, second.id)!
  const ask = (verb: string) => ada.post(`${path}/deployments/${second.id}/${verb}`)
  const route = () => t.routes.get(environmentId)
  const statuses = () => [first, second].map(({ id }) => getDeployment(t.db, id)!.status)
  return { t, ada, project, path, first, second, addresses, stored, ask, route, statuses }
}
