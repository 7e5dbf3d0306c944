import { describe, expect, spyOn, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { journal } from '../../src/platform/journal.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { anApp, aProject, cancel, finished, logOf } from './apps.ts'
import { logs, pathOf } from './events.ts'
import type { Key } from './events.ts'

describe('whatever goes wrong before the new version is stored as running', () => {
  const raise = (status: string) =>
    `CREATE TRIGGER refuse_${status} BEFORE UPDATE ON deployments WHEN NEW.status = '${status}'
     BEGIN SELECT RAISE(ABORT, 'refused'); END`

  async function aRunningApp(t: TestApp, ada: TestClient) {
    const project = await aProject(t, ada, anApp('first'))
    const first = await project.deploy()
    await t.jobs.idle()
    project.repository.commit(anApp('second'))
    return { project, first }
  }

  /** The first version serves, as if nothing had been tried. */
  async function servesAlone(t: TestApp, ada: TestClient, first: Key & { containerId: string }) {
    const current = (await ada.get(pathOf(first))).json
    expect(current).toMatchObject({ status: 'running', containerId: first.containerId })
    const labels = [`davit.instance=${t.instanceId}`]
    const containers = await t.docker.listContainers({ labels, all: true })
    expect(containers).toMatchObject([{ id: first.containerId, state: 'running' }])
  }

  test('an error of the database lets the old one serve, and the next deployment goes through', async () => {
    const { t, ada } = withAda(simulatedApp())
    const { project, first } = await aRunningApp(t, ada)
    t.db.$client.run(raise('running'))
    const second = await project.deploy()
    await t.jobs.idle()
    expect(second).toMatchObject({ status: 'failed', error: { step: 'deploying' } })
    expect(await logOf(ada, second)).toContain('The previous container serves again.')
    await servesAlone(t, ada, first)

    t.db.$client.run('DROP TRIGGER refuse_running')
    const third = await project.deploy()
    expect(third).toMatchObject({ status: 'running', error: null })
  })

  test('so does one that keeps the end from being stored', async () => {
    const { t, ada } = withAda(simulatedApp())
    const { project, first } = await aRunningApp(t, ada)
    for (const status of ['running', 'failed', 'cancelled']) t.db.$client.run(raise(status))
    using reported = spyOn(journal, 'error').mockImplementation(() => {})
    const second = await project.trigger()
    const ended = finished(ada, second)
    await until(() => reported.mock.calls.length === 3) // the error, and each end that isn’t stored
    expect(await logOf(ada, second)).toContain('The previous container serves again.')
    await servesAlone(t, ada, first)
    for (const status of ['running', 'failed', 'cancelled'])
      t.db.$client.run(`DROP TRIGGER refuse_${status}`)
    expect((await ended).status).toBe('failed')
    await servesAlone(t, ada, first)
  })

  const calls = [
    'createContainer',
    'stopContainer',
    'startContainer',
    'inspectContainer',
    'setRestartPolicy',
  ] as const

  test.each(calls)(
    'an error of Docker or a cancel after %s lets the old one serve',
    async (name) => {
      const { t, ada } = withAda(simulatedApp())
      const { project, first } = await aRunningApp(t, ada)
      for (const fault of ['error', 'cancel']) {
        let second: Key | null = null
        let cancelling: Promise<unknown> | null = null
        const call = t.docker[name] as (...args: unknown[]) => Promise<unknown>
        const once = async (...args: unknown[]) => {
          const result = await call(...args)
          delete t.faults[name]
          if (fault === 'error') throw new EngineError(500, 'something broke')
          cancelling = cancel(ada, second!)
          await logs(ada, second!, '')
          return result
        }
        Object.assign(t.faults, { [name]: once })
        second = await project.trigger()
        const { status } = await finished(ada, second!)
        await cancelling
        await t.jobs.idle()
        expect(status).toBe(fault === 'error' ? 'failed' : 'cancelled')
        await servesAlone(t, ada, first)
      }
    },
  )
})
