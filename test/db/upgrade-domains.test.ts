import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { newId } from '../../src/db/new-id.ts'
import { until } from './migrations.ts'
import { aFolder } from '../support/folder.ts'

test('an upgrade keeps domains, once where two had the same, and leaves out wildcards', () => {
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, until('0020_runs_attach')).$client
  old.run("INSERT INTO users (id, email, role, created_at) VALUES ('u', 'u', 'admin', 0)")
  old.run(`INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at)
    VALUES ('p', 'u', 'p', '', '', 0)`)
  const domains = JSON.stringify(['B.example.com', '*.example.com', 'a.example.com'])
  for (const [port, id] of ['e1', 'e2'].entries())
    old.run(`INSERT INTO environments (id, project_id, name, host_port, domains, created_at)
      VALUES ('${id}', 'p', '${id}', ${20_000 + port}, '${domains}', 0)`)
  old.close()
  const db = openDatabase(path)
  const rows = db.$client.query('SELECT environment_id, position, host, path FROM domains')
  expect(rows.values()).toEqual([
    ['e1', 0, 'b.example.com', '/'],
    ['e1', 2, 'a.example.com', '/'],
  ])
  const before = db.$client.query('SELECT max(id) FROM domains').values()[0]![0] as string
  expect(newId() > before).toBe(true)
  db.$client.close()
})

test('an upgrade leaves ports to Docker that are none of those given out, so that a user chose them', () => {
  const path = join(aFolder(), 'davit.db')
  const old = openDatabase(path, until('0020_runs_attach')).$client
  old.run("INSERT INTO users (id, email, role, created_at) VALUES ('u', 'u', 'admin', 0)")
  old.run(`INSERT INTO projects (id, owner_id, name, repository_url, webhook_secret, created_at)
    VALUES ('p', 'u', 'p', '', '', 0)`)
  for (const port of [1883, 20_000, 29_999, 30_000])
    old.run(`INSERT INTO environments (id, project_id, name, host_port, created_at)
      VALUES ('${port}', 'p', '${port}', ${port}, 0)`)
  old.close()
  const db = openDatabase(path)
  const chosen = db.$client.query('SELECT host_port FROM environments WHERE port_set ORDER BY 1')
  expect(chosen.values()).toEqual([[1883], [30_000]])
  db.$client.close()
})
