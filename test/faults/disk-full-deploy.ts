import { rm } from 'node:fs/promises'
import { waitingForSpace } from '../../src/db/failures.ts'
import type { DavitClient } from '../demo/client.ts'
import { aBuild, aCommand, anApp, answerOf, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { aSmallDisk, takeAll } from './disk-full.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

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
    await fill(client, disk)
    await until(() => davit.journal().includes(waitingForSpace))
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

/**
 * A deployment that is cancelled while the disk is too full to store that it runs. Answers what serves
 * before, meanwhile and after, and how it ends when there is room again.
 */
export async function cancelOnFullDisk() {
  await using disk = await aSmallDisk()
  const davit = anInstallation({ dataDir: disk.dataDir })
  try {
    const { client } = await davit.start()
    const repository = aRepository(davit.directory, anApp('first'))
    const site = { name: 'site', repositoryUrl: repository.url }
    const { id } = await client.post<{ id: string }>('/projects', site)
    const first = await client.post<Deployment>(`/projects/${id}/deployments`)
    await watch(client, first).ended
    const { url } = await client.get<{ url: string }>(pathOf(first))
    const serves = async (text: string) => (await answerOf({ url }).catch(() => '')) === text

    const script = 'mkdir /www; echo -n second >/www/index.html; sleep 6; httpd -f -p 8080 -h /www'
    repository.commit(aCommand(script))
    const second = await client.post<Deployment>(`/projects/${id}/deployments`)
    await until(() => davit.lines(second).some(({ text }) => text.includes('Waiting for')))
    await fill(client, disk)
    await until(() => davit.journal().includes(waitingForSpace))
    const meanwhile = await serves('second')
    const { status: before } = await client.get<Deployment>(pathOf(second))

    await client.post(`${pathOf(second)}/cancel`).catch(() => {}) // that it was cancelled can't be stored
    await until(() => serves('first'))
    await rm(disk.others)
    await until(async () => (await client.get<Deployment>(pathOf(second))).status !== before)
    const { status: after } = await client.get<Deployment>(pathOf(second))
    const { status: ofFirst } = await client.get<Deployment>(pathOf(first))
    const containers = await davit.docker.listContainers({ labels: davit.labels(), all: true })
    await client.delete(`/projects/${id}`)
    return { meanwhile, before, after, ofFirst, containers: containers.length }
  } finally {
    await davit.leave()
  }
}

/** Fills the disk again and again, because Davit gives up what it has. */
const fill = (client: DavitClient, disk: { others: string }) =>
  until(() => {
    takeAll(disk.others)
    const project = { name: Bun.randomUUIDv7(), repositoryUrl: 'https://git.example.com/a/b.git' }
    return client.post('/projects', project).then(
      () => false,
      (error: Error) => error.message.includes('disk_full'),
    )
  })
