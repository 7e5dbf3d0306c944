import { describe, expect, spyOn, test } from 'bun:test'
import { insertDelivery } from '../../src/webhooks/store.ts'
import { aProject, aPush, aReceiver, countDeployments, inbox, post, sent } from './senders.ts'

const day = 86_400_000

describe('a delivery that comes again', () => {
  test('fifty times at once deploys once', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const delivery = sent.github(aPush())
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(t, delivery)))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    const others = answers.filter(({ status }) => status === 200)
    expect(others).toHaveLength(49)
    expect(others.every(({ json }) => json.reason.includes('before'))).toBe(true)
    expect(inbox(t, project.id)).toHaveLength(1)
    expect(countDeployments(t)).toBe(1)
  })

  test('under another id deploys again', async () => {
    const t = aReceiver()
    await aProject(t.owner)
    for (let i = 0; i < 2; i++) expect((await post(t, sent.github(aPush()))).status).toBe(202)
    expect(countDeployments(t)).toBe(2)
  })

  test('is known for a week and among the last hundred, and then deploys once more', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const first = sent.github(aPush())
    await post(t, first)
    for (let i = 0; i < 120; i++) {
      t.clock.now += 1000
      await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
    }
    expect((await post(t, first)).status).toBe(200)
    t.clock.now += 8 * day
    expect((await post(t, first)).status).toBe(200)
    await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
    expect(inbox(t, project.id)).toHaveLength(100)
    expect((await post(t, first)).status).toBe(202)
    expect((await post(t, first)).status).toBe(200)
    expect(countDeployments(t)).toBe(2)
  })

  test('can’t be kept out by one of the same id that no one signed', async () => {
    const t = aReceiver()
    const project = await aProject(t.owner)
    const delivery = sent.github(aPush())
    const forged = { ...delivery.headers, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` }
    for (let i = 0; i < 30; i++) await post(t, { ...delivery, headers: forged })
    expect((await post(t, delivery)).status).toBe(202)
    expect(inbox(t, project.id).filter((row) => !row.signature_ok)).toHaveLength(20)
  })
})

test('of a hundred pushes in a row the last one wins', async () => {
  const t = aReceiver()
  await aProject(t.owner)
  for (let i = 0; i < 100; i++) {
    const after = i.toString(16).padStart(40, 'a')
    expect((await post(t, sent.github(aPush({ after })))).status).toBe(202)
  }
  const rows = t.db.$client.query(
    'SELECT status, requested_commit AS hash FROM deployments ORDER BY id',
  )
  const all = rows.all() as { status: string; hash: string }[]
  expect(all.filter(({ status }) => status === 'superseded')).toHaveLength(99)
  expect(all.at(-1)).toEqual({ status: 'pending', hash: (99).toString(16).padStart(40, 'a') })
})

test('a delivery whose deployment can’t be stored is not stored either', async () => {
  const t = aReceiver()
  const project = await aProject(t.owner)
  t.db.$client.run(
    "CREATE TRIGGER full BEFORE INSERT ON deployments BEGIN SELECT RAISE(ABORT, 'full'); END",
  )
  const delivery = sent.github(aPush())
  expect((await post(t, delivery)).status).toBe(500)
  expect(inbox(t, project.id)).toEqual([])
  t.db.$client.run('DROP TRIGGER full')
  expect((await post(t, delivery)).status).toBe(202)
})

test('a full disk is answered 503, so that it is sent again', async () => {
  const t = aReceiver()
  const project = await aProject(t.owner)
  const pages = t.db.$client.query<{ page_count: number }, []>('PRAGMA page_count').get()!
    .page_count
  t.db.$client.run(`PRAGMA max_page_count = ${pages}`)
  const message = 'x'.repeat(2000)
  const large = () => sent.github(aPush({ head_commit: { id: 'x', message } }))
  const statuses: number[] = []
  while (statuses.length < 100 && !statuses.includes(503))
    statuses.push((await post(t, large())).status)
  expect(statuses.at(-1)).toBe(503)
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([202]))
  expect(inbox(t, project.id)).toHaveLength(countDeployments(t))
})

test('what a delivery would have superseded goes on waiting, and no one is informed otherwise, when it can’t be stored', async () => {
  const t = aReceiver()
  const [first, second] = [await aProject(t.owner), await aProject(t.owner)]
  const waiting = (await t.owner.post(`/projects/${first.id}/deployments`)).json
  t.db.$client.run(
    `CREATE TRIGGER full BEFORE INSERT ON deployments WHEN NEW.project_id = '${second.id}'
     BEGIN SELECT RAISE(ABORT, 'full'); END`,
  )
  const heard: unknown[] = []
  using published = spyOn(t.logs, 'publish').mockImplementation(
    (...event) => void heard.push(event),
  )
  expect((await post(t, sent.github(aPush()))).status).toBe(500)

  expect(heard).toEqual([])
  const path = `/projects/${first.id}/deployments/${waiting.id}`
  expect((await t.owner.get(path)).json.status).toBe('pending')
  expect((await t.owner.get(`${path}/logs?limit=10`)).json.items).toEqual([])

  t.db.$client.run('DROP TRIGGER full')
  expect((await post(t, sent.github(aPush()))).status).toBe(202)
  expect((await t.owner.get(path)).json.status).toBe('superseded')
  expect(published).toHaveBeenCalledWith(waiting.id, { status: 'superseded' })
})

test('the inbox of a storm stays small: old ones are known again, but not kept whole', async () => {
  const t = aReceiver()
  const project = await aProject(t.owner)
  const first = sent.github(aPush({ ref: 'refs/heads/dev' }))
  await post(t, first)
  for (let i = 0; i < 110; i++) await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
  const whole = t.db.$client.query('SELECT count(*) n FROM deliveries WHERE push IS NOT NULL')
  expect(whole.get()).toEqual({ n: 100 })
  expect((await post(t, first)).json.reason).toContain('before')

  const before = {
    projectId: project.id,
    provider: 'github',
    event: 'push',
    signatureOk: true,
    createdAt: new Date(t.clock.now),
  } as const
  t.db.transaction(() => {
    for (let i = 0; i < 2000; i++) insertDelivery(t.db, { ...before, deliveryId: `many-${i}` })
  })
  await post(t, sent.github(aPush({ ref: 'refs/heads/dev' })))
  expect(inbox(t, project.id)).toHaveLength(2000)
})
