import { expect, test } from 'bun:test'
import { writeOutput } from './writing.ts'
import { testApp, withAda } from '../support/app.ts'
import { allLines, anEnvironment, collect, hasEnded, linesUntil, written } from './collecting.ts'

const start = Date.parse('2026-11-20T03:00:00Z')

/** An environment with 30,000 lines, one a second, of three deployments. */
async function aNight() {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  for (let batch = 0; batch < 30; batch++) {
    const deploymentId = `00000000-0000-7000-8000-00000000000${Math.floor(batch / 10)}`
    const lines = Array.from({ length: 1000 }, (_, at) => {
      const n = batch * 1000 + at + 1
      const text = n % 5000 === 0 ? `\u001b[31mERROR 50% of_${n} failed` : `line ${n}`
      const stream = n % 5000 === 0 ? ('stderr' as const) : ('stdout' as const)
      return { time: start + n * 1000, stream, text }
    })
    writeOutput(t, { sourceId: environment.id, deploymentId }, lines)
  }
  return { ...environment, t, ada }
}

test('a search goes over all that is kept, whatever the case, and takes no letter for a pattern', async () => {
  const { ada, output } = await aNight()
  const { json } = await ada.get(`${output}?search=error%2050%25%20of_`)
  expect(json.items.map(({ seq }: { seq: number }) => seq)).toEqual([
    5000, 10_000, 15_000, 20_000, 25_000, 30_000,
  ])
  expect(json.items[2]).toEqual({
    seq: 15_000,
    time: new Date(start + 15_000_000).toISOString(),
    stream: 'stderr',
    text: '\u001b[31mERROR 50% of_15000 failed',
    deploymentId: '00000000-0000-7000-8000-000000000001',
    container: 'app',
    process: null,
    replica: null,
    server: null,
  })
  expect((await ada.get(`${output}?search=.*`)).json.items).toEqual([])
  expect(await allLines(ada, output, '&search=line%202')).toHaveLength(11_111 - 2)
})

test('lines are found by time and stream, forwards, backwards and page by page', async () => {
  const { ada, output } = await aNight()
  const seqs = async (query: string) => {
    const { json } = await ada.get(`${output}?${query}`)
    return { seqs: json.items.map(({ seq }: { seq: number }) => seq), next: json.nextCursor }
  }
  const at = (n: number) => encodeURIComponent(new Date(start + n * 1000).toISOString())
  expect(await seqs(`since=${at(20_000)}&limit=2`)).toEqual({
    seqs: [20_000, 20_001],
    next: '20001',
  })
  expect(await seqs(`since=${at(7)}&until=${at(9)}`)).toEqual({ seqs: [7, 8, 9], next: null })
  expect(await seqs(`since=${encodeURIComponent('2026-11-20T05:00:10+02:00')}&limit=1`)).toEqual({
    seqs: [10],
    next: '10',
  })
  expect(await seqs(`since=${at(40_000)}`)).toEqual({ seqs: [], next: null })
  expect((await seqs('stream=stderr')).seqs).toHaveLength(6)
  expect((await seqs('before=4&limit=2')).seqs).toEqual([2, 3])
  expect((await seqs('before=99999999&limit=3')).seqs).toEqual([29_998, 29_999, 30_000])
  expect((await seqs('before=2500&limit=2499')).seqs).toHaveLength(2499)
  expect(await seqs('after=29999')).toEqual({ seqs: [30_000], next: null })
  for (const other of ['after=5', 'cursor=5', 'download=1']) {
    const both = await ada.get(`${output}?before=9&${other}`)
    expect(both).toMatchObject({ status: 422, json: { errors: [{ field: 'before' }] } })
  }
  expect(await allLines(ada, output)).toHaveLength(30_000)
})

test('the whole of it can be downloaded as text', async () => {
  const { ada, output } = await aNight()
  const { text, headers } = await ada.get(`${output}?download=1`)
  const lines = text.trimEnd().split('\n')
  expect(lines).toHaveLength(30_000)
  expect(lines[0]).toBe('2026-11-20T03:00:01.000Z line 1')
  expect(headers.get('Content-Disposition')).toContain('production.log')
  expect(
    (await ada.get(`${output}?download=1&search=error`)).text.trimEnd().split('\n'),
  ).toHaveLength(6)
})

test('the page has the last lines, and the viewer gets others as rows', async () => {
  const { ada, output } = await aNight()
  const { text } = await ada.page(output)
  expect(text).toContain('id="L30000"')
  expect(text).toContain('id="L29901"')
  expect(text).not.toContain('id="L29900"')
  expect(text).toContain('<time datetime="2026-11-20T11:20:00.000Z">11-20 11:20:00.000</time>')
  const rows = (await ada.htmx('GET', `${output}?after=500&limit=2`)).text
  expect(rows).toMatch(/^<div class="line" id="L501".*<div class="line" id="L502".*<\/div>$/)
})

test('hostile queries are refused with the field that is wrong', async () => {
  const { ada, output } = await aNight()
  const hostile: Record<string, string[]> = {
    limit: ['-1', '0', '1e9', 'NaN', '10001', "1'; DROP TABLE x--", '$(id)'],
    after: ['-1', 'NaN', '1.5', '9'.repeat(40)],
    before: ['-1', 'x'],
    since: [
      'yesterday',
      '2026-13-01T00:00:00Z',
      '-1',
      '1e9',
      '2026-11-20',
      `2026${'0'.repeat(99)}`,
    ],
    until: ['NaN', "'; --"],
    stream: ['stdin', '../..', '0'],
    search: ['x'.repeat(501), 'a\0b'],
  }
  for (const [field, values] of Object.entries(hostile))
    for (const value of values) {
      const { status, json } = await ada.get(`${output}?${field}=${encodeURIComponent(value)}`)
      expect({ field, value, status }).toEqual({ field, value, status: 422 })
      expect(JSON.stringify(json)).toContain(field)
    }
  for (const search of ["'; DROP TABLE output_blocks--", '%', '_', '\\', '(((((', '<script>'])
    expect((await ada.get(`${output}?search=${encodeURIComponent(search)}`)).status).toBe(200)
})

test('the output of an environment is its owner’s alone', async () => {
  const { t, output } = await aNight()
  const bob = t.logIn('bob@example.com')
  const other = await anEnvironment(t, bob)
  const mixed = output.replace(/projects\/[^/]+/, `projects/${other.projectId}`)
  for (const path of [
    output,
    `${output}/stream`,
    `${output}?limit=x`,
    `${output}?download=1`,
    mixed,
  ])
    expect((await bob.get(path)).status).toBe(404)
  expect((await bob.page(output)).status).toBe(404)
})

test('an environment that has not written anything says so', async () => {
  const { t, ada } = withAda(testApp())
  const { output } = await anEnvironment(t, ada)
  expect((await ada.page(output)).text).toContain('Nothing has been written yet')
  expect((await ada.get(output)).json).toEqual({
    items: [],
    nextCursor: null,
    first: 1,
    last: 0,
    since: null,
    processes: [],
  })
})

test('secrets are masked before anything is stored, also the ones a container still has', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const variable = { key: 'TOKEN', value: 'new-token-value', secret: true }
  await ada.post(`/envs/${environment.id}/variables`, variable)
  collect(t)
  const long = "head -c 16380 /dev/zero | tr '\\0' x"
  await environment.run(
    `echo "old $TOKEN"; echo new-token-value | base64; ${long}; echo "$TOKEN"; echo open`,
    { env: { TOKEN: 'old-token-value', OPEN: 'open' } },
  )
  const lines = await linesUntil(ada, environment.output, hasEnded)
  const stored = JSON.stringify(lines)
  expect(stored).not.toContain('token-value')
  expect(stored).not.toContain(Buffer.from('new-token-value').toString('base64').slice(0, -1))
  expect(written(lines)).toEqual(['old ***', '***==', `${'x'.repeat(16_380)}***`, 'open'])
})

test('what is kept goes with its environment, and nothing comes after', async () => {
  const { t, ada } = withAda(testApp())
  const environment = await anEnvironment(t, ada)
  const { json: second } = await ada.post(`/projects/${environment.projectId}/envs`, {
    name: 'two',
  })
  collect(t)
  await environment.run('while :; do echo one; sleep 0.1; done')
  await linesUntil(ada, environment.output, ({ text }) => text === 'one')
  expect((await ada.delete(environment.path)).status).toBe(200)
  expect((await ada.get(environment.output)).status).toBe(404)
  expect(
    (await ada.get(`/projects/${environment.projectId}/envs/${second.id}/output`)).status,
  ).toBe(200)
  const left = () =>
    t.logDb.$client
      .query(
        'SELECT container_id FROM output_cursors UNION ALL SELECT source_id FROM output_blocks',
      )
      .all()
  expect(left()).toEqual([])
})
