import { expect, test } from 'bun:test'
import { writeOutput } from '../logs/writing.ts'
import { testApp, withAda } from '../support/app.ts'
import { everything } from '../support/everything.ts'

/** Lines that would end an event, begin another one or forge its name, were they written as they are. */
const lines = [
  'x\ndata: y\n\nevent: close\ndata: z',
  'x\r\rid: 999\revent: done',
  'x\r\n\r\nretry: 1',
  'x\u2028data: y\u2029\u0085z',
  'event: done',
  ': comment',
  'data:',
  '\ufeffid: 7',
  '\0',
]

/** What a container wrote has been cut at its line ends. */
const singleLines = lines.filter((text) => !text.includes('\n'))

type Event = { id: string; event: string; data: string }

/** As the standard has a browser read it: all three line ends count, and an empty line sends the event. */
function readEvents(text: string): Event[] {
  const events: Event[] = []
  let [id, event, data] = ['', '', [] as string[]]
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line)!
    if (line === '') {
      if (data.length > 0) events.push({ id, event, data: data.join('\n') })
      ;[event, data] = ['', []]
    } else if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
  return events
}

async function aLog() {
  const { t, ada } = withAda(testApp())
  const ids = await everything(t, ada)
  const written = (texts: string[]) =>
    texts.map((text) => ({ text, time: 1, stream: 'stdout' as const }))
  t.logs.write({ sourceId: ids.environment, logId: ids.deployment }, written(lines))
  const of = { sourceId: ids.environment, deploymentId: ids.deployment }
  writeOutput(t, of, written(singleLines))
  return { ada, ids }
}

test('no line of a deployment is more or less than one message', async () => {
  const { ada, ids } = await aLog()
  const path = `/projects/${ids.project}/deployments/${ids.deployment}/logs`
  const read = async (query: string) => {
    const headers = { Accept: 'text/event-stream' }
    const events = readEvents(await (await ada.send(path + query, { headers })).text())
    expect(events.filter(({ event }) => event !== '').map(({ event }) => event)).toEqual([
      'status',
      'done',
    ])
    const messages = events.filter(({ event }) => event === '')
    expect(messages.map(({ id }) => Number(id)).at(-1)).toBe(lines.length)
    return messages.map(({ data }) => data)
  }
  const texts = (await read('?format=json')).map((data) => JSON.parse(data).text)
  expect(texts).toEqual(lines.map((text) => text.replace('\0', '\uFFFD')))
  const html = (await read('')).join('')
  expect(html.match(/<div class="line/g)).toHaveLength(lines.length)
})

test('no line of an app is more or less than one message', async () => {
  const { ada, ids } = await aLog()
  const path = `/projects/${ids.project}/envs/${ids.environment}/output/stream`
  const read = async (query: string) => {
    const answer = await ada.send(path + query)
    let text = ''
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const messages = readEvents(text).filter(({ event }) => event === '')
      if (Number(messages.at(-1)?.id) >= singleLines.length) return messages
    }
    throw new Error(`The stream ended after ${text}`)
  }
  const texts = (await read('?format=json')).map(({ data }) => JSON.parse(data).text)
  expect(texts).toEqual(singleLines.map((text) => text.replace('\0', '\uFFFD')))
  const html = (await read('')).map(({ data }) => data).join('')
  expect(html.match(/<div class="line/g)).toHaveLength(singleLines.length)
})
