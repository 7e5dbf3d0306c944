import { expect, test } from 'bun:test'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { Trace, Vertex, VertexStatus } from '../../src/docker/buildkit-trace.ts'
import { BuildKitProgress } from '../../src/docker/buildkit.ts'
import { readTrace } from '../../src/docker/buildkit-trace.ts'
import { storable } from '../../src/logs/block.ts'

const nothing = { vertexes: [], statuses: [], logs: [], warnings: [] }
const aVertex = (vertex: Partial<Vertex>): Vertex => ({
  digest: 'a',
  name: '[1/2] RUN make',
  cached: false,
  started: null,
  completed: null,
  error: '',
  ...vertex,
})
const aStatus = (status: Partial<VertexStatus>): VertexStatus => ({
  id: 'layer',
  vertex: 'a',
  name: 'downloading',
  current: 0,
  total: 0,
  timestamp: null,
  started: null,
  completed: null,
  ...status,
})

function tell(...traces: Partial<Trace>[]) {
  const progress = new BuildKitProgress()
  const lines = traces.flatMap((trace) => [...progress.read({ ...nothing, ...trace })])
  return { lines, texts: lines.map((line) => line.text), progress }
}

test('steps are numbered as they begin, and named once', () => {
  const first = aVertex({ digest: 'a', started: 10 })
  const second = aVertex({ digest: 'b', name: '[2/2] COPY . .', started: 11 })
  const waiting = aVertex({ digest: 'c', name: 'exporting' })
  const { texts } = tell(
    { vertexes: [waiting, second] },
    { vertexes: [first, { ...second, completed: 11.25 }] },
    {
      vertexes: [
        { ...first, completed: 12, cached: true },
        { ...second, completed: 11.25 },
      ],
    },
  )
  expect(texts).toEqual(['#1 [2/2] COPY . .', '#2 [1/2] RUN make', '#1 DONE 0.3s', '#2 CACHED'])
})

test('output in pieces is joined, and comes before the end of its step', () => {
  const log = (text: string, stream = 1) => ({ vertex: 'a', stream, bytes: Buffer.from(text) })
  const { lines } = tell(
    { vertexes: [aVertex({ started: 1 })], logs: [log('com'), log('warning: ', 2)] },
    { logs: [log('piling\nlin')] },
    { vertexes: [aVertex({ started: 1, completed: 2 })], logs: [log('king')] },
  )
  expect(lines.map(({ stream, text }) => [stream, text])).toEqual([
    ['system', '#1 [1/2] RUN make'],
    ['stdout', '#1 compiling'],
    ['stdout', '#1 linking'],
    ['stderr', '#1 warning: '],
    ['system', '#1 DONE 1.0s'],
  ])
})

test('a step whose output BuildKit leaves out says so once, in our own words', () => {
  const log = (text: string) => ({ vertex: 'a', stream: 1, bytes: Buffer.from(text) })
  const clipped = '\n[output clipped, log limit 100KiB/s reached]\n'
  const { lines } = tell({
    vertexes: [aVertex({ started: 1 })],
    logs: [log(`much${clipped}`), log(`more${clipped}`)],
  })
  expect(lines.map(({ stream, text }) => [stream, text]).slice(1)).toEqual([
    ['stdout', '#1 much'],
    ['stdout', '#1 [output clipped, log limit 100KiB/s reached]'],
    ['system', '#1 Output is missing here: BuildKit keeps only 100KiB/s of a step.'],
    ['stdout', '#1 more'],
    ['stdout', '#1 [output clipped, log limit 100KiB/s reached]'],
  ])
})

test('a step that fails is remembered by its name; one that was cancelled is not an error', () => {
  const failed = aVertex({ started: 1, completed: 2, error: 'exit code: 2' })
  const other = aVertex({ digest: 'b', name: 'other', started: 1, error: 'x: context canceled' })
  const { texts, progress } = tell({ vertexes: [failed] }, { vertexes: [other] })
  expect(texts.slice(1)).toEqual(['#1 ERROR: exit code: 2', '#2 other', '#2 CANCELED'])
  expect(progress.failedStep).toBe('[1/2] RUN make')
  expect(progress.clue).toBeNull()
})

test.each([
  ['Killed', true],
  ['gcc: fatal error: Killed signal terminated program cc1plus', true],
  ['make: *** [all] Error 137', true],
  ['(signal: 9, SIGKILL: kill)', true],
  ["dd: error writing '/big': No space left on device", true],
  ['Killed the old server', false],
])('of the output of a step that fails, %p is kept as a clue: %p', (text, isClue) => {
  const logs = ['a', 'b'].map((vertex) => ({
    vertex,
    stream: 2,
    bytes: Buffer.from(vertex === 'a' ? `${text}\n` : 'other: Killed\n'),
  }))
  const other = aVertex({ digest: 'b', started: 1 })
  const failed = aVertex({ started: 1, completed: 2, error: 'exit code: 2' })
  const { progress } = tell(
    { vertexes: [aVertex({ started: 1 }), other], logs },
    { vertexes: [failed] },
  )
  expect(progress.clue).toBe(isClue ? text : null)
})

test('a pull is reported in a few lines: what goes on for long, and what is done', () => {
  const vertexes = [aVertex({ started: 0 })]
  const at = (timestamp: number) =>
    aStatus({ current: timestamp * 1e6, total: 25e6, started: 0, timestamp })
  const moving = Array.from({ length: 240 }, (_, n) => ({ statuses: [at(1 + n / 10)] }))
  const done = { statuses: [{ ...at(25), completed: 25 }] }
  const { texts } = tell({ vertexes }, ...moving, done, done)
  expect(texts).toEqual([
    '#1 [1/2] RUN make',
    '#1 layer 11MB / 25MB',
    '#1 layer 21MB / 25MB',
    '#1 layer 25MB / 25MB 25.0s done',
  ])
})

test('a warning is reported with the address that explains it', () => {
  const warnings = [{ vertex: 'a', short: 'FromAsCasing', url: 'https://docs' }]
  const { texts } = tell({ vertexes: [aVertex({ started: 1 })], warnings })
  expect(texts[1]).toBe('#1 WARN: FromAsCasing (https://docs)')
})

test('a trace is read field by field, and fields of newer engines are passed over', () => {
  const time = new BinaryWriter().tag(1, 0).int64(12).tag(2, 0).int32(500_000_000).finish()
  const vertex = new BinaryWriter()
    .tag(1, 2)
    .string('sha256:a')
    .tag(2, 2)
    .string('sha256:input')
    .tag(3, 2)
    .string('[1/2] RUN make')
    .tag(4, 0)
    .bool(true)
    .tag(5, 2)
    .bytes(time)
    .tag(7, 2)
    .string('oh no')
    .tag(99, 2)
    .string('from the future')
    .finish()
  const warning = new BinaryWriter()
    .tag(1, 2)
    .string('sha256:a')
    .tag(3, 2)
    .bytes(Buffer.from('short'))
    .tag(5, 2)
    .string('https://docs')
    .finish()
  const bytes = new BinaryWriter().tag(1, 2).bytes(vertex).tag(4, 2).bytes(warning).finish()
  expect(readTrace(bytes)).toEqual({
    ...nothing,
    vertexes: [
      {
        digest: 'sha256:a',
        name: '[1/2] RUN make',
        cached: true,
        started: 12.5,
        completed: null,
        error: 'oh no',
      },
    ],
    warnings: [{ vertex: 'sha256:a', short: 'short', url: 'https://docs' }],
  })
})

test('a long line is cut once, and each piece has its step', () => {
  const text = Array.from({ length: 4000 }, (_, n) => `${n}`.padStart(10, '.')).join('')
  const name = `RUN ${text}`
  const bytes = Buffer.from(`${text}\nnext\n`)
  const { lines } = tell(
    { vertexes: [aVertex({ started: 1, name })] },
    { logs: [{ vertex: 'a', stream: 1, bytes }] },
    { vertexes: [aVertex({ completed: 2, error: text })] },
  )
  const pieces = lines.map((line) => line.text)
  for (const piece of pieces) {
    expect(piece).toMatch(/^#1 /)
    expect(storable(piece)).toEqual([piece])
  }
  const whole = pieces.map((piece) => piece.slice(3)).join('')
  expect(whole).toBe(`${name}${text}nextERROR: ${text}`)
  expect(pieces).toHaveLength(3 * 3 + 1)
})
