import { expect, onTestFinished, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { until } from '../docker/sandbox.ts'
import { startDavit } from '../support/davit.ts'
import { startGitServer } from '../support/git-server.ts'
import type { Files } from '../support/git-server.ts'
import { aBuild, aCommand, anApp, aRepository } from './apps.ts'
import { pathOf } from './events.ts'
import type { Key } from './events.ts'

type Deployment = Key & {
  status: string
  url: string
  containerId: string | null
  error: { code: string; step: string } | null
}

const account = { email: 'ada@example.com', password: 'a long enough password' }

/** An installation on disk whose process a test starts, kills and starts again. */
function anInstallation() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-recover-'))
  const dataDir = join(directory, 'data')
  mkdirSync(dataDir)
  let davit: Awaited<ReturnType<typeof startDavit>> | undefined
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const labels = () => {
    if (!existsSync(join(dataDir, 'davit.db'))) return ['davit.instance=none'] // it never started
    using db = new Database(join(dataDir, 'davit.db'), { readonly: true })
    const { id } = db.query('SELECT id FROM installation').get() as { id: string }
    return [`davit.instance=${id}`]
  }

  onTestFinished(async () => {
    await davit?.stop()
    for (const { id } of await docker.listContainers({ labels: labels(), all: true }))
      await docker.removeContainer(id, { force: true })
    for (const { tags } of await docker.listImages({ labels: labels() }))
      for (const tag of tags) await docker.removeImage(tag, { force: true })
    for (const { id } of await docker.listNetworks({ labels: labels() }))
      await docker.removeNetwork(id)
    rmSync(directory, { recursive: true, force: true })
  })

  return {
    directory,
    async start({ isNew = false } = {}) {
      davit = await startDavit({
        directory,
        env: {
          DAVIT_DATA_DIR: dataDir,
          DAVIT_ALLOW_LOCAL_REPOS: '1',
          DAVIT_ALLOW_HOSTS: '127.0.0.1',
          DAVIT_BUILD_CONCURRENCY: '1',
        },
      })
      const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(50_000) })
      await client.get('/health')
      await client.post(isNew ? '/auth/register' : '/auth/login', account)
      return aVisit(client)
    },
    async kill() {
      process.kill(davit!.pid, 'SIGKILL')
      await davit!.exited
    },
    stop: () => davit!.stop(),
    containers: async () => {
      const all = await docker.listContainers({ labels: labels(), all: true })
      return all.map(({ id, state }) => ({ id, state }))
    },
  }
}

/** What a test does with one process of the installation. */
function aVisit(client: DavitClient) {
  const look = (deployment: Key) => client.get<Deployment>(pathOf(deployment))
  async function* events(deployment: Key) {
    yield* readEvents(await client.stream(`${pathOf(deployment)}/logs?format=json`, null))
  }
  return {
    client,
    look,
    async project(repositoryUrl: string, name = 'site') {
      return client.post<{ id: string }>('/projects', { name, repositoryUrl })
    },
    trigger: ({ id }: { id: string }) => client.post<Deployment>(`/projects/${id}/deployments`),
    async finished(deployment: Key) {
      for await (const _ of events(deployment));
      return look(deployment)
    },
    async logs(deployment: Key, text: string) {
      for await (const { data } of events(deployment)) if (data.includes(text)) return
      throw new Error(`The log ended without “${text}”.`)
    },
    async log(deployment: Key) {
      const { items } = await client.get<{ items: { seq: number; text: string }[] }>(
        `${pathOf(deployment)}/logs?limit=1000`,
      )
      expect(items.map(({ seq }) => seq)).toEqual(items.map((_, at) => at + 1))
      return items.map(({ text }) => text).join('\n')
    },
  }
}

const textAt = async (url: string) => (await fetch(url)).text()

test('killed in each step, Davit takes the deployment up again and nothing is left over', async () => {
  const davit = anInstallation()
  const repository = aRepository(davit.directory, anApp('first'))
  const server = startGitServer(join(davit.directory, 'repositories'))
  onTestFinished(server.stop)
  const commit = (files: Files) => repository.commit(files)
  let visit = await davit.start({ isNew: true })
  const project = await visit.project(`${server.url}app.git`)
  const other = await visit.project(`${server.url}app.git`, 'other')
  const first = await visit.finished(await visit.trigger(project))
  expect(first.status).toBe('running')

  // while cloning: git waits for a server that hangs
  server.mode = 'hang'
  const second = await visit.trigger(project)
  await visit.logs(second, 'Cloning')
  const queued = await visit.trigger(other)
  await davit.kill()
  server.mode = 'serve'
  expect(await textAt(first.url)).toBe('first')
  visit = await davit.start()
  expect(await visit.finished(second)).toMatchObject({ status: 'running', error: null })
  expect(await visit.log(second)).toContain('Davit ended while cloning.')
  expect(await visit.finished(queued)).toMatchObject({ status: 'running', error: null })
  await until(async () => (await davit.containers()).length === 2)

  // while building
  const thenServe =
    'EXPOSE 8080\nCMD ["sh", "-c", "echo third > /tmp/third; httpd -f -p 8080 -h /tmp"]'
  commit(aBuild('sleep 1.5', thenServe))
  const third = await visit.trigger(project)
  await visit.logs(third, 'RUN sleep')
  await davit.kill()
  expect(await textAt(first.url)).toBe('first')
  visit = await davit.start()
  expect(await visit.finished(third)).toMatchObject({ status: 'running', error: null })
  expect(await visit.log(third)).toContain('Davit ended while building.')
  expect(await textAt(`${first.url}/third`)).toBe('third\n')

  // at the gate, with the old container stopped: it serves until the new one is tried again
  commit(
    aCommand('sleep 2; mkdir /www; echo fourth > /www/index.html; exec httpd -f -p 8080 -h /www'),
  )
  const fourth = await visit.trigger(project)
  await visit.logs(fourth, 'Waiting for an answer')
  await davit.kill()
  visit = await davit.start()
  const restarted = await visit.finished(fourth)
  expect(restarted).toMatchObject({ status: 'running', error: null })
  expect(await visit.log(fourth)).toContain('Davit ended while deploying.')
  expect(await textAt(first.url)).toBe('fourth\n')
  expect((await davit.containers()).map(({ id }) => id)).toContain(restarted.containerId!)
  await until(async () => (await davit.containers()).length === 2)
}, 60_000)

test('a deployment in work at two deaths of Davit has failed, and the app before it runs', async () => {
  const davit = anInstallation()
  const repository = aRepository(davit.directory, anApp('first'))
  let visit = await davit.start({ isNew: true })
  const project = await visit.project(repository.url)
  const first = await visit.finished(await visit.trigger(project))
  repository.commit(aCommand('sleep 999'))
  const second = await visit.trigger(project)
  await visit.logs(second, 'Waiting for an answer')
  await davit.kill()
  visit = await davit.start()
  await visit.logs(second, 'taken up again')
  while (!/(Waiting for an answer[^]*){2}/.test(await visit.log(second))) await Bun.sleep(50)
  await davit.kill()
  visit = await davit.start()

  const ended = await visit.finished(second)
  expect(ended).toMatchObject({
    status: 'failed',
    error: { code: 'interrupted', step: 'deploying' },
  })
  expect(await visit.look(first)).toMatchObject({ status: 'running' })
  expect(await textAt(first.url)).toBe('first')
  expect(await davit.containers()).toEqual([{ id: first.containerId!, state: 'running' }])
}, 60_000)

test('on SIGTERM Davit puts a build back, tells readers to come again, and completes it later', async () => {
  const davit = anInstallation()
  const files = aBuild('sleep 2', 'CMD ["httpd", "-f", "-p", "3000"]')
  const repository = aRepository(davit.directory, files)
  let visit = await davit.start({ isNew: true })
  const project = await visit.project(repository.url)
  const deployment = await visit.trigger(project)
  await visit.logs(deployment, 'RUN sleep')
  const stream = await visit.client.stream(`${pathOf(deployment)}/logs`, null)
  const heard = new Response(stream).text()

  const before = performance.now()
  expect(await davit.stop()).toBe(0)
  expect(performance.now() - before).toBeLessThan(5000)

  expect(await heard).toEndWith('retry: 1000\n\n')
  expect(await heard).not.toContain('event: done')
  visit = await davit.start()
  expect(await visit.finished(deployment)).toMatchObject({ status: 'running', error: null })
  const log = await visit.log(deployment)
  expect(log).toContain('Davit is stopping.')
  expect(log).not.toContain('Davit ended')
}, 60_000)
