import { describe, expect, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aBuild, anApp, aProject, cancel, finished } from './apps.ts'
import { logs, statusOf } from './events.ts'

describe('a deployment whose pipeline can’t store its end', () => {
  test.each(['failed', 'cancelled'])(
    '(%s) ends when it can be stored, and blocks nothing then',
    async (end) => {
      const { t, ada } = withAda(testApp())
      using broke = spyOn(journal, 'error').mockImplementation(() => {})
      const project = await aProject(t, ada, aBuild(end === 'failed' ? 'exit 1' : 'sleep 2222'))
      t.db.$client.run(
        `CREATE TRIGGER broken BEFORE UPDATE ON deployments WHEN NEW.status = '${end}'
       BEGIN SELECT RAISE(ABORT, 'broken'); END`,
      )
      const first = await project.trigger()
      await logs(ada, first, 'RUN')
      project.repository.commit(anApp('x'))
      const ended = finished(ada, first)
      const cancelled = end === 'cancelled' ? cancel(ada, first) : null
      const second = await project.trigger()
      await until(() => broke.mock.calls.length > 0)
      expect([await statusOf(ada, first), await statusOf(ada, second)]).toEqual([
        'building',
        'pending',
      ])

      t.db.$client.run('DROP TRIGGER broken')
      expect((await ended).status).toBe(end)
      await cancelled
      expect((await finished(ada, second)).status).toBe('running')
    },
  )
})
