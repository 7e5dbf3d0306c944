import { RedisClient, SQL } from 'bun'
import { expect, test } from 'bun:test'
import { imageOf } from '../support/images/recipes.ts'
import { ensureServiceImages } from '../support/machine.ts'
import { aDavit } from './connections.ts'

await ensureServiceImages({ say: console.error })

test('PostgreSQL answers at the address that is printed, with its password from the page', async () => {
  const t = await aDavit()
  const ada = await t.register('ada@example.com')
  const { id } = await t.make(ada, '/services/postgresql', { name: 'notes' })
  const { connection } = await ada.get<{ connection: { label: string; value: string }[] }>(
    `/services/${id}/secrets`,
  )
  const password = connection.find(({ label }) => label === 'Password')!.value

  const opened = t.connect(['notes'])
  const said = await opened.open()
  const address = opened.address()
  expect(said).toBe(
    `notes (db, port 5432) is at ${address} until Ctrl-C.\n\n` +
      `  postgresql://davit:********@${address}/app\n\n` +
      `Its secrets: http://127.0.0.1:3000/services/${id}, “Show secrets”\n`,
  )
  expect(said).not.toContain(password)

  const query = async (text: string) => {
    const sql = new SQL(`postgresql://davit:${password}@${address}/app`, { max: 4 })
    try {
      return (await sql.unsafe(text)) as { value: unknown }[]
    } finally {
      await sql.close()
    }
  }
  expect(await query("SELECT repeat('x', 20000000) AS value")).toEqual([
    { value: 'x'.repeat(20_000_000) },
  ])
  await ada.put(`/services/${id}`, { POSTGRES_DB: 'postgres' })
  await t.settle(ada, id)
  expect(await query('SELECT 42 AS value')).toEqual([{ value: 42 }])
  expect(await opened.ended('SIGINT')).toMatchObject({ status: 0, stderr: '' })
})

test('of a file that names no port, the port of its image is forwarded', async () => {
  const t = await aDavit()
  const ada = await t.register('ada@example.com')
  const command = '[redis-server, --protected-mode, "no"]'
  const compose = `services: { kv: { image: "${await imageOf('redis')}", command: ${command} } }`
  await t.make(ada, '/services/compose', { name: 'cache', compose })
  const opened = t.connect(['cache'])
  expect(await opened.open()).toStartWith('cache (kv, port 6379) is at 127.0.0.1:')
  const redis = new RedisClient(`redis://${opened.address()}`)
  expect(await redis.send('PING', [])).toBe('PONG')
  redis.close()
})
