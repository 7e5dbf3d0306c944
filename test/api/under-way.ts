import { insertDeployment } from '../../src/deployments/store.ts'
import { listEnvironments } from '../../src/environments/store.ts'
import { idle } from '../services/instances.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import type { Ids } from '../support/everything.ts'
import type { GitServer } from '../support/git-server.ts'

/** One that waits for its repository, until git gives its silent server up. */
export async function stuckDeployment(
  client: TestClient,
  { name, server }: { name: string; server: GitServer },
) {
  const repositoryUrl = `${server.url}stuck.git`
  const project = await client.post('/projects', { name, repositoryUrl })
  return (await client.post(`/projects/${project.json.id}/deployments`)).json
}

const compose = `services: {a: {${idle}, healthcheck: {test: [CMD, "false"], interval: 1s, retries: 9999}}}`

/** A service that never becomes healthy; returns its id. */
export const startingForever = async (client: TestClient, name: string) =>
  (await client.post('/services/compose', { name, compose })).json.id

/** Begins what the engine is asked that call for, and ends it before the engine has done it. */
export async function whileHeld(
  t: TestApp,
  asked: 'stopContainer' | 'removeContainer',
  { begin, end }: { begin: () => Promise<unknown>; end: () => Promise<unknown> },
) {
  const held = Promise.withResolvers<void>()
  const call: (...given: any[]) => Promise<any> = t.docker[asked]
  t.faults[asked] = (...given: unknown[]) => held.promise.then(() => call(...given))
  const { acceptTimeout } = t.config
  Object.assign(t.config, { acceptTimeout: 50 })
  await begin()
  Object.assign(t.config, { acceptTimeout })
  setTimeout(held.resolve, 100)
  await end()
  delete t.faults[asked]
}

/** The environment is promoted from the project's first, where something is deployed. */
export async function withPromotable(t: TestApp, ada: TestClient, { project, environment }: Ids) {
  const first = listEnvironments(t.db, project).find(({ id }) => id !== environment)!
  insertDeployment(t.db, {
    ...{ projectId: project, environmentId: first.id, status: 'stopped', trigger: 'manual' },
    ...{ triggeredBy: 'ada', repositoryUrl: '', image: 'busybox' },
  })
  await ada.put(`/projects/${project}/envs/${environment}`, { promoteFrom: first.id })
}
