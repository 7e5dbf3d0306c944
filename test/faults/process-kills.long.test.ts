import { expect, test } from 'bun:test'
import { waitingForResponse } from '../../src/runtime/steps/gate.ts'
import { anApp, aRepository } from '../deployments/apps.ts'
import { anInstallation } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { answerOf } from './answer-of.ts'
import { watch } from './watch.ts'
import type { Deployment } from './watch.ts'

const command = ['sleep', '9999']
const processes = [
  { name: 'web' },
  { name: 'worker', command, replicas: 3 },
  { name: 'clock', command },
]

/** Lines of a deployment, at one of which Davit is killed, somewhat later. */
const moments = [
  'status deploying',
  'Starting container',
  'Stopping the previous container',
  waitingForResponse,
  'It responded',
  'Running at',
]

type Row = { state: string; release_id: string; component: string; container_id: string | null }

test('killed at any step of a switch of several processes, all of one version run and nothing else', async () => {
  const davit = anInstallation()
  try {
    const repository = aRepository(davit.directory, anApp('version 0'))
    let { client } = await davit.start()
    const project = await client.post<{ id: string }>('/projects', {
      name: 'site',
      repositoryUrl: repository.url,
    })
    const path = `/projects/${project.id}`
    const [environment] = (await client.get<{ items: { id: string }[] }>(`${path}/envs`)).items
    await client.put(`${path}/envs/${environment!.id}`, { processes })
    const deploy = () => client.post<Deployment>(`${path}/deployments`)
    const first = await deploy()
    await watch(client, first).ended

    for (const [at, moment] of moments.entries()) {
      const version = `version ${at + 1}`
      repository.commit(anApp(version))
      davit.newRound()
      const deployment = await deploy()
      const viewer = watch(client, deployment)
      await viewer.hears(moment)
      await Bun.sleep(Math.random() ** 2 * 400)
      await davit.kill()
      ;({ client } = await davit.start())
      await watch(client, deployment).ended
      const about = `killed at “${moment}”, round ${at}`
      const seen = { faults: [''] }
      await comesTrue(30, async () => {
        seen.faults = await faultsOf(version)
        return seen.faults.length === 0
      })
      expect(seen.faults, about).toEqual([])
      expect(davit.errors(), about).toEqual([])
    }

    /** What isn't as it should be: the version serves, by all its processes and no other container. */
    async function faultsOf(version: string) {
      const [{ id, url }] = davit.rows<{ id: string; url: string }>(
        "SELECT id, url FROM deployments WHERE status = 'running'",
      ) as [{ id: string; url: string }]
      const rows = davit.rows<Row>("SELECT * FROM instances WHERE state <> 'removed' ORDER BY id")
      const containers = await davit.docker.listContainers({ labels: davit.labels(), all: true })
      const up = new Set(
        containers.filter(({ state }) => state === 'running').map((container) => container.id),
      )
      const answer = await answerOf(url)
      const names = rows.map(({ component }) => component).join()
      return [
        answer === version ? [] : `it answers ${answer}`,
        names === 'web,worker,worker,worker,clock' ? [] : `it has ${names}`,
        containers.length === rows.length ? [] : `there are ${containers.length} containers`,
        rows
          .filter(
            (row) => row.release_id !== id || row.state !== 'live' || !up.has(row.container_id!),
          )
          .map(({ component, state }) => `${component} is ${state}, not live and of the version`),
      ].flat()
    }
  } finally {
    await davit.leave()
  }
}, 400_000)
