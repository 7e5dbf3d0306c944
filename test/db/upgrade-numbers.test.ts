import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { until } from './migrations.ts'
import { aFolder } from '../support/folder.ts'

test('an upgrade numbers the deployments of each project in their order, and new ones go on from there', () => {
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, until('0022_domain_rows')).$client
  old.run("INSERT INTO users (id, email, role, created_at) VALUES ('u', 'u', 'admin', 0)")
  for (const [at, id] of ['p', 'q'].entries()) {
    old.run(`INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at)
      VALUES ('${id}', 'u', '${id}', '', '', 0)`)
    old.run(`INSERT INTO environments (id, project_id, name, host_port, created_at)
      VALUES ('e-${id}', '${id}', 'production', ${20_000 + at}, 0)`)
  }
  for (const [id, project] of Object.entries({ d3: 'p', d1: 'p', d2: 'q', d4: 'p' }))
    old.run(`INSERT INTO deployments
      (id, project_id, environment_id, trigger, triggered_by, repository_url, created_at)
      VALUES ('${id}', '${project}', 'e-${project}', 'manual', 'u', '', 0)`)
  old.close()
  const db = openDatabase(path)
  const values = { trigger: 'manual', triggeredBy: 'u', repositoryUrl: '' } as const
  insertDeployment(db, { ...values, id: 'd5', projectId: 'q', environmentId: 'e-q' })
  const rows = db.$client.query('SELECT id, number FROM deployments ORDER BY id').values()
  expect(rows).toEqual([
    ['d1', 1],
    ['d2', 1],
    ['d3', 2],
    ['d4', 3],
    ['d5', 2],
  ])
  db.$client.close()
})
