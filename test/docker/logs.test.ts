import { expect, test } from 'bun:test'
import { connectEngine } from '../../src/docker/engine.ts'
import { EngineError } from '../../src/docker/index.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, labels, name, run } = sandbox()

async function finished(line: string) {
  const id = await run(line)
  await docker.waitForExit(id)
  return id
}

test('stdout and stderr are told apart, and pieces joined to lines', async () => {
  const id = await finished('echo out; echo err >&2; printf "a"; sleep 0.1; echo "b"; printf end')
  const lines = await collect(docker.containerLogs(id))
  expect(lines.filter((line) => line.stream === 'stdout').map((line) => line.text)).toEqual([
    'out',
    'ab',
    'end',
  ])
  expect(lines.filter((line) => line.stream === 'stderr').map((line) => line.text)).toEqual(['err'])
  expect(lines[0]!.time).toBeNull()
})

test('a line longer than a frame of the engine is cut at 16 KiB and loses nothing', async () => {
  const id = await finished("head -c 40000 /dev/zero | tr '\\0' x; echo; echo next")
  for (const timestamps of [false, true]) {
    const lines = await collect(docker.containerLogs(id, { timestamps }))
    expect(lines.map((line) => line.text.length)).toEqual([16_384, 16_384, 7_232, 4])
    expect(lines.slice(0, 3).every((line) => /^x+$/.test(line.text))).toBe(true)
  }
})

test('bytes that are not UTF-8 are replaced', async () => {
  const id = await finished("printf 'a\\377b\\n'")
  expect((await collect(docker.containerLogs(id)))[0]!.text).toBe('a\ufffdb')
})

test('reading goes on from the timestamp of a line, that line included', async () => {
  const id = await finished('for n in 1 2 3 4; do echo $n; sleep 0.02; done')
  const all = await collect(docker.containerLogs(id, { timestamps: true }))
  expect(all.map((line) => line.text)).toEqual(['1', '2', '3', '4'])
  expect(Math.abs(Date.now() - all[0]!.time!.getTime())).toBeLessThan(10_000)
  const since = all[2]!.timestamp!
  const rest = await collect(docker.containerLogs(id, { since, timestamps: true }))
  expect(rest).toEqual(all.slice(2))
})

test('only the last lines are given when asked for', async () => {
  const id = await finished('seq 1 100')
  const lines = await collect(docker.containerLogs(id, { tail: 2 }))
  expect(lines.map((line) => line.text)).toEqual(['99', '100'])
})

test('following gives lines as they are written, and ends with the container', async () => {
  const id = await run('echo ready; read -t 60 line < /dev/null; sleep 0.3; echo bye')
  const seen: string[] = []
  for await (const { text } of docker.containerLogs(id, { follow: true })) {
    if (seen.length === 0) expect((await docker.inspectContainer(id))!.state).toBe('running')
    seen.push(text)
  }
  expect(seen).toEqual(['ready', 'bye'])
})

test('aborting ends the following of a container that is silent', async () => {
  const id = await run('sleep 60')
  const signal = AbortSignal.timeout(100)
  const reading = collect(docker.containerLogs(id, { follow: true, signal }))
  expect(await reading.catch((error) => error.name)).toBe('TimeoutError')
})

test('a container with a terminal has no frames', async () => {
  const engine = connectEngine(undefined)
  const { Id } = await engine.request<{ Id: string }>('POST', '/containers/create', {
    query: { name: name() },
    body: {
      Image: 'busybox:latest',
      Tty: true,
      Labels: labels,
      Cmd: ['sh', '-c', "echo one; echo two >&2; head -c 20000 /dev/zero | tr '\\0' x; echo"],
    },
  })
  await docker.startContainer(Id)
  await docker.waitForExit(Id)
  const lines = await collect(docker.containerLogs(Id, { timestamps: true }))
  expect(lines.slice(0, 2).map((line) => line.text)).toEqual(['one', 'two'])
  expect(lines[0]!.timestamp).toMatch(/^\d{4}-.*Z$/)
  const long = lines.slice(2).map((line) => line.text)
  expect(long.join('')).toBe('x'.repeat(20_000))
})

test('the log of a container that does not exist is refused', async () => {
  const reading = collect(docker.containerLogs(name()))
  expect(await reading.catch((error) => error)).toBeInstanceOf(EngineError)
})
