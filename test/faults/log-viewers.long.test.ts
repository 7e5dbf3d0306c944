import { expect, onTestFinished, test } from 'bun:test'
import { failingBuild, startLogDavit } from './log-davit.ts'

const lines = 10_000
const viewers = 10

/** How often each of them goes away and comes back. */
const leaves = 10

/** The next try goes on in the same log. */
test('viewers who leave and come back see each line once and in order, through the death of Davit', async () => {
  const davit = await startLogDavit()
  onTestFinished(() => davit.remove())
  const print = (upTo: number) => `while [ $i -lt ${upTo} ]; do i=$((i+1)); echo "line $i"; done`
  // so that viewers are there, and the kill falls, before the end
  const script = `sleep 1; i=0; ${print(lines / 2)}; sleep 3; ${print(lines)}`
  const path = await davit.deploy(failingBuild(script))
  const seen: Seen = new Map()
  const viewing = Array.from({ length: viewers }, () =>
    viewToTheEnd({
      url: `${davit.url}${path}/logs?format=json`,
      authorization: davit.authorization,
      seen,
      stay: () => Math.ceil((Math.random() * 4 * lines) / leaves),
    }),
  )
  while (seen.size < lines / 2) await Bun.sleep(5)
  await davit.kill()
  const viewed = await Promise.all(viewing)
  const stored = davit.stored(path)
  for (const { wrong, last } of viewed) expect([wrong, last]).toEqual([0, stored.length])
  expect(viewed.reduce((sum, { comebacks }) => sum + comebacks, 0)).toBeGreaterThan(viewers)
  const lost = [...seen].filter(([id, data]) => stored[id - 1]?.text !== JSON.parse(data).text)
  expect(lost).toEqual([])
  const printed = stored.map(({ text }) => text).filter((text) => /^line \d+$/.test(text))
  expect(printed.slice(-lines)).toEqual(Array.from({ length: lines }, (_, at) => `line ${at + 1}`))
  expect(printed.length).toBeGreaterThan(lines) // the kill came amid them
})

/** What all viewers of one log saw: the same line must be the same at each. */
type Seen = Map<number, string>

type View = {
  /** Of the log, with the query. */
  url: string
  authorization: string
  seen: Seen
  /** Lines after which it goes away, asked anew each time it comes. */
  stay: () => number
}

/** Reads a log as a browser does: after every end that is not the end it comes back for what follows. */
async function viewToTheEnd({ url, authorization, seen, stay }: View) {
  const viewer = { last: 0, wrong: 0, comebacks: -1 }
  for (let ended = false; !ended;) {
    viewer.comebacks++
    try {
      ended = await viewOnce()
    } catch {
      await Bun.sleep(50) // nobody listens: Davit is being started again
    }
  }
  return viewer

  /** True when the log came to its end. */
  async function viewOnce() {
    const leaving = new AbortController()
    const answer = await fetch(url, {
      headers: {
        Accept: 'text/event-stream',
        Authorization: authorization,
        ...(viewer.last > 0 && { 'Last-Event-ID': String(viewer.last) }),
      },
      signal: leaving.signal,
    })
    if (!answer.ok) throw new Error(`The log is answered ${answer.status}`)
    let left = stay()
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of answer.body!) {
      const text = rest + decoder.decode(bytes, { stream: true })
      const end = text.lastIndexOf('\n\n') + 2
      for (const [, id, data] of text.slice(0, end).matchAll(/^id: (\d+)\ndata: (.*)$/gm)) {
        take(Number(id), data!)
        if (--left > 0) continue
        leaving.abort()
        return false
      }
      if (text.slice(0, end).includes('event: done\n')) return true
      rest = text.slice(end)
    }
    return false
  }

  function take(id: number, data: string) {
    if (id !== viewer.last + 1) viewer.wrong++
    const known = seen.get(id)
    if (known === undefined) seen.set(id, data)
    else if (known !== data) viewer.wrong++
    viewer.last = id
  }
}
