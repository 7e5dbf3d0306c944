import { describe, expect, test } from 'bun:test'
import { ok, receiver, scene } from './scene.ts'

const no = () => new Response('no', { status: 503 })

describe('once a receiver works again', () => {
  /** A channel whose message was given up after a day, so that it waits for hours. */
  async function givenUp() {
    const s = scene()
    const { received, url, at } = receiver(no)
    const channel = s.channel(url)
    s.emit({ title: 'given up' })
    await s.comes(() => s.rows()[0]!.tries === 1)
    await s.ends('failed')
    at.answer = ok
    received.length = 0
    const titles = () => received.map(({ body }) => body.data.title)
    return { s, channel, titles }
  }

  test('“Send again” sends at once', async () => {
    const { s, titles } = await givenUp()
    await s.ada.post(`/settings/events/${s.events()[0]!.id}/send`)
    await s.settled('sent')
    expect(titles()).toEqual(['given up'])
  })

  test('a test that it accepts sends at once what waits', async () => {
    const { s, channel, titles } = await givenUp()
    s.emit({ title: 'waits' })
    await s.ada.post(`/settings/channels/${channel}/test`)
    await s.settled('failed', 'sent')
    expect(titles()).toEqual(['A test from Davit', 'waits'])
  })
})
