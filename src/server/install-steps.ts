import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { oldestApi } from '../doctor/engine.ts'
import { sync, writeFileAtomically } from '../platform/atomic-write.ts'
import { Failure } from '../platform/errors.ts'
import { version } from '../platform/root.ts'
import { createUser, hasUser, mayUseDocker, systemUser } from './accounts.ts'
import { settingsIn, settingsOf, withSettings } from './environment-file.ts'
import { unitText, user } from './layout.ts'
import type { Layout } from './layout.ts'
import { engineState } from './machine.ts'
import type { Machine } from './machine.ts'
import { missing } from './judge.ts'
import { installPackages, packagesFor } from './packages.ts'
import { run } from './run.ts'
import { runsCurrent, startService, stopService } from './service.ts'
import type { Step } from './steps.ts'
import { refuseFull } from './upgrade/candidate.ts'

export type InstallPlan = {
  layout: Layout
  machine: Machine
  /** The executable to install. */
  source: string
  /** The version of the existing executable; null if there is none that runs. */
  installed: string | null
  /** Other settings in the file are kept. */
  settings: Record<string, string>
  /** The address at which Davit listens. */
  origin: string
}

/** In order of dependency. */
export function installSteps(plan: InstallPlan): Step[] {
  return [
    packages(plan),
    docker(plan),
    account(plan),
    home(plan),
    executable(plan),
    settingsFile(plan),
    unit(plan),
    start(plan),
  ]
}

function packages({ machine }: InstallPlan): Step {
  const manager = machine.distribution.packages ?? 'apt-get'
  const names = packagesFor(manager, missing(machine))
  return {
    does: `Install ${names.join(', ')} with ${manager}`,
    isDone: () => names.length === 0,
    act: (work) => installPackages(manager, names, work),
  }
}

function docker({ machine }: InstallPlan): Step {
  return {
    does: 'Start Docker, now and at each boot',
    isDone: () => machine.engine.state === 'running',
    async act(work) {
      const todo = 'Check Docker’s log: journalctl -u docker. Then run davit install again.'
      await run({ ...work, todo, minutes: 3, argv: ['systemctl', 'enable', '--now', 'docker'] })
      const deadline = Date.now() + 60_000
      let engine = await engineState()
      while (engine.state !== 'running') {
        if (Date.now() > deadline)
          throw new Failure('engine_unreachable', 'Docker runs, but doesn’t respond.', todo)
        await sleep(250, undefined, { signal: work.signal })
        engine = await engineState()
      }
      if (Number.parseFloat(engine.apiVersion) < oldestApi)
        throw new Failure(
          'engine_too_old',
          `Docker ${engine.version} of this distribution is too old.`,
          'Install 20.10 or newer, then run davit install again.',
        )
    },
  }
}

const account = ({ layout }: InstallPlan): Step => ({
  does: `Create the user ${user}, who may use Docker`,
  isDone: () => hasUser() && mayUseDocker(),
  act: (work) => createUser(layout, work),
})

function home({ layout }: InstallPlan): Step {
  return {
    does: `Create ${layout.home}, where everything is stored`,
    isDone: () => existsSync(layout.home) && statSync(layout.home).uid === systemUser()?.uid,
    async act() {
      const { uid, gid } = systemUser()!
      mkdirSync(layout.home, { recursive: true, mode: 0o700 })
      chownSync(layout.home, uid, gid)
    },
  }
}

/**
 * Upgrades an installation that was in use with its own davit upgrade, even while it is
 * stopped: it knows its database, and is restored if the new version fails.
 */
function executable(plan: InstallPlan) {
  const { settings, unit, data } = plan.layout
  const wasUsed = [settings, unit, join(data, 'davit.db')].every((path) => existsSync(path))
  return plan.installed !== null && wasUsed ? upgraded(plan) : copied(plan)
}

const upgraded = ({ layout, source, installed }: InstallPlan): Step => ({
  does: `Upgrade Davit ${installed} to ${version} by davit upgrade`,
  parts: [
    `Back its data up to ${layout.upgrades}`,
    'Stop it, and copy its database',
    `Replace ${layout.executable}, which stays as ${layout.executable}.previous`,
    'Start it, and put both back unless it responds',
  ],
  isDone: () => isSame(source, layout.executable),
  async act(work) {
    const argv = ['davit', 'upgrade', source, '--force', '--sha256', await hashOf(source)] as const
    const todo = 'See journalctl -u davit.'
    await run({ ...work, todo, minutes: 30, argv: [...argv], file: layout.executable })
  },
  restarts: true,
})

export function copied({
  layout,
  source,
  installed,
}: Pick<InstallPlan, 'layout' | 'source' | 'installed'>): Step {
  const target = layout.executable
  const previous = `${target}.replaced`
  const draft = `${target}.new` // in the same folder, so that it gets that folder's security label
  const wasThere = existsSync(target)
  return {
    does: wasThere
      ? `Replace ${target} (${installed ?? 'damaged'}) by this executable (${version})`
      : `Copy this executable to ${target}`,
    isDone: async () => wasThere && (await isSame(source, target)),
    async act() {
      mkdirSync(dirname(target), { recursive: true })
      await refuseFull(dirname(target), statSync(source).size, {
        what: 'The executable',
        todo: 'Free some space, then run davit install again.',
      })
      rmSync(previous, { force: true })
      if (wasThere) linkSync(target, previous)
      copyFileSync(source, draft)
      chmodSync(draft, 0o755)
      sync(draft)
      renameSync(draft, target)
    },
    async undo() {
      rmSync(draft, { force: true })
      if (existsSync(previous)) renameSync(previous, target)
      else if (!wasThere) rmSync(target, { force: true })
      rmSync(previous, { force: true }) // renameSync does nothing while both are the same file
    },
  }
}

const firstSettings = `# Settings of Davit; its page /docs/settings lists them all.
# After a change: systemctl restart davit
`

function settingsFile({ layout, settings }: InstallPlan): Step {
  const before = settingsIn(layout)
  const current = settingsOf(before ?? '')
  const changes = Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => current[name] !== value),
  )
  const after = withSettings(before ?? firstSettings, changes)
  return {
    does: `Write ${layout.settings}: ${describeSettings(changes)}`,
    isDone: () => before === after,
    async act() {
      mkdirSync(dirname(layout.settings), { recursive: true, mode: 0o755 })
      writeFileAtomically(layout.settings, after)
    },
    undo: () => putBack(layout.settings, before),
  }
}

const describeSettings = (settings: Record<string, string>) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

function unit({ layout }: InstallPlan): Step {
  const before = read(layout.unit)
  return {
    does: `Write ${layout.unit}`,
    isDone: () => before === unitText(layout),
    async act() {
      writeFileAtomically(layout.unit, unitText(layout))
      chmodSync(layout.unit, 0o644)
    },
    undo: () => putBack(layout.unit, before),
  }
}

function start({ layout, machine, origin }: InstallPlan): Step {
  const { isActive, isEnabled } = machine.service
  return {
    does: `${isActive ? 'Restart Davit' : 'Start Davit, now and at each boot'}, and wait until it responds`,
    isDone: async (left) =>
      left.every(({ restarts }) => restarts) &&
      (left.length > 0 ? isEnabled : await runsCurrent(layout)),
    async act(work) {
      await startService(origin, work)
      rmSync(`${layout.executable}.replaced`, { force: true })
    },
    undo: async (work) => (isActive ? undefined : stopService(work)),
  }
}

async function putBack(path: string, before: string | null) {
  if (before === null) rmSync(path, { force: true })
  else writeFileAtomically(path, before)
}

function read(path: string) {
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

async function isSame(one: string, other: string) {
  if (statSync(one).size !== statSync(other).size) return false
  return (await hashOf(one)) === (await hashOf(other))
}

async function hashOf(path: string) {
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk)
  return hasher.digest('hex')
}
