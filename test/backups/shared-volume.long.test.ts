import { expect, test } from 'bun:test'
import { listTargets } from '../../src/backups/targets/store.ts'
import { idle, made } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { aFolder } from '../support/folder.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'
import { until } from '../support/until.ts'

await ensureServiceImages({ say: console.error })

const compose = `
services:
  db:
    image: postgres:17.11
    environment: { POSTGRES_USER: ada, POSTGRES_DB: app, POSTGRES_PASSWORD: secret }
    volumes: ["files:/var/lib/postgresql/data"]
    healthcheck: { test: [CMD, pg_isready, -h, 127.0.0.1, -U, ada], interval: 1s, retries: 60 }
  beside: { ${idle}, volumes: ["files:/files"] }
volumes: { files: {} }
`

/** A service whose database has its files in a volume with those of another container, and a backup of it. */
async function backedUp() {
  const path = aFolder()
  const t = testApp({ DAVIT_RESTIC_IMAGE: await ensureRestic() })
  const root = t.logInAsAdmin()
  await root.post('/settings/targets', { kind: 'directory', name: 'disk', path })
  const [target] = listTargets(t.db, root.user.id)
  const { signal } = new AbortController()
  await (await t.deps.openRestic(target!)).prepare({ signal })
  const service = await made(t, root, compose)
  expect(service).toMatchObject({ status: 'running', error: null })
  const idOf = async (part: string) => {
    const { containers } = (await root.get(`/services/${service.id}`)).json
    return containers.find((one: { part: string }) => one.part === part).id as string
  }
  const run = async (part: string, script: string) => {
    const { exitCode, output } = await execIn(await idOf(part), ['sh', '-c', script], {})
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }
  const sql = (text: string) => run('db', `psql -XAtq -U ada -d app -c "${text}"`)
  await sql('CREATE TABLE orders AS SELECT 1 AS id')
  await run('beside', 'echo then > /files/own')
  const { json } = await root.post(`/services/${service.id}/backups`, {})
  await t.jobs.idle()
  return {
    ...{ t, root, idOf, run, sql },
    /** Restores it in place; expects that the data of the backup is back. */
    async restore() {
      await root.post(`/backups/${json.id}/restore`, { backupFirst: false })
      await t.jobs.idle()
      const { restore } = (await root.get(`/backups/${json.id}`)).json
      expect(restore).toMatchObject({ status: 'succeeded', error: null })
      expect(await sql('SELECT id FROM orders')).toBe('1')
      expect(await run('beside', 'cat /files/own')).toBe('then')
    },
  }
}

test('a PostgreSQL in a volume with files of another container is restored with those files', async () => {
  const { run, sql, restore } = await backedUp()
  await sql('DROP TABLE orders')
  await run('beside', 'echo now > /files/own')
  await restore()
}, 300_000)

test('it is also restored where it starts again and again, as a restore has left its files in part', async () => {
  const { t, root, idOf, run, restore } = await backedUp()
  await run('beside', 'rm /files/global/pg_control; echo torn > /files/own')
  const id = await idOf('db')
  await root.post(`/containers/${id}/restart`)
  await until(async () => (await t.docker.inspectContainer(id))!.restartCount > 0)
  await restore()
}, 300_000)
