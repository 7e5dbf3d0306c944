import { afterEach, expect, test } from 'bun:test'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PipedOptions } from '../../src/docker/piped.ts'
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
