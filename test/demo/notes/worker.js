import { Worker } from 'bullmq'
import { database, redis } from './outside.js'

const worker = new Worker('notes', countWords, { connection: redis() })
console.log('Waiting for notes')

async function countWords({ data: { id } }) {
  const [{ text }] = (await database.query('SELECT text FROM notes WHERE id = $1', [id])).rows
  const words = text.trim().split(/\s+/).length
  await database.query('UPDATE notes SET words = $2 WHERE id = $1', [id, words])
  console.log(`Note ${id} has ${words} words`)
}

process.once('SIGTERM', async () => {
  await worker.close() // what it is at is done first
  process.exit()
})
