import { expect } from 'bun:test'
import type { TestClient } from '../support/client.ts'

/** A project whose source is an image; what is deployed has no port. */
export async function aProject(
  ada: TestClient,
  image: string,
  settings: Record<string, unknown> = {},
) {
  const name = `site ${Bun.randomUUIDv7()}`
  const { status, json } = await ada.post('/projects', { name, image })
  expect([status, json.image, json.repositoryUrl]).toEqual([201, image, null])
  const path = `/projects/${json.id}`
  await ada.put(`${path}/settings`, settings)
  const environment = (await ada.get(`${path}/envs`)).json.items[0]
  await ada.put(`${path}/envs/${environment.id}`, { port: 0 })
  const list = async () =>
    (await ada.get(`${path}/deployments`)).json.items.map((one: any) => [
      one.trigger,
      one.status,
      one.pulled.reference.split(':').at(-1),
      one.pulled.digest,
    ])
  return {
    id: json.id as string,
    path,
    environmentId: environment.id as string,
    hook: json.registryHook as string,
    list,
    state: async () => (await ada.get(`${path}/image`)).json,
  }
}
