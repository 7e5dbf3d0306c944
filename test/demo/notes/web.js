import { Queue } from 'bullmq'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { database, redis } from './outside.js'

const jobs = new Queue('notes', { connection: redis() })

const listNotes = async () => (await database.query('SELECT * FROM notes ORDER BY id')).rows

const page = (notes) =>
  html`<!doctype html>
    <html lang="en">
      <title>Notes</title>
      <h1>Notes</h1>
      <form method="post" action="/notes">
        <label>Text <input name="text" required /></label> <button>Add note</button>
      </form>
      <table>
        <tr>
          ${Object.keys(notes[0] ?? {}).map((name) => html`<th>${name}</th>`)}
        </tr>
        ${notes.map(
          (note) =>
            html`<tr>
              ${Object.values(note).map((value) => html`<td>${value ?? '…'}</td>`)}
            </tr>`,
        )}
      </table>
    </html>`

const app = new Hono()
  .get('/', async (c) => c.html(page(await listNotes())))
  .get('/notes', async (c) => c.json(await listNotes()))
  .post('/notes', async (c) => {
    const { text } = await c.req.parseBody()
    const insert = 'INSERT INTO notes (text) VALUES ($1) RETURNING id'
    const [{ id }] = (await database.query(insert, [String(text)])).rows
    await jobs.add('count', { id })
    return c.redirect('/', 303)
  })

const server = Bun.serve({ port: process.env.PORT ?? 3000, fetch: app.fetch })
console.log(`Listening on port ${server.port}`)

process.once('SIGTERM', async () => {
  await server.stop()
  process.exit()
})
