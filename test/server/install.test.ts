import { describe, expect, test } from 'bun:test'
import { chmodSync, linkSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { withRightsOf } from '../../src/platform/effective-user.ts'
import { ownPorts } from '../../src/addresses/host-ports.ts'
import { openPorts, settingsFor } from '../../src/server/install.ts'
import { installSteps } from '../../src/server/install-steps.ts'
import type { InstallPlan } from '../../src/server/install-steps.ts'
import { layoutIn } from '../../src/server/layout.ts'
import { searchPath } from '../../src/server/run.ts'
import { denialIn, startFailure } from '../../src/server/service.ts'
import { stepsLeft, takeSteps } from '../../src/server/steps.ts'
import type { Step } from '../../src/server/steps.ts'
import { runDavit } from '../support/run-davit.ts'
import { aFolder } from '../support/folder.ts'

describe('steps', () => {
  function aServer(failing?: string) {
    const did: string[] = []
    const step = (name: string): Step => ({
      does: name,
      isDone: () => did.includes(name),
      async act() {
        did.push(name)
        if (name === failing) throw new Error(`${name} failed`)
      },
      undo: async () => void did.push(`undo ${name}`),
    })
    return { did, steps: ['one', 'two', 'three'].map(step) }
  }
  const work = () => ({ signal: new AbortController().signal, said: [] as string[] })

  test('are taken in order, and none is left', async () => {
    const { did, steps } = aServer()
    const said: string[] = []
    await takeSteps(steps, { ...work(), say: (line) => void said.push(line) })
    expect(did).toEqual(['one', 'two', 'three'])
    expect(said).toEqual(['[1/3] one', '[2/3] two', '[3/3] three'])
    expect(await stepsLeft(steps)).toEqual([])
  })

  test('that fail are undone in reverse order', async () => {
    const { did, steps } = aServer('two')
    const taken = takeSteps(steps, { ...work(), say: () => {} })
    expect(await taken.catch((error) => error.message)).toBe('two failed')
    expect(did).toEqual(['one', 'two', 'undo two', 'undo one'])
  })

  test('end at an interruption, and are undone', async () => {
    const { did, steps } = aServer()
    const stop = new AbortController()
    const say = (line: string) => line.includes('two') && stop.abort(new Error('Interrupted.'))
    const taken = takeSteps(steps, { signal: stop.signal, say })
    expect(await taken.catch((error) => error.message)).toBe('Interrupted.')
    expect(did).toEqual(['one', 'undo two', 'undo one'])
  })
})

test('what an operator chooses is added to the settings that are there', () => {
  const layout = layoutIn(aFolder())
  mkdirSync(dirname(layout.settings), { recursive: true })
  writeFileSync(layout.settings, 'DAVIT_PORT=4000\nDAVIT_DOMAIN=old.example.com\n')
  const { settings, config } = settingsFor({ domain: 'new.example.com', email: '' }, layout)
  expect(settings).toEqual({ DAVIT_DATA_DIR: layout.data, DAVIT_DOMAIN: 'new.example.com' })
  expect(config).toMatchObject({ port: 4000, domain: 'new.example.com' })
  expect(() => settingsFor({ domain: 'no domain' }, layout)).toThrow(
    'DAVIT_DOMAIN must be a domain',
  )
})

test('a port that nothing could find is refused', () => {
  expect(() => settingsFor({ port: '0' }, layoutIn('/nowhere'))).toThrow(
    /^DAVIT_PORT must be a port from 1 to 65535/,
  )
})

test.skipIf(process.getuid?.() !== 0)(
  'who isn’t root and may not read the settings can look',
  () => {
    const layout = layoutIn(aFolder())
    chmodSync(layout.root, 0o755)
    mkdirSync(dirname(layout.settings), { recursive: true })
    writeFileSync(layout.settings, 'DAVIT_PORT=4000\n', { mode: 0o600 })
    const nobody = { name: 'nobody', uid: 65534, gid: 65534 }
    expect(withRightsOf(nobody, () => settingsFor({}, layout)).config.port).toBe(3000)
    expect(settingsFor({}, layout).config.port).toBe(4000)
  },
)

describe('an executable', () => {
  /** A server with one, and a plan to install another one. */
  function aServer() {
    const layout = layoutIn(aFolder())
    const source = join(layout.root, 'source')
    for (const [path, text] of [
      [source, 'the new one'],
      [layout.executable, 'old'],
    ] as const) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    const service = { isActive: false, isEnabled: false, pid: 0 }
    const found = { git: 'git', hasSsh: true, engine: { state: 'running' }, distribution: {} }
    const machine = { ...found, service } as unknown as InstallPlan['machine']
    const plan = { layout, machine, source, installed: null, settings: {}, origin: '' }
    return { layout, plan, step: installSteps(plan)[4]! }
  }
  const work = { signal: new AbortController().signal, say: () => {} }
  const programs = ({ executable }: { executable: string }) => readdirSync(dirname(executable))

  test('that was replaced is put back, and nothing stays beside it', async () => {
    const { layout, step } = aServer()
    await step.act(work)
    expect(readFileSync(layout.executable, 'utf8')).toBe('the new one')
    writeFileSync(`${layout.executable}.new`, 'a draft')
    await step.undo!(work)
    expect(readFileSync(layout.executable, 'utf8')).toBe('old')
    expect(programs(layout)).toEqual(['davit'])
  })

  test('that wasn’t replaced yet stays, and nothing beside it', async () => {
    const { layout, step } = aServer()
    linkSync(layout.executable, `${layout.executable}.replaced`)
    await step.undo!(work)
    expect(readFileSync(layout.executable, 'utf8')).toBe('old')
    expect(programs(layout)).toEqual(['davit'])
  })

  test('that was in use is upgraded by itself, also while it is stopped', async () => {
    const { layout, plan } = aServer()
    const does = (installed: string | null) => installSteps({ ...plan, installed })[4]!.does
    expect(does('0.0.9')).toStartWith('Replace')
    for (const path of [layout.settings, layout.unit, join(layout.data, 'davit.db')]) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, '')
    }
    expect(does('0.0.9')).toStartWith('Upgrade Davit 0.0.9 to')
    expect(does(null)).toStartWith('Replace')
  })

  test('that an upgrade started has to be started at boot too', async () => {
    const { plan } = aServer()
    const isStarted = (isEnabled: boolean) => {
      const service = { isActive: false, isEnabled, pid: 0 }
      const steps = installSteps({ ...plan, machine: { ...plan.machine, service } })
      return steps.at(-1)!.isDone([{ ...steps[4]!, restarts: true }])
    }
    expect(await isStarted(true)).toBe(true)
    expect(await isStarted(false)).toBe(false)
  })
})

test('the ports that must be open are named, and how to open them', () => {
  const config = (env: Record<string, string>) => parseConfig({ DAVIT_DATA_DIR: '/x', ...env })
  const local = config({})
  expect(ownPorts(local)).toEqual([3000])
  expect(openPorts(local, 'ufw')).toEqual([])
  const domain = config({ DAVIT_DOMAIN: 'davit.example.com' })
  expect(ownPorts(domain)).toEqual([3000, 80, 443])
  expect(openPorts(domain, 'ufw')[0]).toContain('ufw allow 80/tcp && ufw allow 443/tcp')
  expect(openPorts(domain, null)[0]).toEndWith('80/tcp, 443/tcp, here and at your provider.')
  const open = config({ DAVIT_HOST: '0.0.0.0', DAVIT_PORT: '4000' })
  expect(openPorts(open, 'firewalld')[0]).toContain('--add-port=4000/tcp')
  expect(ownPorts(config({ DAVIT_DOMAIN: 'a.example', DAVIT_EDGE: 'direct' }))).toEqual([3000])
})

describe('a start that fails', () => {
  test('is explained by what Davit said last', () => {
    const lines = ['Started', 'davit: DAVIT_PORT must be a port', 'davit.service: Failed']
    expect(startFailure(lines, null).message).toBe('Davit didn’t start: DAVIT_PORT must be a port')
    expect(startFailure([], null).message).toBe('Davit didn’t start: it wrote nothing')
  })

  test.each([
    [
      'audit: type=1400 apparmor="DENIED" operation="exec" profile="x" name="/usr/local/bin/davit"',
      'AppArmor',
    ],
    ['avc:  denied  { execute } for  pid=1 comm="(davit)" path="/usr/local/bin/davit"', 'SELinux'],
  ])('is explained by what the kernel refused: %s', (line, by) => {
    const denial = denialIn(['something else', line])
    expect(denial).toMatchObject({ by })
    expect(startFailure([], denial)).toMatchObject({
      message: expect.stringContaining(`${by} didn’t let Davit start`),
      hint: expect.stringContaining('run davit install again'),
    })
    expect(denialIn(['apparmor="DENIED" profile="firefox"'])).toBeNull()
  })
})

test.each([undefined, '', ':', '.:bin', '/opt/bin:', ':/opt/bin'])(
  'a PATH like %p has no program run from the current folder',
  (path) => {
    for (const folder of searchPath(path).split(':')) expect(folder).toStartWith('/')
    expect(searchPath(path).startsWith('/opt/bin:')).toBe(!!path?.includes('/opt/bin'))
  },
)

test('only the executable can be installed', async () => {
  const { status, stderr } = await runDavit(['install', '--dry-run'])
  expect(status).toBe(1)
  expect(stderr).toContain('npm run install:server')
})

test('an unknown option is refused', async () => {
  const { status, stderr } = await runDavit(['install', '--force'])
  expect(status).toBe(2)
  expect(stderr).toContain('usage: davit install')
})
