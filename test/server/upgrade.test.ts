import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { lockDataDir } from '../../src/db/instance-lock.ts'
import { closeCleanly } from '../../src/db/wal-guard.ts'
import { layoutIn } from '../../src/server/layout.ts'
import { refuseDuringUpgrade } from '../../src/server/locks.ts'
import { finishing, journalAtRest } from '../../src/server/upgrade/finish.ts'
import { afterStart, afterStop, beforeStart } from '../../src/server/upgrade/hooks.ts'
import { placesOf, readJournal, writeJournal } from '../../src/server/upgrade/journal.ts'
import type { Places, Upgrade } from '../../src/server/upgrade/journal.ts'
import { abandonUpgrade, openUpgrade } from '../../src/server/upgrade/unit.ts'
import { refuseOtherExecutable } from '../../src/server/installed.ts'
import { whyNotBack } from '../../src/server/upgrade/upgrade.ts'

let root: string
let places: Places
let dataDir: string
const signal = new AbortController().signal
const work = { signal, say: () => {} }
const upgrade = (): Upgrade => ({
  ...{ phase: 'swap', from: '1.0.0', to: '2.0.0', dataDir, databases: ['davit.db'] },
  ...{ timeout: 60, backup: '', startedAt: Date.now() },
})

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'davit-upgrade-'))
  const layout = layoutIn(root)
  places = placesOf(layout)
  dataDir = layout.data
  mkdirSync(dirname(places.executable), { recursive: true })
  mkdirSync(dataDir, { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

test('only the installed executable upgrades or moves: it stands for the version that runs', () => {
  const { executable } = places
  writeFileSync(executable, 'old')
  linkSync(executable, join(root, 'same'))
  writeFileSync(join(root, 'other'), 'old')
  for (const does of ['upgrade', 'move']) {
    const by = (own: string) => () => refuseOtherExecutable(places, { own, does })
    by(executable)()
    by(join(root, 'same'))()
    const hint = expect.stringContaining(`${executable} ${does}`)
    expect(by(join(root, 'other'))).toThrow(
      expect.objectContaining({ code: 'not_installed', hint }),
    )
  }
})

test('while an upgrade runs, nothing else changes what is installed', () => {
  const layout = layoutIn(root)
  refuseDuringUpgrade(layout)
  mkdirSync(layout.upgrades, { recursive: true })
  using _hold = lockDataDir(layout.upgrades)
  expect(() => refuseDuringUpgrade(layout)).toThrow('davit upgrade or davit move is running')
})

test('an upgrade that a start is taking up isn’t cleared away under it', async () => {
  const journal = upgrade()
  writeJournal(places, journal)
  const states = ['deactivating', 'activating', 'activating']
  const stateOf = async () => {
    const state = states.shift()
    if (states.length === 0) writeJournal(places, { ...journal, phase: 'trial' })
    return state ?? 'active'
  }
  expect((await journalAtRest(places, stateOf, work))?.phase).toBe('trial')
  writeJournal(places, journal)
  expect((await journalAtRest(places, async () => 'active', work))?.phase).toBe('swap')
})

test.each([
  ['swap', 'It was undone: it hadn’t begun. Davit 1.0.0 is installed.'],
  ['done', 'It was done: Davit 2.0.0 runs.'],
  ['reverted', 'It was undone: it crashed. Davit 1.0.0 is installed.'],
] as const)('one that was interrupted (%s) is the first thing to end', async (phase, words) => {
  const layout = layoutIn(root)
  const none = finishing(layout)
  expect(await none.isDone([])).toBe(true)
  writeJournal(places, { ...upgrade(), phase, ...(phase === 'reverted' && { why: 'it crashed' }) })
  writeFileSync(places.keeper, 'old')
  const step = finishing(layout)
  expect(step.does).toBe('Finish the upgrade from 1.0.0 to 2.0.0, which was interrupted')
  expect(await step.isDone([])).toBe(false)
  const said: string[] = []
  await withSystemctl('echo inactive', () =>
    step.act({ signal, say: (line) => void said.push(line) }),
  )
  expect(said.at(-1)).toBe(words)
  expect([readJournal(places), existsSync(places.keeper)]).toEqual([null, false])
})

/** In place of systemd's. */
async function withSystemctl(script: string, use: () => Promise<void>) {
  writeFileSync(join(root, 'systemctl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const path = process.env.PATH
  process.env.PATH = `${root}:${path}`
  try {
    await use()
  } finally {
    process.env.PATH = path
  }
}

test('an upgrade that is interrupted before it begins leaves nothing that systemd looks for', async () => {
  const log = join(root, 'log')
  await withSystemctl(`echo "$@" >> ${log}`, async () => {
    const interrupted = { ...work, signal: AbortSignal.abort() }
    writeFileSync(places.keeper, 'old')
    writeFileSync(places.draft, 'new')
    await openUpgrade(places, 60, work)
    await abandonUpgrade(places, interrupted)
    expect(readFileSync(log, 'utf8')).toBe('daemon-reload\ndaemon-reload\n')
    for (const file of [places.keeper, places.draft, places.dropIn, dirname(places.dropIn)])
      expect(existsSync(file)).toBe(false)
    await abandonUpgrade(places, interrupted) // nothing to do
    expect(readFileSync(log, 'utf8')).toBe('daemon-reload\ndaemon-reload\n')
  })
})

describe('around a start, while an upgrade is open', () => {
  const executable = () => readFileSync(places.executable, 'utf8')
  const columns = () => {
    const db = openDatabase(join(dataDir, 'davit.db'))
    const found = db.$client.query("SELECT 1 FROM sqlite_schema WHERE name = 'later'").get()
    closeCleanly(db.$client)
    return found ? 'new' : 'old'
  }
  const phase = () => readJournal(places)?.phase
  let hold: ReturnType<typeof lockDataDir> | null

  beforeEach(() => {
    closeCleanly(openDatabase(join(dataDir, 'davit.db')).$client)
    for (const path of [places.executable, places.keeper]) writeFileSync(path, 'old')
    writeFileSync(places.draft, 'new')
    writeJournal(places, upgrade())
    hold = lockDataDir(places.state)
  })
  afterEach(() => hold?.close())

  /** What a new version does at its start. */
  const migrate = () => {
    const db = openDatabase(join(dataDir, 'davit.db'))
    db.$client.run('CREATE TABLE later (id integer)')
    closeCleanly(db.$client)
  }

  test('nothing happens without a journal, or with one that is over', () => {
    writeJournal(places, { ...upgrade(), phase: 'done' })
    beforeStart(places)
    expect([executable(), phase()]).toEqual(['old', 'done'])
  })

  test('the new version is taken, and kept when it responds', async () => {
    beforeStart(places)
    expect([executable(), phase()]).toEqual(['new', 'trial'])
    migrate()
    using server = Bun.serve({ port: 0, fetch: () => new Response('ok') })
    expect(await afterStart(places, { origin: server.url.origin })).toBe(true)
    beforeStart(places)
    expect([executable(), columns(), phase()]).toEqual(['new', 'new', 'done'])
  })

  test('the old version and its database come back when the new one ended', () => {
    beforeStart(places)
    migrate()
    afterStop(places, { SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '7' })
    beforeStart(places)
    expect([executable(), columns(), phase()]).toEqual(['old', 'old', 'reverted'])
    expect(readJournal(places)!.why).toBe('it ended with status 7 at its start')
    expect(existsSync(places.draft)).toBe(false)
  })

  test('what Davit’s user linked in its data directory is never written to', () => {
    beforeStart(places)
    migrate()
    const other = join(root, 'other')
    writeFileSync(other, 'whole')
    const database = join(dataDir, 'davit.db')
    rmSync(database)
    for (const path of [database, `${database}.reverting`]) symlinkSync(other, path)
    afterStop(places, { SERVICE_RESULT: 'exit-code', EXIT_CODE: 'exited', EXIT_STATUS: '7' })
    beforeStart(places)
    expect(readFileSync(other, 'utf8')).toBe('whole')
    expect(lstatSync(database).mode).toBe(0o100600)
    expect([executable(), columns(), phase()]).toEqual(['old', 'old', 'reverted'])
  })

  test('the old version comes back when the new one responds with errors', async () => {
    writeJournal(places, { ...upgrade(), timeout: 1 })
    beforeStart(places)
    using server = Bun.serve({ port: 0, fetch: () => new Response('', { status: 503 }) })
    expect(await afterStart(places, { origin: server.url.origin })).toBe(false)
    beforeStart(places)
    expect([executable(), phase()]).toEqual(['old', 'reverted'])
    expect(readJournal(places)!.why).toContain('status 503')
  })

  test('the old version stays when whoever upgrades is gone', () => {
    hold!.close()
    hold = null
    beforeStart(places)
    expect([executable(), columns(), phase()]).toEqual(['old', 'old', 'reverted'])
  })

  test('the old version stays when its database can’t be copied', () => {
    rmSync(join(dataDir, 'davit.db'))
    beforeStart(places)
    expect([executable(), phase()]).toEqual(['old', 'reverted'])
    expect(readJournal(places)!.why).toContain('the database can’t be copied')
  })

  test('what was interrupted before the swap, or while the old version came back, ends with that one', () => {
    beforeStart(places)
    migrate()
    for (const phase of ['trial', 'revert', 'revert'] as const) {
      writeJournal(places, { ...upgrade(), phase, why: 'it was killed' })
      beforeStart(places)
      expect([executable(), columns(), readJournal(places)!.phase]).toEqual([
        'old',
        'old',
        'reverted',
      ])
    }
  })

  test('a journal that someone has damaged doesn’t keep Davit from starting', () => {
    writeFileSync(join(places.state, 'upgrade.json'), '{"phase": "later"}')
    beforeStart(places)
    expect(executable()).toBe('old')
  })
})

test('an older version is taken only where its file is named and it is forced', () => {
  expect(whyNotBack('0.0.1', { asked: 'davit-0.0.1', force: true })).toBeNull()
  expect(whyNotBack('0.0.1', { asked: 'davit-0.0.1', force: false })?.[1]).toContain('--force')
  for (const force of [true, false])
    expect(whyNotBack('0.0.1', { asked: null, force })).toBeTruthy()
})
