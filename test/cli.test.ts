import { expect, onTestFinished, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../src/db/index.ts'
import { openInstallation } from '../src/db/installation.ts'
import { markInUse } from '../src/db/wal-guard.ts'
import { Secrets } from '../src/platform/secrets.ts'
import { startDavit } from './support/davit.ts'
import { runDavit } from './support/run-davit.ts'

function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-cli-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const run = (env: Record<string, string>, args = ['serve']) => runDavit(args, { env })

test('what keeps it from starting is one line, and a status other than 0', async () => {
  const directory = aDirectory()
  const inside = (name: string) => join(directory, name)
  writeFileSync(inside('file'), '')

  const sealed = inside('sealed')
  await Bun.write(join(sealed, 'secret.key'), 'x'.repeat(43))
  const db = openDatabase(join(sealed, 'davit.db'))
  openInstallation(db, new Secrets('y'.repeat(43)))
  db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.$client.close()

  await Bun.write(join(inside('damaged'), 'davit.db'), 'this is no database')
  await Bun.write(join(inside('damaged'), 'secret.key'), 'x'.repeat(43))

  const keyless = inside('keyless')
  cpSync(sealed, keyless, { recursive: true })
  rmSync(join(keyless, 'secret.key'))

  const lost = inside('lost')
  cpSync(sealed, lost, { recursive: true })
  rmSync(join(lost, 'davit.db-wal'), { force: true })
  markInUse(join(lost, 'davit.db'))

  const newer = inside('newer')
  await Bun.write(join(newer, 'secret.key'), 'x'.repeat(43))
  const ahead = openDatabase(join(newer, 'davit.db'))
  ahead.$client.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9e15)")
  ahead.$client.close()

  using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const cases: [Record<string, string>, RegExp, number][] = [
    [{ DAVIT_DATA_DIR: inside('file/below') }, /data directory .* can’t be used/, 1],
    [{ DAVIT_DATA_DIR: sealed }, /sealed under another key/, 1],
    [{ DAVIT_DATA_DIR: inside('damaged') }, /davit\.db is damaged/, 1],
    [{ DAVIT_DATA_DIR: keyless }, /secret\.key is missing/, 1],
    [{ DAVIT_DATA_DIR: lost }, /davit\.db-wal, which holds the latest writes, is missing/, 1],
    [{ DAVIT_DATA_DIR: newer }, /newer version/, 1],
    [
      { DAVIT_DATA_DIR: inside('a'), DAVIT_PORT: String(listener.port) },
      /can’t listen on 127\.0\.0\.1 port/,
      1,
    ],
    [
      { DAVIT_DATA_DIR: inside('b'), DAVIT_HOST: '203.0.113.1' },
      /can’t listen on 203\.0\.113\.1/,
      1,
    ],
    [{ DAVIT_DATA_DIR: inside('c'), DAVIT_PORT: 'http' }, /^davit: DAVIT_PORT must be a port/, 2],
  ]
  const answers = await Promise.all(cases.map(([env]) => run(env)))
  for (const [i, { status, stdout, stderr }] of answers.entries()) {
    const [, words, wanted] = cases[i]!
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n'), stderr).toHaveLength(1)
    expect(stderr).toStartWith('davit: ')
    expect(status, stderr).toBe(wanted)
    expect(stdout).toBe('')
  }
})

test('a second one on the same data directory is refused, and the first goes on', async () => {
  const directory = aDirectory()
  const env = { DAVIT_DATA_DIR: join(directory, 'data') }
  const first = await startDavit({ directory, env })
  expect(await run(env)).toMatchObject({ status: 1, stderr: expect.stringContaining('in use') })
  expect((await fetch(`${first.url}/health`)).status).toBe(200)
  expect(await first.stop()).toBe(0)
})

test('it shows its version and how to use it, and refuses what it does not know', async () => {
  const [version, help, unknown, surplus] = await Promise.all([
    run({}, ['--version']),
    run({}, ['--help']),
    run({}, ['launch']),
    run({}, ['serve', 'now']),
  ])
  expect(version).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: davit') })
  for (const { status, stderr } of [unknown, surplus]) {
    expect(status).toBe(2)
    expect(stderr).toStartWith('davit: there is no command')
  }
})

test('a name that looks like a setting and is none is mentioned', async () => {
  const directory = aDirectory()
  const davit = await startDavit({
    directory,
    env: { DAVIT_DATA_DIR: join(directory, 'data'), DAVIT_PROT: '1' },
  })
  expect(await davit.stop()).toBe(0)
  const log = await Bun.file(join(directory, 'davit.log')).text()
  expect(log).toContain('DAVIT_PROT isn’t a setting of this version')
})

test('a stop lets connections that idle go at once', async () => {
  const directory = aDirectory()
  const davit = await startDavit({ directory, env: { DAVIT_DATA_DIR: join(directory, 'data') } })
  const idle = await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(davit.url).port),
    socket: { open: (s) => void s.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'), data() {} },
  })
  expect((await fetch(new URL('/health/ready', davit.url))).status).toBe(200)
  const startedAt = performance.now()
  expect(await davit.stop()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(5000)
  idle.terminate()
})
