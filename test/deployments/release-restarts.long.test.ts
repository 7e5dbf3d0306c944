import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { environments, projects } from '../../src/db/schema.ts'
import { prepareInstallation } from '../logs/installation.ts'
import { startDavit } from '../support/davit.ts'
import { until } from '../support/until.ts'
import { anApp, aRepository } from './apps.ts'

/** Runs for as long as it is the first try, which the volume knows. */
const script =
  'n=$(cat /data/tries 2>/dev/null || echo 0); n=$((n + 1)); echo $n >/data/tries; echo try $n; ' +
  '[ $n -gt 1 ] || sleep 999'

/** A Davit as a process, in the middle of a release command. */
async function inTheMiddle() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-release-'))
  const made = prepareInstallation(directory)
  const env = { ...made.env, DAVIT_ALLOW_LOCAL_REPOS: '1' }
  const repositoryUrl = aRepository(directory, anApp('new')).url
  const db = openDatabase(join(parseConfig(env).dataDir, 'davit.db'))
  db.update(projects).set({ repositoryUrl }).run()
  db.update(environments)
    .set({ releaseCommand: ['sh', '-c', script], volumes: ['data:/data'] })
    .run()
  const projectId = db.select().from(projects).get()!.id
  db.$client.close()
  let davit = await startDavit({ directory, env })
  const labels = [`davit.environment=${made.environmentId}`]
  onTestFinished(async () => {
    await davit.stop()
    await made.removeContainers()
    for (const { name } of await made.docker.listVolumes({ labels }))
      await made.docker.removeVolume(name)
    for (const { tags } of await made.docker.listImages({ labels }))
      for (const tag of tags) await made.docker.removeImage(tag)
    const networks = await made.docker.listNetworks({ labels: [`davit.project=${projectId}`] })
    for (const { id } of networks) await made.docker.removeNetwork(id)
    rmSync(directory, { recursive: true, force: true })
  })
  const path = `/projects/${projectId}/deployments`
  const get = async (address: string): Promise<any> => {
    const headers = { Cookie: made.cookie, Accept: 'application/json' }
    return (await fetch(`${davit.url}${address}`, { headers })).json()
  }
  const greeted = await fetch(`${davit.url}/health`, { headers: { Cookie: made.cookie } })
  const token = /svc_csrf=([^;]+)/.exec(greeted.headers.getSetCookie().join())![1]!
  const headers = {
    Cookie: `${made.cookie}; svc_csrf=${token}`,
    Accept: 'application/json',
    'X-CSRF-Token': token,
  }
  await fetch(`${davit.url}${path}`, { method: 'POST', headers })
  const look = async () => (await get(path)).items[0]
  const texts = async () =>
    (await get(`${path}/${(await look()).id}/logs?limit=1000`)).items.map(
      (line: { text: string }) => line.text,
    ) as string[]
  await until(async () => (await texts()).includes('try 1'), 60)
  return {
    look,
    texts,
    containers: () => made.docker.listContainers({ labels, all: true }),
    async restart(signal: 'SIGKILL' | 'SIGTERM') {
      process.kill(davit.pid, signal)
      await davit.exited
      davit = await startDavit({ directory, env })
    },
  }
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'after a %s in the middle the release command runs once more, and the deployment ends',
  async (signal) => {
    const { look, texts, containers, restart } = await inTheMiddle()
    await restart(signal)
    await until(async () => (await look()).finishedAt !== null, 60)
    expect(await look()).toMatchObject({ status: 'running', error: null })
    expect((await texts()).filter((text) => text.startsWith('try'))).toEqual(['try 1', 'try 2'])
    await until(async () => (await containers()).length === 1)
  },
)
