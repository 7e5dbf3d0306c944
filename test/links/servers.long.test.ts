import { expect, test } from 'bun:test'
import { aProject, logOf } from '../deployments/apps.ts'
import { aService } from '../services/real/a-service.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureServiceImages } from '../support/machine.ts'

await ensureServiceImages({ say: console.error })

/** Its first line asks both servers. */
const script = `psql "$DATABASE_URL" -Atc "SELECT 'postgres ' || current_user" &&
  redis-cli -u "$REDIS_URL" PING && exec sleep 9999`

test('an app reaches its database and its cache at its first line, and after all that restarts', async () => {
  const t = testApp({}, { config: { settleTime: 3000 } }) // its first line takes a moment
  const ada = t.logIn('ada@example.com')
  const database = await aService(t, ada, 'postgresql', { POSTGRES_USER: 'ada' })
  const app = await aProject(
    t,
    ada,
    {
      Dockerfile: `FROM postgres:17.11\nENTRYPOINT []\nCMD ${JSON.stringify(['sh', '-c', script])}\n`,
    },
    { port: 0 },
  )
  const links = `/envs/${app.environmentId}/links`
  await ada.post(links, { serviceId: database.id })
  // the cache comes in the same step as its link
  const { json: link } = await ada.post(links, { template: 'redis' })
  await t.jobs.idle()
  const deployment = await app.deploy()
  expect(deployment).toMatchObject({ status: 'running', error: null })
  const lines = await logOf(ada, deployment)
  expect(lines).toContain('postgres ada')
  expect(lines).toContain('PONG')

  const ask = async (id: string) => {
    const { output } = await execIn(id, ['sh', '-c', script.replace('exec sleep 9999', 'true')])
    expect(output).toContain('postgres ada')
    expect(output).toContain('PONG')
  }
  await database.act('post', '/restart')
  await ask(deployment.containerId)
  const before = await database.container('db')
  const changed = await database.act('put', '', { version: '17.11-next' })
  expect(changed.status).toBeLessThan(300)
  expect(await database.container('db')).not.toBe(before)
  await ask(deployment.containerId)
  await ada.post(`/containers/${deployment.containerId}/restart`)
  await ask(deployment.containerId)

  // a database that is stopped is named
  await database.act('post', '/stop')
  const failed = await app.deploy()
  expect(failed.status).toBe('failed')
  expect(failed.error.hint).toContain('The service postgresql is stopped. Start it')
  await database.act('post', '/restart')
  expect(await app.deploy()).toMatchObject({ status: 'running' })
  const second = (await ada.delete(`/services/${link.service.id}`)).json
  expect(second.detail).toContain('redis is linked to')
}, 300_000)
