import { describe, expect, test } from 'bun:test'
import { end } from '../../src/containers/log-line.ts'
import { testApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { followLog, kinds } from './log-stream.ts'
import type { Event } from './log-stream.ts'

type Numbered = { seq: number; id: string; text: string }

/** Writes 5,000 lines as fast as it can to both outputs, and goes on when it is told. */
const script = `i=0; while [ $i -lt 5000 ]; do i=$((i+1))
  case $((i % 5)) in 0) echo "ERROR $i" >&2;; 1) echo "WARN $i";; *) echo "line $i";; esac
done; echo last; sleep 999`

const numberOf = ({ text }: Numbered) => Number(/\d+$/.exec(text)?.[0])

describe.each(Object.entries(kinds))('the viewer of a container %s', (_, aWriter) => {
  async function written() {
    const t = testApp()
    const { client, id } = await aWriter(t, script)
    let lines = 0 // those of one output can be read before earlier ones of the other
    const isWritten = ({ data }: Event) =>
      /"(last|(ERROR|WARN|line) \d+)"/.test(data) && ++lines === 5001
    await (await followLog(client, id, { tail: '10000' })).until(isWritten)
    return { client, id, path: `/containers/${id}/logs` }
  }

  /** All lines that match, page by page. */
  async function through(client: TestClient, path: string, query: string) {
    const items: Numbered[] = []
    for (let after = '0'; ;) {
      const { json } = await client.get(`${path}?limit=700&after=${after}&${query}`)
      items.push(...json.items)
      if (json.nextCursor === null) return items
      after = json.nextCursor
    }
  }

  async function backwards(client: TestClient, path: string, query: string) {
    const items: Numbered[] = []
    for (let before = String(end); ;) {
      const { json, headers } = await client.get(`${path}?limit=700&before=${before}&${query}`)
      items.unshift(...json.items)
      const link = /[?&]before=(\d+)/.exec(headers.get('Link') ?? '')
      if (!link) return items
      before = link[1]!
    }
  }

  test('gets all lines with rising numbers, the same from either end and in the stream', async () => {
    const { client, path, id } = await written()
    const all = await through(client, path, '')
    const printed = all.filter(({ text }) => /^(ERROR|WARN|line) \d+$/.test(text))
    expect(printed).toHaveLength(5000)
    expect(new Set(printed.map(numberOf)).size).toBe(5000)
    const seqs = all.map(({ seq }) => seq)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    expect(await backwards(client, path, '')).toEqual(all)

    const after = all[3000]!.seq
    const stream = await followLog(client, id, { after: String(after), format: 'html' })
    const rows = await stream.until(({ data }) => data.includes(`id="L${seqs.at(-1)}"`))
    const lines = rows.filter(({ event }) => event === null)
    const sent = lines.map(({ data }) => Number(/ id="L(\d+)"/.exec(data)![1]))
    expect(sent).toEqual(seqs.slice(3001))
    const { text } = await client.htmx('GET', `${path}?limit=2&after=${after}`)
    const drawn = [...text.matchAll(/id="L(\d+)"/g)].map(([, seq]) => Number(seq))
    expect(drawn).toEqual(seqs.slice(3001, 3003))
  })

  test('gets the lines after one without a limit, and as a file', async () => {
    const { client, path } = await written()
    const all = await through(client, path, '')
    const texts = all.map(({ text }) => text)
    const { seq, id } = all.at(-4)!
    for (const after of [seq, id])
      expect((await client.get(`${path}?after=${after}`)).json.items).toEqual(all.slice(-3))
    const file = async (query: string) => {
      const { text } = await client.get(`${path}?download=1&${query}`)
      return text.split('\n').flatMap((line) => line.replace(/^\S+ /, '') || [])
    }
    expect(await file('')).toEqual(texts)
    for (const query of [`after=${seq}`, `after=${id}`, 'tail=3', `after=${seq}&tail=1`])
      expect([query, await file(query)]).toEqual([query, texts.slice(-3)])
    expect(await file('tail=0')).toEqual([])
    for (const other of [`after=${seq}`, 'download=1']) {
      const both = await client.get(`${path}?${other}&before=${end}`)
      expect(both).toMatchObject({ status: 422, json: { errors: [{ field: 'before' }] } })
    }
  })

  test('searches and filters all there is', async () => {
    const { client, path } = await written()
    const found = async (query: string) => (await through(client, path, query)).map(numberOf)
    expect(await found('search=line 100')).toEqual([1002, 1003, 1004, 1007, 1008, 1009])
    expect((await found('level=error')).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 1000 }, (_, at) => (at + 1) * 5),
    )
    expect(await found('level=warn&stream=stderr')).toEqual([])
    const last = await client.get(`${path}?level=warn&limit=2&before=${end}`)
    expect(last.json.items.map(numberOf)).toEqual([4991, 4996])
    const since = await client.get(`${path}?since=1h&limit=1&search=line`)
    expect(since.json.items.map(numberOf)).toEqual([2])
    expect((await client.get(`${path}?limit=5&after=${end}`)).json.items).toEqual([])
  })
})
