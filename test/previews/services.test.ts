import { describe, expect, test } from 'bun:test'
import { setUp } from './pulls.ts'

/** A project whose first environment is linked to a service with a password of its own. */
async function linked(services: string) {
  const s = await setUp({ services })
  await s.link()
  const [service] = await s.services()
  return { ...s, service }
}

const password = (values: ReadonlyMap<string, string>) => values.get('STORE_PASSWORD')

describe('its services', () => {
  test('are none by default', async () => {
    const s = await linked('none')
    await s.tell()
    expect((await s.find()).links).toEqual([])
  })

  test('are the same ones if they are shared, and stay when it is deleted', async () => {
    const s = await linked('shared')
    await s.tell()
    expect((await s.find()).links).toMatchObject([
      { service: { id: s.service.id }, variables: [{ key: 'STORE' }] },
    ])
    await s.tell({ action: 'closed' })
    s.keep()
    await s.gone()
    expect(await s.services()).toMatchObject([{ id: s.service.id, deleting: false }])
  })

  test('are of the same kind with a password of their own if they are fresh, and go with it', async () => {
    const s = await linked('fresh')
    await s.tell()
    const [fresh, base] = await s.services()
    expect(fresh).toMatchObject({ name: 'main-pr-7', template: base.template, version: '1' })
    expect(await s.valuesOf(fresh.id)).toEqual(
      new Map([
        ['STORE_PASSWORD', expect.any(String)],
        ['STORE_USER', 'ada'],
      ]),
    )
    expect(password(await s.valuesOf(fresh.id))).not.toBe(password(await s.valuesOf(base.id)))
    expect((await s.find()).links).toMatchObject([
      { service: { id: fresh.id }, variables: [{ key: 'STORE', provides: 'url' }] },
    ])
    await s.tell({ action: 'closed' })
    s.keep()
    await s.gone()
    await s.servicesLeft(1)
    expect(await s.services()).toMatchObject([{ id: base.id, deleting: false }])
  })

  test('go with it when it is deleted by hand, and with its project', async () => {
    const s = await linked('fresh')
    await s.tell({ number: 1 })
    await s.tell({ number: 2 })
    s.keep()
    await s.ada.delete(`${s.path}/envs/${(await s.find('pr-1')).id}`)
    await s.servicesLeft(2)
    await s.ada.delete(s.path)
    await s.servicesLeft(1)
  })

  test('stay where another environment is linked to them, also when that link goes', async () => {
    const s = await linked('fresh')
    await s.tell()
    const [fresh] = await s.services()
    const { json } = await s.ada.post(`/envs/${s.base.id}/links`, {
      serviceId: fresh.id,
      variables: { OTHER: 'url' },
    })
    await s.tell({ action: 'closed' })
    s.keep()
    await s.gone()
    expect(await s.services()).toMatchObject([{ id: fresh.id, deleting: false }, {}])
    expect((await s.ada.delete(`/envs/${s.base.id}/links/${json.id}`)).status).toBe(200)
    await s.tell({ number: 8 })
    await s.tell({ number: 8, action: 'closed' })
    await s.gone('pr-8')
    await s.servicesLeft(2)
    expect(await s.services()).toMatchObject([{ id: fresh.id, deleting: false }, {}])
  })
})
