import { expect, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import { EngineError } from '../../src/docker/index.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, labels, name, run } = sandbox()

type Options = Parameters<typeof docker.containerLogs>[1]

const read = async (id: string, options: Options = {}) =>
  (await collect(docker.containerLogs(id, options))).flat()

const texts = async (id: string, options: Options = {}) =>
  (await read(id, options)).map(({ text }) => text)

async function finished(line: string) {
  const id = await run(line)
  await docker.waitForExit(id)
  return id
}

/** Of a kind that Davit makes none of. */
async function foreign(line: string, { Tty = false, driver = 'json-file' } = {}) {
  const HostConfig = { LogConfig: { Type: driver } }
  const Cmd = ['sh', '-c', line]
  const body = { Image: 'busybox:latest', Labels: labels, Tty, Cmd, HostConfig }
  const { Id } = await connectEngine(undefined).request<{ Id: string }>(
    'POST',
    '/containers/create',
    { query: { name: name() }, body },
  )
  await docker.startContainer(Id)
  await docker.waitForExit(Id)
  return Id
}

test('stdout and stderr are distinguished, and pieces joined to lines', async () => {
  const id = await finished('echo out; echo err >&2; printf "a"; sleep 0.1; echo "b"; printf end')
  const lines = await read(id)
  expect(lines.filter((line) => line.stream === 'stdout').map((line) => line.text)).toEqual([
    'out',
    'ab',
    'end',
  ])
  expect(lines.filter((line) => line.stream === 'stderr').map((line) => line.text)).toEqual(['err'])
})

test('a line longer than a frame of the engine is cut at 16 KiB and loses nothing', async () => {
  const id = await finished("head -c 40000 /dev/zero | tr '\\0' x; echo; echo next")
  const lines = await texts(id)
  expect(lines.map((line) => line.length)).toEqual([16_384, 16_384, 7_232, 4])
  expect(lines.slice(0, 3).every((line) => /^x+$/.test(line))).toBe(true)
})

test('each piece of a line of a megabyte has its timestamp', async () => {
  const id = await finished("head -c 1048576 /dev/zero | tr '\\0' x; echo; echo next")
  const lines = await read(id)
  expect(lines).toHaveLength(65)
  expect(lines.every(({ timestamp }) => /^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z$/.test(timestamp))).toBe(
    true,
  )
  expect(lines.slice(0, 64).every(({ text }) => text === 'x'.repeat(16_384))).toBe(true)
})

test('what terminals and programs do to a line leaves it a line', async () => {
  const id = await finished(
    "printf 'a\\377b\\nn\\0ul\\n\\033[31mred\\033[0m\\n10%%\\r20%%\\n\\nend\\r\\n'",
  )
  const expected = ['a\ufffdb', 'n\0ul', '\x1b[31mred\x1b[0m', '20%', '', 'end']
  expect(await texts(id)).toEqual(expected)
})

test('a character that the engine cut in two is whole where its driver kept the bytes', async () => {
  const line = "head -c 16383 /dev/zero | tr '\\0' x; echo 'é|'; echo next"
  const id = await foreign(line, { driver: 'local' })
  expect((await texts(id)).join('')).toBe(`${'x'.repeat(16_383)}é|next`)
})

test('reading goes on from the timestamp of a line, that line included', async () => {
  const id = await finished('for n in 1 2 3 4; do echo $n; sleep 0.02; done')
  const all = await read(id, { tail: 'all' })
  expect(all.map((line) => line.text)).toEqual(['1', '2', '3', '4'])
  expect(Math.abs(Date.now() - Date.parse(all[0]!.timestamp))).toBeLessThan(10_000)
  const since = all[2]!.timestamp
  expect(await read(id, { since })).toEqual(all.slice(2))
  expect(await texts(id, { until: all[1]!.timestamp })).toEqual(['1', '2'])
})

test('only the last lines are given when asked for', async () => {
  const id = await finished('seq 1 100')
  expect(await texts(id, { tail: 2 })).toEqual(['99', '100'])
})

test('following gives lines as they are written, and ends with the container', async () => {
  const id = await run('echo ready; read -t 60 line < /dev/null; sleep 0.3; echo bye')
  const seen: string[] = []
  for await (const lines of docker.containerLogs(id, { follow: true })) {
    if (seen.length === 0) expect((await docker.inspectContainer(id))!.state).toBe('running')
    seen.push(...lines.map(({ text }) => text))
  }
  expect(seen).toEqual(['ready', 'bye'])
})

test('aborting ends the following of a container that is silent', async () => {
  const id = await run('sleep 60')
  const signal = AbortSignal.timeout(100)
  const reading = collect(docker.containerLogs(id, { follow: true, signal }))
  expect(await reading.catch((error) => error.name)).toBe('TimeoutError')
})

test('many lines come in few pieces, in order', async () => {
  const id = await finished('seq 1 20000')
  const pieces = await collect(docker.containerLogs(id))
  expect(pieces.flat().map(({ text }) => Number(text))).toEqual(
    Array.from({ length: 20_000 }, (_, n) => n + 1),
  )
  expect(pieces.length).toBeLessThan(10_000)
})

test('a container with a terminal has no frames', async () => {
  const line = "echo one; echo two >&2; head -c 20000 /dev/zero | tr '\\0' x; echo"
  const id = await foreign(line, { Tty: true })
  const lines = await read(id)
  expect(lines.slice(0, 2).map((line) => line.text)).toEqual(['one', 'two'])
  expect(lines[0]!.timestamp).toMatch(/^\d{4}-.*Z$/)
  const long = lines.slice(2).map((line) => line.text)
  expect(long.join('')).toBe('x'.repeat(20_000))
})

test('a container whose output no one keeps says so', async () => {
  const id = await foreign('echo hi', { driver: 'none' })
  for (const follow of [false, true]) {
    const error = await read(id, { follow }).catch((error) => error)
    expect(error).toMatchObject({
      code: 'logs_unavailable',
      message: 'Docker keeps no log of this container (log driver none).',
    })
  }
})

test('the log of a container that does not exist is refused', async () => {
  expect(await read(name()).catch((error) => error)).toBeInstanceOf(EngineError)
})
