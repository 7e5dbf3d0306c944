import { afterEach, describe, expect, test } from 'bun:test'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PipedOptions } from '../../src/docker/piped.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { sandbox } from './sandbox.ts'

const { docker, labels, name, options } = sandbox()

const piped = (line: string, how: Partial<PipedOptions> = {}) =>
  docker.runPiped({ ...options(), command: ['sh', '-c', line], ...how })

/** The last part of a script whose output is marked. */
const marked = ' && printf %s "$DAVIT_END" && read -r _; :'

const write = (to: Writable, bytes: Uint8Array | string) =>
  new Promise<void>((done, failed) => to.write(bytes, (error) => (error ? failed(error) : done())))

async function count(from: AsyncIterable<Uint8Array>) {
  let bytes = 0
  for await (const chunk of from) bytes += chunk.length
  return bytes
}

afterEach(async () => {
  expect(
    await docker.listContainers({ labels: [`test.sandbox=${labels['test.sandbox']}`] }),
  ).toEqual([])
})

test('input, output, errors and the exit code of a container are those of its process', async () => {
  const read: Uint8Array[] = []
  const result = await piped('cat; echo problem >&2; exit 3', {
    stdin: (to) => write(to, 'größe'),
    async stdout(from) {
      for await (const chunk of from) read.push(chunk)
    },
  })
  expect(result).toEqual({ exitCode: 3, oomKilled: false, stderr: 'problem\n' })
  expect(Buffer.concat(read).toString()).toBe('größe')
  // without input there is its end, and output that nobody reads doesn't block it
  expect(await piped('wc -c >&2; yes | head -c 2000000')).toMatchObject({ stderr: '0\n' })
})

test('what is read slowly is read whole, and what is written waits for its reader', async () => {
  let bytes = 0
  await piped(`head -c 3000000 /dev/zero${marked}`, {
    isMarked: true,
    async stdout(from) {
      await sleep(3000) // longer than the engine keeps what is unread
      bytes = await count(from)
    },
  })
  expect(bytes).toBe(3_000_000)
  const chunk = Buffer.alloc(2 ** 20)
  let sent = 0
  let peak = 0
  const started = process.memoryUsage.rss()
  const { stderr } = await piped('sleep 1; wc -c >&2', {
    async stdin(to) {
      for (; sent < 64; sent++) {
        await write(to, chunk)
        peak = Math.max(peak, process.memoryUsage.rss() - started)
      }
    },
  })
  expect(stderr).toBe(`${64 * 2 ** 20}\n`)
  expect(peak).toBeLessThan(40 * 2 ** 20)
})

test('chunks that wait in a stream are all written', async () => {
  const { stderr } = await piped('wc -c >&2', {
    async stdin(to) {
      await pipeline(
        Array.from({ length: 5000 }, () => Buffer.alloc(3000)),
        to,
      )
    },
  })
  expect(stderr).toBe(`${5000 * 3000}\n`)
})

test('what one process writes to another arrives whole, and its memory is freed at once', async () => {
  const passed: Uint8Array[] = []
  let sent = ''
  const script = `head -c 8000000 /dev/urandom >/tmp/sent; sha256sum </tmp/sent >&2; cat /tmp/sent${marked}`
  const { stderr } = await piped('sha256sum >&2', {
    async stdin(to) {
      const from = await piped(script, {
        isMarked: true,
        async stdout(from) {
          for await (const chunk of from) {
            passed.push(chunk)
            await write(to, chunk)
          }
        },
      })
      sent = from.stderr
    },
  })
  expect(stderr).toBe(sent)
  expect(passed.filter(({ length }) => length > 4096)).toEqual([])
})

test('an output without its mark was cut, also with exit code 0', async () => {
  const stdout = async (from: AsyncIterable<Uint8Array>) => void (await count(from))
  expect(piped('echo data', { isMarked: true, stdout })).rejects.toMatchObject({
    code: 'cut_short',
  })
  // the process tells why it failed
  const failed = await piped(`echo data; (echo why >&2; exit 5)${marked.replace('; :', '')}`, {
    isMarked: true,
    stdout,
  })
  expect(failed).toMatchObject({ exitCode: 5, stderr: 'why\n' })
})

test('an error of one who reads or writes ends the process, which doesn’t take it for the end', async () => {
  const mine = new Error('mine')
  const failing = async () => {
    throw mine
  }
  expect(piped('cat; touch /tmp/complete', { stdin: failing })).rejects.toBe(mine)
  expect(piped('yes', { stdout: failing })).rejects.toBe(mine)
  const volumes = [{ name: name(), path: '/data' }]
  await docker.createVolume({ name: volumes[0]!.name, labels })
  const stored = piped('cat >/dev/null; touch /data/complete', { volumes, stdin: failing })
  expect(stored).rejects.toBe(mine)
  await Promise.allSettled([stored])
  expect(await piped('ls /data >&2', { volumes })).toMatchObject({ stderr: '' })
  const abort = new AbortController()
  const waiting = piped('echo up; sleep 100', {
    signal: abort.signal,
    async stdout(from) {
      for await (const _ of from) abort.abort(mine)
    },
  })
  expect(waiting).rejects.toBe(mine)
  await Promise.allSettled([waiting])
  // one that ends before its input is judged by its exit code
  const endless = async (to: Writable) => {
    for (;;) await write(to, Buffer.alloc(65_536))
  }
  expect(await piped('head -c 10 >/dev/null; exit 4', { stdin: endless })).toMatchObject({
    exitCode: 4,
  })
})

describe('a command in a container that runs', () => {
  const kept = async () => {
    const id = await docker.createContainer({ ...options(), command: ['sleep', '60'], init: true })
    await docker.startContainer(id)
    const kill = () => docker.removeContainer(id, { force: true, volumes: true })
    const exec = (line: string, how: Partial<Parameters<typeof docker.execPiped>[1]> = {}) =>
      docker.execPiped(id, { command: ['sh', '-c', line], kill, ...how })
    return { id, exec, [Symbol.asyncDispose]: async () => void (await kill()) }
  }

  test('has input, output, errors, variables and an exit code of its own', async () => {
    await using container = await kept()
    const { exec } = container
    let text = ''
    const result = await exec(`cat; echo "$NAME" >&2; exit 3`, {
      env: { NAME: 'größe' },
      stdin: (to) => write(to, 'all of it'),
      async stdout(from) {
        for await (const chunk of from) text += Buffer.from(chunk).toString()
      },
    })
    expect([text, result]).toEqual([
      'all of it',
      { exitCode: 3, oomKilled: false, stderr: 'größe\n' },
    ])
    expect(await exec('wc -c >&2; yes | head -c 2000000')).toMatchObject({ stderr: '0\n' })
    // one that ends before its input, and one that isn't there
    const early = exec('exit 4', { stdin: (to) => write(to, Buffer.alloc(5_000_000)) })
    expect(await early.then(({ exitCode }) => exitCode, String)).toBe(4)
    expect((await exec('nothing-like-it')).exitCode).toBe(127)
  })

  test('is read whole however slowly, and ends with its container when reading fails', async () => {
    await using container = await kept()
    const { id, exec } = container
    let bytes = 0
    await exec(`head -c 3000000 /dev/zero${marked}`, {
      isMarked: true,
      async stdout(from) {
        await sleep(3000) // longer than the engine keeps what is unread
        bytes = await count(from)
      },
    })
    expect(bytes).toBe(3_000_000)
    const mine = new Error('mine')
    const failing = exec('yes', {
      async stdout() {
        throw mine
      },
    })
    expect(await failing.catch((error) => error)).toBe(mine)
    expect(await docker.inspectContainer(id)).toBeNull()
    expect(await exec('true').catch((error) => error.code)).toBe('cut_short')
  })

  test('an abort ends it before its input ends', async () => {
    await using container = await kept()
    const { id, exec } = container
    const stop = new AbortController()
    const running = exec('cat >/dev/null', {
      signal: stop.signal,
      stdin: async (to, signal) => {
        await write(to, 'half')
        stop.abort(new Error('enough'))
        await unlessAborted(new Promise<never>(() => {}), signal)
      },
    })
    expect(await running.catch((error) => error.message)).toBe('enough')
    expect(await docker.inspectContainer(id)).toBeNull()
  })
})
