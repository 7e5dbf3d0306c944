import { getDeployment } from '../../src/environments/store.ts'
import { watched } from './watching.ts'

export const asked = { strategy: 'share', percent: 10, sticky: true }

/** Two versions, of which the second one has a tenth of the requests. */
export async function shared(options: Omit<Parameters<typeof watched>[0], 'asked'> = {}) {
  const s = await watched({ ...options, asked })
  const { t, ada, project, path, first, second } = s
  await t.jobs.idle()
  const addressOf = async (id: string) =>
    Object.values((await t.docker.inspectContainer(id))!.addresses).map((one) => `${one}:8080`)
  const addresses = {
    before: await addressOf(first.containerId),
    new: await addressOf(second.containerId),
  }
  const ask = (verb: string) => ada.post(`${path}/deployments/${second.id}/${verb}`)
  const route = () => t.routes.get(project.environmentId)
  const statuses = () => [first, second].map(({ id }) => getDeployment(t.db, id)!.status)
  return { ...s, addresses, ask, route, statuses }
}
