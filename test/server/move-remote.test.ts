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
import { holdInstallation } from '../../src/server/locks.ts'
import { writeMove } from '../../src/server/move/journal.ts'
import { lineOf, messagesIn } from '../../src/server/move/messages.ts'
import type { Needs } from '../../src/server/move/messages.ts'
import { take } from '../../src/server/move/arrive.ts'
import { receiveMove } from '../../src/server/move/receive.ts'
import { connectRemote, sendThere } from '../../src/server/move/remote.ts'

let root: string
let layout: Layout
const signal = new AbortController().signal
const needs: Needs = {
  ...{ host: 'new', version, arch: process.arch, instanceId: 'one', ports: [80], files: [] },
  ...{ userNamespace: null, hasContainerdStore: false, repository: null },
  ...{ volumes: 0, data: 0, images: [] },
}
const look = { ask: 'look' as const, needs }

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'davit-move-'))
  layout = layoutIn(root)
})
afterEach(() => rmSync(root, { recursive: true }))

async function* pieces(...all: Uint8Array[]) {
  yield* all
}

const text = (line: string) => pieces(Buffer.from(line))

/** What is replied to these lines, in order. */
async function replies(...lines: Uint8Array[]) {
  const said: Uint8Array[] = []
  await receiveMove({ layout, signal, input: pieces(...lines), write: (line) => said.push(line) })
  return Array.fromAsync(messagesIn(pieces(...said)))
}

describe('what two servers say to each other', () => {
  test('arrives however it is cut, and as long as it is', async () => {
    const long = { say: 'ships'.repeat(120_000) }
    const bytes = Buffer.concat([lineOf({ done: {} }), lineOf(long)])
    const parts = [3, 400, 300_000].map((at, n, all) => bytes.subarray(all[n - 1] ?? 0, at))
    const messages = await Array.fromAsync(messagesIn(pieces(...parts, bytes.subarray(300_000))))
    expect(messages).toEqual([{ done: {} }, long])
  })

  test.each([
    ['greets', 'Welcome to Ubuntu\n', 'it starts with “Welcome to Ubuntu”'],
    ['orders a terminal', '\u001b]0;mine\u0007\n', 'it starts with “�]0;mine�”'],
    ['sends a line that doesn’t end', `"${'x'.repeat(5 * 2 ** 20)}`, 'doesn’t speak as davit move'],
  ])('is refused when the other side %s', async (_, said, why) => {
    await expect(Array.fromAsync(messagesIn(text(said)))).rejects.toThrow(why)
  })

  test('is nothing when it is cut', async () => {
    expect(await Array.fromAsync(messagesIn(text('{"ask":"halt"')))).toEqual([])
  })

  test.each([
    { ask: 'images', images: [] },
    { ask: 'fill', volumes: [], passphrase: 'x' },
    { ask: 'start', expected: [], before: [] },
    { ask: 'keep', isFinal: true },
    { ask: 'run', command: 'ls' },
    { ask: 'constructor' },
  ] as object[])('changes nothing before a move has begun: %j', async (asked) => {
    const [reply] = await replies(Buffer.from(`${JSON.stringify(asked)}\n`))
    expect(reply).toMatchObject({ failed: { code: 'move_protocol' } })
    expect(existsSync(layout.moves)).toBe(false)
  })

  test('images and data are only taken while a move is open', async () => {
    const takes = (what: string) => take(layout, { what, input: text('x'), signal })
    mkdirSync(layout.upgrades, { recursive: true })
    const journal = { moveId: 'm', from: 'old', at: 0, instanceId: 'i', settings: '' }
    const received = { ...journal, repository: 'r' }
    writeMove(layout, 'received', { ...received, phase: 'receiving' })
    await expect(takes('data')).rejects.toMatchObject({ code: 'move_protocol' })
    const hold = holdInstallation(layout)
    writeMove(layout, 'received', { ...received, phase: 'copy' })
    await expect(takes('data')).rejects.toMatchObject({ code: 'move_protocol' })
    writeMove(layout, 'received', { ...received, phase: 'receiving' })
    await expect(takes('passwd')).rejects.toMatchObject({ code: 'move_protocol' })
    await takes('data')
    expect(readFileSync(join(layout.moves, 'arriving.backup'), 'utf8')).toBe('x')
    hold.close()
  })
})

test('a word that only says that the old server is there has no reply', async () => {
  const said = await replies(lineOf({}), lineOf(look), lineOf({}))
  expect(said).toMatchObject([{ done: { findings: [{ what: 'Davit', blocks: true }] } }])
})

describe('the other server', () => {
  const path = process.env.PATH
  afterEach(() => void (process.env.PATH = path))
  const destination = { host: 'root@new', port: '2222', identity: '/root/key' }

  /** An ssh that is this script. */
  function withSsh(script: string) {
    const ssh = join(root, 'bin/ssh')
    mkdirSync(dirname(ssh))
    writeFileSync(ssh, `#!/bin/sh\n${script}\n`)
    chmodSync(ssh, 0o755)
    process.env.PATH = `${dirname(ssh)}:${path}`
  }

  function connected(script: string) {
    withSsh(script)
    return connectRemote(destination, '/usr/local/bin/davit', signal)
  }

  test('is asked through ssh, with a list of arguments and no questions', async () => {
    const main = join(import.meta.dir, '../../src/main.ts')
    const args = join(root, 'args')
    const remote = connected(`echo "$@" > ${args}; exec ${process.execPath} ${main} receive`)
    expect(await remote.ask(look)).toMatchObject({ missing: [] })
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
    ['echo "ssh: connect to host new: No route" >&2; exit 255', 'new broke: ssh: connect to host'],
    ['echo Welcome to this server; sleep 9', 'it starts with “Welcome to this server”'],
    ['exit 0', 'davit receive on root@new ended'],
  ])('that can’t be asked (%s) is explained', async (script, why) => {
    const remote = connected(script)
    await expect(remote.ask(look)).rejects.toThrow(why)
    await remote.close()
  })

  test('that refuses what is sent is heard before all of it was sent', async () => {
    withSsh('head -c 100 > /dev/null; echo "davit: It is full." >&2; exit 1')
    async function* endless() {
      for (;;) yield Buffer.alloc(65_536)
    }
    const sending = { destination, executable: 'davit', what: 'image' as const, signal }
    await expect(sendThere({ ...sending, source: endless(), onBytes: () => {} })).rejects.toThrow(
      'It is full.',
    )
  })

  test('says what it does meanwhile, without orders to a terminal', async () => {
    const remote = connected(
      `echo '{"say":"half \\u001b[2J"}'; echo '{}'; echo '{"done":{"phase":"copy"}}'; sleep 1`,
    )
    const said: string[] = []
    const reply = await remote.ask({ ask: 'state', moveId: 'm' }, (line) => said.push(line))
    expect([reply, said]).toEqual([{ phase: 'copy' }, ['    half �[2J']])
    await remote.close()
  })
})
