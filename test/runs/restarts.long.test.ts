import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import { prepareInstallation } from '../logs/installation.ts'
import { startDavit } from '../support/davit.ts'
import { until } from '../support/until.ts'

/** A Davit as a process, in whose one environment busybox is live, and what is done with its runs. */
async function anInstallation() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-runs-'))
  const made = prepareInstallation(directory)
  const { environmentId } = made
  const db = openDatabase(join(parseConfig(made.env).dataDir, 'davit.db'))
  const projectId = db.$client.query<{ id: string }, []>('SELECT id FROM projects').get()!.id
  const live = insertDeployment(db, {
    projectId,
    environmentId,
    status: 'stopped',
    trigger: 'manual',
    triggeredBy: 'ada@example.com',
    repositoryUrl: 'https://git.example.com/team/site.git',
    image: 'busybox:latest',
    finishedAt: new Date(),
  })
  const workload = { id: environmentId, kind: 'app' } as const
  insertRelease(db, { workload, id: live.id, components: null, slots: [] })
  makeLive(db, { workloadId: environmentId, releaseId: live.id, states: new Map() })
  db.$client.close()
  let davit = await startDavit({ directory, env: made.env })
  onTestFinished(async () => {
    await davit.stop()
    await made.removeContainers()
    rmSync(directory, { recursive: true, force: true })
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { Cookie: made.cookie, Accept: 'application/json', ...init.headers }
    const url = `${davit.url}/envs/${environmentId}/runs${path}`
    return (await fetch(url, { ...init, headers })).json() as Promise<any>
  }
  return {
    async start(script: string): Promise<{ id: string }> {
      const csrf = await fetch(`${davit.url}/health`, { headers: { Cookie: made.cookie } })
      const token = /svc_csrf=([^;]+)/.exec(csrf.headers.getSetCookie().join())![1]!
      const headers = {
        Cookie: `${made.cookie}; svc_csrf=${token}`,
        'X-CSRF-Token': token,
        'Content-Type': 'application/json',
      }
      return ask('', {
        method: 'POST',
        headers,
        body: JSON.stringify({ command: ['sh', '-c', script] }),
      })
    },
    get: ({ id }: { id: string }) => ask(`/${id}`),
    async outputOf({ id }: { id: string }) {
      const { items } = await ask(`/${id}/logs?limit=10000`)
      const own = (items as { stream: string; text: string }[]).filter(
        ({ stream }) => stream !== 'system',
      )
      return own.map(({ text }) => text)
    },
    async kill() {
      process.kill(davit.pid, 'SIGKILL')
      await davit.exited
      davit = await startDavit({ directory, env: made.env })
    },
    async restart(meanwhile = async () => {}) {
      await davit.stop()
      await meanwhile()
      davit = await startDavit({ directory, env: made.env })
    },
    containers: () =>
      made.docker.listContainers({ labels: [`davit.environment=${environmentId}`], all: true }),
    docker: made.docker,
  }
}

const counting = 'n=0; while [ $n -lt 400 ]; do n=$((n + 1)); echo $n; sleep 0.02; done; exit 5'
const numbers = Array.from({ length: 400 }, (_, at) => String(at + 1))

test('a run goes on while Davit is killed again and again, and no line of it is lost or doubled', async () => {
  const { start, get, outputOf, kill, containers } = await anInstallation()
  const run = await start(counting)
  const isOver = async () => (await get(run)).finishedAt !== null
  for (let kills = 0; kills < 4; kills++) {
    const before = (await outputOf(run)).length
    await Bun.sleep(500 + Math.random() * 700) // whatever it is at then
    await kill()
    // two kills while it starts would end it, and a slow machine takes long for that
    await until(async () => (await outputOf(run)).length > before || (await isOver()), 60)
  }
  await until(isOver, 60)
  expect(await get(run)).toMatchObject({ status: 'failed', exitCode: 5, error: null })
  expect(await outputOf(run)).toEqual(numbers)
  await until(async () => (await containers()).length === 0)
})

test('a run goes on while Davit restarts, and ends as it would have', async () => {
  const { start, get, outputOf, restart, containers } = await anInstallation()
  const run = await start(counting)
  await until(async () => (await outputOf(run)).length > 20)
  await restart()
  await until(async () => (await get(run)).finishedAt !== null, 60)
  expect(await get(run)).toMatchObject({ status: 'failed', exitCode: 5 })
  expect(await outputOf(run)).toEqual(numbers)
  const short = await start('echo short; sleep 1')
  await until(async () => (await outputOf(short)).length > 0)
  await restart(() => Bun.sleep(3000)) // it ends while no one looks
  await until(async () => (await get(short)).finishedAt !== null, 60)
  expect(await get(short)).toMatchObject({ status: 'succeeded', exitCode: 0 })
  await until(async () => (await containers()).length === 0)
})

test('a run whose container was removed meanwhile has failed, with the reason', async () => {
  const { start, get, outputOf, restart, containers, docker } = await anInstallation()
  const run = await start('echo begun; sleep 999')
  await until(async () => (await outputOf(run)).length > 0)
  await restart(async () => {
    for (const { id } of await containers()) await docker.removeContainer(id, { force: true })
  })
  await until(async () => (await get(run)).finishedAt !== null, 60)
  const { status, exitCode, error } = await get(run)
  expect([status, exitCode, error.code]).toEqual(['failed', null, 'container_removed'])
})
