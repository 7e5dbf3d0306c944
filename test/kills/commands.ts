import { expect } from 'bun:test'
import { aCommand, anApp } from '../deployments/apps.ts'
import { aProject } from '../faults/project.ts'
import { until } from '../support/until.ts'
import { stored } from './harness.ts'
import type { Operation } from './harness.ts'

type Run = { id: string; status: string; exitCode: number | null; error: { code: string } | null }
type Line = { stream: string; text: string }

const counting = 'n=0; while [ $n -lt 400 ]; do n=$((n + 1)); echo $n; sleep 0.02; done; exit 5'
const numbers = Array.from({ length: 400 }, (_, at) => String(at + 1))

/** It goes on while no Davit runs. */
export const run: Operation = async (start) => {
  const davit = await start()
  const project = await aProject(davit, aCommand('sleep 9999'), { port: 0 })
  await project.deploy()
  const path = `/envs/${project.environmentId}/runs`
  let id = ''
  const outputOf = async () => {
    const { items } = await davit.client.get<{ items: Line[] }>(`${path}/${id}/logs?limit=10000`)
    return items.filter(({ stream }) => stream !== 'system').map(({ text }) => text)
  }
  const over = () => `SELECT 1 FROM runs WHERE id = '${id}' AND finished_at IS NOT NULL`
  const hasMore = async () => {
    const before = (await outputOf()).length
    await until(async () => (await outputOf()).length > before || davit.rows(over()).length > 0)
  }
  const begin = async (script: string) => {
    ;({ id } = await davit.client.post<Run>(path, { command: ['sh', '-c', script] }))
    await hasMore()
  }
  const ends = (status: string, exitCode: number | null, output: string[], code?: string) =>
    async function end() {
      await stored(davit, over())
      const ended = await davit.client.get<Run>(`${path}/${id}`)
      expect([ended.status, ended.exitCode, ended.error?.code]).toEqual([status, exitCode, code])
      expect(await outputOf()).toEqual(output)
    }
  const container = () =>
    davit.rows<{ id: string }>("SELECT container_id AS id FROM instances WHERE state = 'once'")[0]!
      .id
  return {
    moments: [
      {
        name: 'killed again and again',
        async begin() {
          await begin(counting)
          for (let kills = 0; kills < 2; kills++) {
            await davit.kill()
            await davit.start()
            await hasMore() // two kills while it starts would end it
          }
        },
        end: ends('failed', 5, numbers),
      },
      {
        name: 'stopped',
        signal: 'SIGTERM',
        begin: () => begin(counting),
        end: ends('failed', 5, numbers),
      },
      {
        name: 'it ends meanwhile',
        begin: () => begin('echo short; sleep 1'),
        meanwhile: () => davit.docker.waitForExit(container()),
        end: ends('succeeded', 0, ['short']),
      },
      {
        name: 'it is removed meanwhile',
        begin: () => begin('echo begun; sleep 999'),
        meanwhile: () => davit.docker.removeContainer(container(), { force: true }),
        end: ends('failed', null, ['begun'], 'container_removed'),
      },
    ],
  }
}

/** Runs for as long as it is the first try, which the volume knows. */
const onceMore =
  'n=$(cat /data/tries 2>/dev/null || echo 0); n=$((n + 1)); echo $n >/data/tries; echo try $n; ' +
  '[ $((n % 2)) = 0 ] || sleep 999'

export const releaseCommand: Operation = async (start) => {
  const davit = await start()
  const settings = { releaseCommand: ['sh', '-c', onceMore], volumes: ['data:/data'] }
  const project = await aProject(davit, anApp('new'), settings)
  const amid = (name: string, tries: [number, number], signal?: 'SIGTERM') => {
    let deployment: { id: string }
    const texts = () => davit.lines(deployment).map(({ text }) => text)
    return {
      name,
      ...(signal && { signal }),
      async begin() {
        ;({ deployment } = await project.trigger())
        await until(() => texts().includes(`try ${tries[0]}`))
      },
      async end() {
        await stored(davit, endedAs(deployment, 'running'))
        const tried = texts().filter((text) => text.startsWith('try'))
        expect(tried).toEqual(tries.map((n) => `try ${n}`))
      },
    }
  }
  return { moments: [amid('killed', [1, 2]), amid('stopped', [3, 4], 'SIGTERM')] }
}

const endedAs = ({ id }: { id: string }, status: string) =>
  `SELECT 1 FROM deployments WHERE id = '${id}' AND status = '${status}'`
