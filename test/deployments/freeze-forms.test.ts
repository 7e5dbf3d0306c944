import { expect, test } from 'bun:test'
import { hour, iso, setUp } from './freezing.ts'

const minute = 60_000
const day = 24 * hour

test('bad times are refused with their field, and freeze nothing', async () => {
  const s = await setUp()
  const at = (passed: number) => iso(s.now + passed)
  const refuse = async (asked: Record<string, unknown>, ...expected: [number, string]) => {
    const { status, json } = await s.ada.post(s.freezes, { reason: 'x', ...asked })
    expect([status, json.errors?.[0].field], JSON.stringify(asked)).toEqual(expected)
  }
  await refuse({ until: at(-1) }, 422, 'until')
  await refuse({ until: at(0) }, 422, 'until')
  await refuse({ until: at(400 * day) }, 422, 'until')
  await refuse({ from: at(2 * hour), until: at(hour) }, 422, 'until')
  await refuse({ from: at(hour), until: at(hour) }, 422, 'until')
  await refuse({ from: at(-2 * minute), until: at(hour) }, 422, 'from')
  await refuse({ until: 'tomorrow' }, 422, 'until')
  await refuse({ until: '2026-02-31T00:00:00Z' }, 422, 'until')
  await refuse({ until: 5 }, 422, 'until')
  await refuse({}, 422, 'until')
  await refuse({ until: at(hour), zone: 'Mars/Base' }, 422, 'zone')
  await refuse({ until: at(hour), reason: '' }, 422, 'reason')
  await refuse({ until: at(hour), reason: 'x'.repeat(201) }, 422, 'reason')
  await refuse({ until: at(hour), reason: 'a\u0007b' }, 422, 'reason')
  expect((await s.ada.get(s.freezes)).json.items).toEqual([])

  const { id } = await s.freeze({ from: at(hour), until: at(2 * hour) })
  await refuse({ until: at(1.5 * hour), from: null }, 409, 'from')
  await refuse({ from: at(1.5 * hour), until: at(3 * hour) }, 409, 'from')
  await s.freeze({ from: null, until: at(hour) })
  await s.freeze({ from: at(2 * hour), until: at(3 * hour) })
  const change = (asked: Record<string, unknown>) => s.ada.put(`${s.freezes}/${id}`, asked)
  expect((await change({ until: at(2.5 * hour) })).status).toBe(409)
  expect((await change({ until: at(-1) })).status).toBe(422)
  expect((await change({ reason: 'y' })).json).toMatchObject({
    from: at(hour),
    until: at(2 * hour),
  })
})

test('of two at the same instant, created or changed, only one is stored', async () => {
  const s = await setUp()
  const until = iso(s.now + hour)
  const create = () => s.ada.post(s.freezes, { until, reason: 'x' })
  const created = await Promise.all([create(), create(), create()])
  expect(created.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  const [first, second] = [3, 5].map((from) =>
    s.freeze({ from: iso(s.now + from * hour), until: iso(s.now + (from + 1) * hour) }),
  )
  const moved = { from: iso(s.now + 9 * hour), until: iso(s.now + 10 * hour) }
  const ids = (await Promise.all([first!, second!])).map(({ id }) => id)
  const changes = await Promise.all(ids.map((id) => s.ada.put(`${s.freezes}/${id}`, moved)))
  expect(changes.map(({ status }) => status).toSorted()).toEqual([200, 409])
})

test('its form shows its times, and keeps what was typed when they are refused', async () => {
  const s = await setUp()
  const { id, from, until } = await s.freeze()
  const form = await s.ada.page(`${s.freezes}/${id}/edit`)
  for (const time of [from, until]) expect(form.text).toContain(`value="${time.slice(0, 16)}"`)
  const typed = { until: until.slice(0, 16), zone: 'UTC', reason: 'still the fair' }
  const sentAgain = { ...typed, from: from.slice(0, 16), _method: 'PUT' }
  expect((await s.ada.form(`${s.freezes}/${id}`, sentAgain)).status).toBe(303)
  expect((await s.ada.get(`${s.freezes}/${id}`)).json).toMatchObject({
    ...{ from, reason: 'still the fair' },
  })
  const refused = await s.ada.form(s.freezes, { ...typed, until: '2020-01-01T10:00' })
  expect(refused.status).toBe(422)
  for (const text of ['2020-01-01T10:00', 'still the fair']) expect(refused.text).toContain(text)
})
