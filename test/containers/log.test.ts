import { describe, expect, test } from 'bun:test'
import { testApp } from '../support/app.ts'
import { followLog, isLine, kinds, linesOf, textsOf } from './log-stream.ts'

const sequence = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => String(first + i))

describe.each(Object.entries(kinds))('the log of a container %s', (kind, aWriter) => {
  test('begins with the last lines, then has what is written, each once and with its id', async () => {
    const t = testApp()
    const script = 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; done; sleep 99'
    const { client, id } = await aWriter(t, script)
    const stream = await followLog(client, id, { tail: '10000' })
    const lines = linesOf(await stream.until(isLine('3000')))
    expect(lines.map(({ text }) => text)).toEqual(sequence(1, 3000))
    expect(new Set(lines.map((line) => line.id)).size).toBe(3000)
    if (kind.startsWith('of Davit')) return
    for (const line of lines) expect(line.id).toStartWith(line.time)
    expect(lines[0]!.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
  })

  test('goes on after the last line seen where a stream broke, with none lost or doubled', async () => {
    const t = testApp()
    const { client, id } = await aWriter(
      t,
      'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo $i; [ $((i%20)) = 0 ] && usleep 5000; done; sleep 99',
    )
    const texts: string[] = []
    let lastEventId = ''
    while (texts.at(-1) !== '2000') {
      const stream = await followLog(client, id, {
        tail: '10000',
        ...(lastEventId && { lastEventId }),
      })
      const events = await stream.until(
        (event) => isLine('2000')(event) || (event.id !== null && Math.random() < 0.01),
      )
      texts.push(...textsOf(events))
      lastEventId = stream.lastId ?? lastEventId
      await stream.close()
    }
    expect(texts).toEqual(sequence(1, 2000))
  })

  test('misses nothing for viewers who come while it is written fast', async () => {
    const t = testApp()
    const { client, id } = await aWriter(
      t,
      'i=0; while [ ! -e /end ]; do i=$((i+1)); echo $i; [ $((i%100)) = 0 ] && usleep 5000; done; echo end; sleep 99',
    )
    const viewers: Promise<string[]>[] = []
    for (let i = 0; i < 4; i++) {
      const stream = await followLog(client, id, { tail: '0' })
      const first = await stream.until(({ event }) => event === null)
      viewers.push(stream.until(isLine('end')).then((rest) => textsOf([...first, ...rest])))
    }
    await t.docker.putArchive(id, { path: '/', files: [{ path: 'end', content: '', mode: 0o644 }] })
    for (const texts of await Promise.all(viewers)) {
      expect(texts.pop()).toBe('end')
      expect(texts).toEqual(sequence(Number(texts[0]), Number(texts.at(-1))))
    }
  })
})
