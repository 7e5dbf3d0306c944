import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { version } from '../../src/platform/root.ts'
import { layoutIn } from '../../src/server/layout.ts'
import type { Layout } from '../../src/server/layout.ts'
import { dataFrames, FrameReader, messageFrame, notExpected } from '../../src/server/move/frames.ts'
import { readRequest } from '../../src/server/move/messages.ts'
import { receiveMove } from '../../src/server/move/receive.ts'
import { connectRemote } from '../../src/server/move/remote.ts'

let root: string
let layout: Layout
const signal = new AbortController().signal
const look = { ask: 'look' as const, ports: [80], instanceId: 'one', files: [] }

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'davit-move-'))
  layout = layoutIn(root)
})
afterEach(() => rmSync(root, { recursive: true }))

async function* pieces(...all: Uint8Array[]) {
  yield* all
}

describe('what two servers say to each other', () => {
  test('arrives however it is cut, and as long as it is', async () => {
    const long = Buffer.alloc(600_000, 'ships')
    const bytes = Buffer.concat([messageFrame({ ask: 'start' }), ...dataFrames(long)])
    const parts = [3, 400, 300_000].map((at, n, all) => bytes.subarray(all[n - 1] ?? 0, at))
    const frames = new FrameReader(pieces(...parts, bytes.subarray(300_000)))
    expect(await frames.message()).toEqual({ ask: 'start' })
    const arrived: Buffer[] = []
    while (Buffer.concat(arrived).length < long.length) {
      const frame = await frames.next()
      if ('data' in frame) arrived.push(frame.data)
    }
    expect(Buffer.concat(arrived).equals(long)).toBe(true)
    await expect(frames.next()).rejects.toThrow('The connection ended')
  })

  test.each([
    ['greets', Buffer.from('Welcome to Ubuntu'), 'it starts with “Welco”'],
    ['claims a gigabyte', Buffer.from([2, 64, 0, 0, 0]), 'doesn’t speak as davit move does'],
    ['claims a long message', Buffer.from([1, 0, 255, 255, 255]), 'doesn’t speak as davit move'],
    ['sends no JSON', Buffer.from([1, 0, 0, 0, 2, 123, 123]), notExpected().message],
    ['is cut', messageFrame({ ask: 'start' }).subarray(0, 9), 'The connection ended'],
  ])('is refused when the other side %s', async (_, bytes, why) => {
    await expect(new FrameReader(pieces(bytes)).next()).rejects.toThrow(why)
  })

  test.each([
    [{ ask: 'volume', name: '../../etc', labels: {} }],
    [{ ask: 'volume', name: '--help', labels: {} }],
    [{ ask: 'begin', moveId: 'a', instanceId: 'b', from: 'c', settings: { DAVIT_URL: 'x\nA=b' } }],
    [{ ask: 'begin', moveId: 'a', instanceId: 'b', from: 'c', settings: { LD_PRELOAD: '/x' } }],
    [{ ask: 'has', images: ['postgres'] }],
    [{ ask: 'sum', bytes: -1, sha256: 'a'.repeat(64) }],
    [{ ask: 'run', command: 'ls' }],
    [null],
  ])('is refused when it asks %j', (asked) => {
    expect(() => readRequest(asked)).toThrow(notExpected().message)
  })

  test.each([
    [{ ask: 'image' }],
    [{ ask: 'volume', name: 'ships', labels: {} }],
    [{ ask: 'backup', passphrase: 'x' }],
    [{ ask: 'start' }],
    [{ ask: 'keep', isFinal: true }],
    [{ ask: 'sum', bytes: 0, sha256: 'a'.repeat(64) }],
  ])('changes nothing before a move has begun: %j', async (asked) => {
    const said: Uint8Array[] = []
    const input = pieces(messageFrame(asked), ...dataFrames(Buffer.from('data')))
    await receiveMove({ layout, signal, input, write: (frame) => said.push(frame) })
    const reply = await new FrameReader(pieces(...said)).message()
    expect(reply).toMatchObject({ failed: { code: 'move_protocol' } })
    expect(existsSync(layout.moves)).toBe(false)
  })
})

test('a word that only says that the old server is there has no reply', async () => {
  const said: Uint8Array[] = []
  const input = pieces(
    ...[{ ask: 'alive' }, look, { ask: 'alive' }, { ask: 'start' }].map(messageFrame),
  )
  await receiveMove({ layout, signal, input, write: (frame) => said.push(frame) })
  const replies = new FrameReader(pieces(...said))
  expect(await replies.message()).toMatchObject({ done: { version } })
  expect(await replies.message()).toMatchObject({ failed: { code: 'move_protocol' } })
  await expect(replies.next()).rejects.toThrow('The connection ended')
})

describe('the other server', () => {
  const path = process.env.PATH
  afterEach(() => void (process.env.PATH = path))

  /** A connection whose ssh is this script. */
  function connected(script: string) {
    const ssh = join(root, 'bin/ssh')
    mkdirSync(dirname(ssh))
    writeFileSync(ssh, `#!/bin/sh\n${script}\n`)
    chmodSync(ssh, 0o755)
    process.env.PATH = `${dirname(ssh)}:${path}`
    const destination = { host: 'root@new', port: '2222', identity: '/root/key' }
    return connectRemote(destination, '/usr/local/bin/davit', signal)
  }

  test('is asked through ssh, with a list of arguments and no questions', async () => {
    const main = join(import.meta.dir, '../../src/main.ts')
    const args = join(root, 'args')
    const remote = connected(`echo "$@" > ${args}; exec ${process.execPath} ${main} receive`)
    expect(await remote.ask(look)).toMatchObject({ version, arch: process.arch })
    await remote.close()
    expect(readFileSync(args, 'utf8')).toMatch(
      /-o BatchMode=yes .*-p 2222 -i \/root\/key -- root@new \/usr\/local\/bin\/davit receive\n$/,
    )
    expect(readFileSync(args, 'utf8')).not.toMatch(/StrictHostKey|KnownHosts/i)
  })

  test.each([
    ['echo "Host key verification failed." >&2; exit 255', 'doesn’t know the host key of root@new'],
    ['echo "root@new: Permission denied (publickey)." >&2; exit 255', 'didn’t accept the login'],
    ['echo "sh: 1: /usr/local/bin/davit: not found" >&2; exit 127', 'Davit isn’t installed on'],
    ['echo "davit: there is no command receive." >&2; exit 2', 'is older than this one'],
    ['echo "ssh: connect to host new: No route" >&2; exit 255', 'new broke: ssh: connect to host'],
    ['echo Welcome to this server', 'it starts with “Welco”'],
    ['exit 0', 'davit receive on root@new ended'],
  ])('that can’t be asked (%s) is explained', async (script, why) => {
    const remote = connected(script)
    await expect(remote.ask(look)).rejects.toThrow(why)
    await remote.close()
  })

  test('that refuses what is sent is heard before all of it was sent', async () => {
    const reply = messageFrame({ failed: { code: 'x', message: 'It is full.', hint: 'Empty it.' } })
    writeFileSync(join(root, 'reply'), reply)
    const remote = connected(`head -c 100 > /dev/null; cat ${root}/reply; exec sleep 2`)
    async function* endless() {
      for (;;) yield Buffer.alloc(65_536)
    }
    const sending = remote.send({ ask: 'image' }, endless(), () => {})
    await expect(sending).rejects.toThrow('It is full.')
    await remote.close()
  })
})
