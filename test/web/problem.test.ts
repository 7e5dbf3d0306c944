import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Failure } from '../../src/platform/errors.ts'
import { aProject, aPush, aReceiver, post, sent } from '../webhooks/senders.ts'

/** What SQLite throws while another holds the lock. */
function busy(directory: string) {
  const [holder, other] = [1, 2].map(() => new Database(join(directory, 'held.db')))
  try {
    holder!.run('BEGIN EXCLUSIVE')
    other!.run('BEGIN EXCLUSIVE')
  } catch (error) {
    return error
  } finally {
    for (const database of [holder, other]) database!.close()
  }
  throw new Error('both have the lock')
}

test('an error is the same to a person, a program and the sender of a webhook', async () => {
  const t = aReceiver()
  const { id } = await aProject(t.owner)
  const errors: [unknown, number, RegExp][] = [
    [busy(t.dataDir), 503, /Davit’s database .* Try again soon/],
    [new Error('wrapped', { cause: busy(t.dataDir) }), 503, /Davit’s database/],
    [new Failure('engine_down', 'The engine is away.', 'Start it.'), 503, /is away\. Start it\./],
    [new Error('a bug'), 500, /Something went wrong/],
  ]
  for (const [error, status, detail] of errors) {
    t.db.transaction = () => {
      throw error
    }
    const sender = await post(t, sent.github(aPush()))
    const program = await t.owner.post(`/projects/${id}/deploy`)
    const page = await t.owner.form(`/projects/${id}/deploy`, {})
    for (const answer of [sender, program])
      expect(answer).toMatchObject({
        status,
        json: { status, title: program.json.title, detail: expect.stringMatching(detail) },
      })
    expect(page.status).toBe(status)
    expect(page.text).toContain(program.json.title)
    expect(sender.headers.get('Content-Type')).toBe('application/problem+json')
  }
})

test('a refusal starts with its field, unless it is a sentence of its own', async () => {
  const { owner } = aReceiver()
  const { json } = await owner.post('/projects', { repositoryUrl: '-x' })
  expect(json.errors.map((e: { field: string }) => e.field)).toEqual(['name', 'repositoryUrl'])
  const [missing, sentence] = json.errors
  expect(json.detail).toBe(`name ${missing.message} ${sentence.message}`)
})
