import { join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { installation } from '../../src/db/schema.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { DavitClient } from '../demo/client.ts'

/** Makes the first account, and a token that reads; returns the header that shows it. */
export const logInToBench = async (url: string) => (await enter(url)).header

/** The same, and the labels of a container that is its app's. */
export async function enterWithApp(url: string, dataDir: string) {
  const { client, header } = await enter(url)
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { id: projectId } = await client.post<{ id: string }>('/projects', {
    name: 'site',
    repositoryUrl,
  })
  const path = `/projects/${projectId}/envs`
  const [environment] = (await client.get<{ items: { id: string }[] }>(path)).items
  const of = { projectId, environmentId: environment!.id }
  const db = openDatabase(join(dataDir, 'davit.db'))
  const how = { status: 'running', trigger: 'manual', triggeredBy: 'bench' } as const
  const { id: deploymentId } = insertDeployment(db, { ...of, ...how, repositoryUrl })
  const instanceId = db.select().from(installation).get()!.id
  db.$client.close()
  return {
    header,
    labels: labelsFor({ instanceId, kind: 'app', ownerId: '', deploymentId, ...of }),
  }
}

async function enter(url: string) {
  const client = new DavitClient({ url, signal: AbortSignal.timeout(30_000) })
  const password = Bun.randomUUIDv7()
  await client.enter('/auth/register', { email: 'bench@example.com', password })
  const made = { name: 'bench', scopes: ['read'], currentPassword: password }
  const { token } = await client.post<{ token: string }>('/settings/tokens', made)
  return { client, header: `Authorization: Bearer ${token}` }
}
