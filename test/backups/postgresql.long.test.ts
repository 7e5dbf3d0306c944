import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listTargets } from '../../src/backups/targets/store.ts'
import { aService } from '../services/real/a-service.ts'
import { testApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'

await ensureServiceImages({ say: console.error })

/** A PostgreSQL of the catalogue with a shop in it, and a directory as target. */
async function aShop() {
  const t = testApp({ DAVIT_RESTIC_IMAGE: await ensureRestic() })
  const root = t.logInAsAdmin()
  const folder = mkdtempSync(join(tmpdir(), 'davit-target-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { json: target, text } = await root.post('/settings/targets', {
    ...{ kind: 'directory', name: 'disk', path: folder },
  })
  if (!target?.id) throw new Error(text)
  const [row] = listTargets(t.db, root.user.id)
  const { signal } = new AbortController()
  await (await t.deps.openRestic(row!)).prepare({ signal })
  const db = await aService(t, root, 'postgresql', {})
  const containerId = await db.container('db')
  const sql = async (text: string) => {
    const command = ['psql', '-XAtq', '-U', 'davit', '-d', 'app', '-c', text]
    const { exitCode, output } = await execIn(containerId, command, {})
    if (exitCode !== 0) throw new Error(output)
    return output.trim()
  }
  await sql(
    'CREATE TABLE orders AS SELECT n AS id, md5(n::text) AS code FROM generate_series(1, 5000) n',
  )
  return { t, root, target, db, sql, folder, path: `/services/${db.id}/backups` }
}

test('a PostgreSQL is backed up by button and by its plan, with its tables and rows', async () => {
  const { t, root, target, path, sql } = await aShop()
  const backUp = async () => {
    const { json, text } = await root.post(path, {})
    if (!json?.id) throw new Error(text)
    await t.jobs.ended(json.id)
    return (await root.get(`/backups/${json.id}`)).json
  }
  const first = await backUp()
  expect(first).toMatchObject({
    status: 'succeeded',
    error: null,
    rows: 5000,
    targetId: target.id,
    contents: [
      {
        component: 'db',
        engine: 'postgresql',
        databases: [
          { name: 'app', tables: [{ name: 'public.orders', rows: 5000 }] },
          { name: 'postgres' },
        ],
      },
    ],
  })
  expect(first.files.map(({ file }: { file: string }) => file)).toEqual([
    'db/roles.sql',
    'db/app.dump',
    'db/postgres.dump',
  ])
  await sql('INSERT INTO orders SELECT n, md5(n::text) FROM generate_series(5001, 5100) n')
  const second = await backUp()
  expect(second).toMatchObject({ status: 'succeeded', rows: 5100 })
})
