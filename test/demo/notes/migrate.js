import { readdir, readFile } from 'node:fs/promises'
import { database } from './outside.js'

// Applies each file of migrations/ once, in order, all or nothing.

const client = await database.connect()
await client.query('BEGIN')
await client.query('SELECT pg_advisory_xact_lock(1)')
await client.query('CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY)')
const done = new Set(
  (await client.query('SELECT name FROM migrations')).rows.map((row) => row.name),
)
for (const name of (await readdir('migrations')).sort()) {
  if (done.has(name)) continue
  await client.query(await readFile(`migrations/${name}`, 'utf8'))
  await client.query('INSERT INTO migrations VALUES ($1)', [name])
  console.log(`Applied ${name}`)
}
await client.query('COMMIT')
client.release()
await database.end()
