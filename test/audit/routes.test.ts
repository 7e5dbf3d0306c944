import { describe, expect, setSystemTime, test } from 'bun:test'
import { recordEvent } from '../../src/audit/record.ts'
import { auditEvents } from '../../src/db/schema.ts'
import { accountsApp, ada, bob, registered } from '../accounts/visitor.ts'

type List = { items: Record<string, any>[]; nextCursor: string | null }

const at = (day: string) => setSystemTime(new Date(`${day}T12:00:00Z`))

/** An admin, a member, and three events on three days. */
async function withEvents() {
  const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
  const admin = await registered(t.app, ada)
  const member = await registered(t.app, bob)
  t.db.delete(auditEvents).run()
  const grace = { id: 'grace', email: 'grace@example.com' }
  const linus = { id: 'linus', email: 'linus@example.org' }
  try {
    at('2026-01-01')
    recordEvent(t.db, { actor: grace, action: 'login.succeeded', address: '203.0.113.1' })
    at('2026-01-02')
    recordEvent(t.db, {
      actor: linus,
      action: 'token.created',
      object: { kind: 'token', id: 'token-1', name: 'Release_pipeline' },
      details: { scopes: 'deploy' },
    })
    at('2026-01-03')
    recordEvent(t.db, {
      actor: grace,
      action: 'variable.deleted',
      object: { kind: 'variable', id: 'variable-1', name: 'A<b>' },
      details: { environment: 'production' },
    })
  } finally {
    setSystemTime()
  }
  const list = async (query = '') => {
    const answer = await admin.get(`/settings/audit${query}`, { accept: 'application/json' })
    return (await answer.json()) as List
  }
  const actions = async (query: string) => (await list(query)).items.map(({ action }) => action)
  return { ...t, admin, member, list, actions }
}

describe('the audit log', () => {
  test('is for admins', async () => {
    const { member } = await withEvents()
    expect((await member.get('/settings/audit')).status).toBe(403)
    expect(await (await member.get('/settings/profile')).text()).not.toContain('/settings/audit')
  })

  test('is JSON to a program, newest first', async () => {
    const { list } = await withEvents()
    const { items, nextCursor } = await list()
    expect(items.map(({ time }) => time.slice(0, 10))).toEqual([
      '2026-01-03',
      '2026-01-02',
      '2026-01-01',
    ])
    expect(items[1]).toEqual({
      id: expect.any(String),
      time: '2026-01-02T12:00:00.000Z',
      actor: { id: 'linus', email: 'linus@example.org' },
      action: 'token.created',
      object: { kind: 'token', id: 'token-1', name: 'Release_pipeline' },
      address: null,
      details: { scopes: 'deploy' },
    })
    expect(items[2]).toMatchObject({ object: null, address: '203.0.113.1' })
    expect(nextCursor).toBeNull()
  })

  test('is sentences to a person', async () => {
    const { admin } = await withEvents()
    const page = await (await admin.get('/settings/audit')).text()
    expect(page).toStartWith('<!DOCTYPE html>')
    expect(page.replace(/<[^>]*>/g, '')).toContain(
      'grace@example.com deleted the variable A&lt;b&gt;',
    )
    const partial = await (await admin.htmx('GET', '/settings/audit')).text()
    expect(partial).toStartWith('<section id="events"')
  })

  test('comes in pages that keep the filter', async () => {
    const { list, admin } = await withEvents()
    const first = await list('?actor=grace&limit=1')
    expect(first.items).toMatchObject([{ action: 'variable.deleted' }])
    const second = await list(`?actor=grace&limit=1&cursor=${first.nextCursor}`)
    expect(second).toMatchObject({ items: [{ action: 'login.succeeded' }], nextCursor: null })
    const page = await (await admin.get('/settings/audit?actor=grace&limit=1')).text()
    expect(page).toContain(`?actor=grace&amp;cursor=${first.nextCursor}`)
  })
})

test.each([
  ['actor=GRACE', ['variable.deleted', 'login.succeeded']],
  ['actor=linus@example.org', ['token.created']],
  ['actor=%25', []],
  ['action=token.created', ['token.created']],
  ['object=token', ['token.created']],
  ['object=token-1', ['token.created']],
  ['object=release', ['token.created']],
  ['object=release%25', []],
  ['object=e_p', ['token.created']],
  ['from=2026-01-02', ['variable.deleted', 'token.created']],
  ['to=2026-01-02', ['token.created', 'login.succeeded']],
  ['from=2026-01-02&to=2026-01-02', ['token.created']],
  ['from=2026-01-02T12:00:01Z', ['variable.deleted']],
  ['to=2026-01-02T13:00:00%2B01:00', ['token.created', 'login.succeeded']],
  ['to=2026-01-02T11:59:59Z', ['login.succeeded']],
  ['actor=grace&action=login.succeeded&from=&object=', ['login.succeeded']],
  ["actor='+OR+1=1--", []],
])('%s finds %p', async (query, found) => {
  const { actions } = await withEvents()
  expect(await actions(`?${query}`)).toEqual(found)
})

test.each([
  ['action=everything', 'action'],
  ['from=yesterday', 'from'],
  ['to=2026-02-31', 'to'],
  ['limit=0', 'limit'],
  [`actor=${'x'.repeat(300)}`, 'actor'],
])('%s is refused', async (query, field) => {
  const { admin } = await withEvents()
  const answer = await admin.get(`/settings/audit?${query}`, { accept: 'application/json' })
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ errors: [{ field }] })
})

test('a filter that finds nothing says so, and is still there to be changed', async () => {
  const { admin } = await withEvents()
  const page = await (await admin.get('/settings/audit?actor=nobody')).text()
  expect(page).toContain('No events')
  expect(page).toContain('value="nobody"')
})
