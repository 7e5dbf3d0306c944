import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseConfig } from '../config.ts'
import { connectDocker } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { openCurrent } from '../doctor/current.ts'
import { Failure } from '../platform/errors.ts'
import { counted } from '../web/units.ts'
import { asDavit, hasUser } from './accounts.ts'
import { settingsOf } from './environment-file.ts'
import { layoutIn, user } from './layout.ts'
import type { Layout } from './layout.ts'
import { localEngine, refuseOtherEngine } from './machine.ts'
import { removeAll } from './move/discard.ts'
import { removeGuard } from './move/guard.ts'
import { run } from './run.ts'
import { reload, serviceState, stopService } from './service.ts'
import { stepsLeft } from './steps.ts'
import type { Step } from './steps.ts'
import { installationOf, namesOf, unlessDamaged } from './store.ts'
import { finishing } from './upgrade/finish.ts'
import { placesOf } from './upgrade/journal.ts'
import { refuseDuringUpgrade } from './locks.ts'
import { removeDropIn } from './upgrade/unit.ts'

/** What to remove in addition to Davit itself. */
export type Extent = { data: boolean; apps: boolean }

/** The remaining steps, and what the operator would lose; changes nothing. Throws while an upgrade runs. */
export async function planUninstall(extent: Extent) {
  const layout = layoutIn()
  refuseDuringUpgrade(layout)
  if (extent.apps && existsSync(layout.settings))
    refuseOtherEngine(
      engineIn(layout),
      'davit uninstall --apps',
      'Delete the projects and services in Davit first, then leave out --apps.',
    )
  const instanceId = installationOf(layout.data)
  const steps = await stepsLeft([
    finishing(layout),
    stop(layout),
    ...(extent.apps && instanceId ? [apps(instanceId)] : []),
    unit(layout),
    ...(extent.data ? [files(layout), noUser()] : []),
    executable(layout), // last: it is needed to finish an interrupted removal
  ])
  return { steps, lost: asDavit(() => lossesOf(layout, extent)), instanceId }
}

/** Reads only what it needs: other settings may be invalid. */
function engineIn({ settings, data }: Layout) {
  const { DOCKER_HOST } = settingsOf(readFileSync(settings, 'utf8'))
  return parseConfig({ DAVIT_DATA_DIR: data, DOCKER_HOST })
}

/** One line for each kind. */
export function lossesOf({ data }: Layout, extent: Extent) {
  const names = unlessDamaged(() => namesIn(data))
  if (!names) return extent.data && existsSync(data) ? [`everything in ${data}`] : []
  const all = [listed(names.projects, 'project'), listed(names.services, 'service')].flatMap(
    (text) => text ?? [],
  )
  return [
    ...(extent.apps
      ? all.map((text) => `${text}: containers, images and volumes with their data`)
      : []),
    ...(extent.data ? ['users, settings, deployments, logs and secrets'] : []),
    ...(extent.data && !extent.apps && all.length > 0
      ? [`control over ${all.join(' and ')}, which run on`]
      : []),
  ]
}

function namesIn(dataDir: string) {
  using opened = openCurrent({ dataDir })
  return opened && namesOf(opened.db)
}

function listed(rows: { name: string }[], kind: string) {
  if (rows.length === 0) return null
  const names = rows.slice(0, 20).map(({ name }) => name)
  const more = rows.length > names.length ? ', …' : ''
  return `${counted(rows.length, kind)} (${names.join(', ')}${more})`
}

const stop = (layout: Layout): Step => ({
  does: 'Stop Davit, and no longer start it at boot',
  async isDone() {
    const { isActive, isEnabled } = await serviceState()
    return !isActive && !isEnabled && !existsSync(layout.unit)
  },
  act: stopService,
})

function apps(instanceId: string): Step {
  const docker = connectDocker(localEngine)
  return {
    does: 'Remove all apps and services, their images and their volumes',
    isDone: () => isAllGone(docker, instanceId),
    async act({ say }) {
      const removed = await removeAll(instanceId)
      say(`    ${counted(removed.length, 'object')} removed from Docker`)
    },
  }
}

/** Of each kind: an interrupted removal leaves only the images and networks of what has no volumes. */
export async function isAllGone(docker: Listing, instanceId: string) {
  const labels = labelFilter(instanceId)
  const found = await Promise.all([
    docker.listContainers({ labels, all: true }),
    docker.listImages({ labels }),
    docker.listNetworks({ labels }),
    docker.listVolumes({ labels }),
  ])
  return found.every((all) => all.length === 0)
}

type Listing = Pick<Docker, 'listContainers' | 'listImages' | 'listNetworks' | 'listVolumes'>

const unit = (layout: Layout): Step => ({
  does: `Remove ${layout.unit}`,
  isDone: () => !existsSync(layout.unit),
  async act(work) {
    removeDropIn(placesOf(layout))
    removeGuard(layout)
    rmSync(layout.unit, { force: true })
    await reload(work)
  },
})

export function files({ home, settings, upgrades, moves }: Layout): Step {
  const folders = [home, dirname(settings), upgrades, moves]
  return {
    does: `Remove ${folders.slice(0, -1).join(', ')} and ${folders.at(-1)}`,
    isDone: () => folders.every(isEmptied),
    async act() {
      for (const folder of folders) removeFolder(folder)
    },
  }
}

/**
 * Removes a folder and its contents, and if it is a link, also the link's
 * target. A mount point can't be removed and stays, empty.
 */
function removeFolder(path: string) {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink()) {
    const target = targetOf(path)
    if (target !== null) removeTree(target)
  }
  removeTree(path)
}

/** True when only mount points are left. */
function isEmptied(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return true
  return found.isDirectory() && readdirSync(path).every((name) => isEmptied(join(path, name)))
}

function removeTree(path: string) {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    // rmSync stops at the first mount point: remove the rest
    for (const name of readdirSync(path)) removeTree(join(path, name))
  }
}

function targetOf(link: string) {
  try {
    return realpathSync(link)
  } catch {
    return null // a broken link
  }
}

/** With --force also while a connection of that user is still open. */
export const noUser = (...options: '--force'[]): Step => ({
  does: `Remove the user ${user}`,
  isDone: () => !hasUser(),
  async act(work) {
    if (!hasUser()) return
    const todo = 'End what runs as that user, then run the same command again.'
    await run({ ...work, todo, argv: ['userdel', ...options, user] })
  },
})

export function executable({ executable }: Layout): Step {
  const kept = ['.previous', '.keeper', '.previous.new', '.keeper.new']
  const all = ['.new', '.replaced', ...kept, ''].map((ending) => executable + ending)
  return {
    does: `Remove ${executable}`,
    isDone: () => !all.some((path) => existsSync(path)),
    async act() {
      for (const path of all) rmSync(path, { force: true })
    },
  }
}

/** Throws unless root runs it on a server with systemd. */
export function refuseElsewhere() {
  if (process.getuid?.() !== 0)
    throw new Failure('not_root', 'You aren’t root.', 'Run it as root: sudo davit uninstall.')
  if (!existsSync('/run/systemd/system'))
    throw new Failure(
      'no_systemd',
      'systemd doesn’t run this machine, so davit install can’t have been used here.',
      'Stop Davit the way you start it, and remove its executable and data directory.',
    )
}
