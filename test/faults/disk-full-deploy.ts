import { rm } from 'node:fs/promises'
import { aBuild, aRepository } from '../deployments/apps.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { aSmallDisk, takeAll } from './disk-full.ts'

type Line = { seq: number; text: string }

/**
 * A deployment in whose build the disk fills up. Answers what it says when there is room again: it
 * must have ended, and its log must say what it lacks.
 */
export async function deployOnFullDisk() {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  try {
    const { client } = await davit.start()
    const repository = aRepository(davit.directory, aBuild('echo early; sleep 1; seq 10000'))
    const site = { name: 'site', repositoryUrl: repository.url }
    const project = await client.post<{ id: string }>('/projects', site)
    const { id } = await client.post<{ id: string }>(`/projects/${project.id}/deployments`)
    const path = `/projects/${project.id}/deployments/${id}`
    const lines = async () => (await client.get<{ items: Line[] }>(`${path}/logs?limit=1000`)).items
    const deployment = () => client.get<{ status: string; error: { code: string } | null }>(path)

    await until(async () => (await lines()).some(({ text }) => text.includes('early')))
    await until(async () => {
      takeAll(disk.others) // again and again: Davit gives up what it has
      const name = Bun.randomUUIDv7()
      return client.post('/projects', { ...site, name }).then(
        () => false,
        (error: Error) => error.message.includes('disk_full'),
      )
    })
    await until(() => davit.journal().includes('waiting for room on the disk'))
    const { status: meanwhile } = await deployment()
    await rm(disk.others)
    await until(async () => (await deployment()).error !== null)

    const { status, error } = await deployment()
    const log = await lines()
    await client.delete(`/projects/${project.id}`)
    return { meanwhile, status, code: error?.code, log }
  } finally {
    await davit.leave()
  }
}
