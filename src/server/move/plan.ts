import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { installationIn } from '../../db/copy.ts'
import { refuseMissing } from '../../db/failures.ts'
import { connectDocker } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { ownPorts } from '../../addresses/host-ports.ts'
import type { Judged } from '../judge.ts'
import { asDavit } from '../accounts.ts'
import { settingsOf } from '../environment-file.ts'
import type { Layout } from '../layout.ts'
import { localEngine, refuseOtherEngine } from '../machine.ts'
import { refuseOtherExecutable } from '../upgrade/upgrade.ts'
import { settingFiles } from './arrive.ts'
import { chooseVolumes, contentsOf } from './contents.ts'
import type { Choice, Contents, Group } from './contents.ts'
import { configOf, lacksOf, userNamespaceOf } from './facts.ts'
import { judgeMove } from './judge.ts'
import type { Facts } from './messages.ts'
import { nameOf } from './remote.ts'
import type { Destination, Remote } from './remote.ts'
import { withDatabase } from './visit.ts'

/** Everything to copy. */
export type Found = {
  contents: Contents
  /** The same groups with only the chosen volumes. */
  groups: Group[]
  /** Images that the new server lacks. */
  images: Contents['images']
}

export type MovePlan = Found & {
  layout: Layout
  config: Config
  settings: Record<string, string>
  destination: Destination
  instanceId: string
  facts: Facts
  findings: Judged[]
  /** Lists everything again: it may have changed since. */
  look: () => Promise<Found>
}

/** Throws unless `davit install` installed this server and root runs the command. */
export function refuseOtherThanInstalled(layout: Layout) {
  if (process.getuid?.() !== 0)
    throw new Failure('not_root', 'Only root can move Davit.', 'Run it with sudo.')
  const lacks = lacksOf(layout)
  if (lacks !== null)
    throw new Failure(
      'not_installed',
      `Davit wasn’t installed here by davit install: ${lacks}.`,
      'Use davit backup here, and davit restore there.',
    )
  refuseOtherExecutable(layout, process.execPath)
}

type Planning = { layout: Layout; destination: Destination; choice: Choice; remote: Remote }

/** Inspects both servers; changes nothing. */
export async function planMove(planning: Planning): Promise<MovePlan> {
  const { layout, destination, remote } = planning
  const config = configOf(layout)
  refuseOtherEngine(config, 'davit move', 'Use davit backup here, and davit restore there.')
  refuseMissing(config.dataDir)
  const instanceId = asDavit(() => installationIn(join(config.dataDir, 'davit.db')))?.id ?? ''
  const info = await connectDocker(localEngine).info()
  const ports = ownPorts(config).slice(1) // the new server has its own setting for Davit's port
  const settings = settingsOf(readFileSync(layout.settings, 'utf8'))
  const files = settingFiles(settings)
  const look = { ask: 'look', ports, instanceId, files: files.map(({ path }) => path) } as const
  const facts = await remote.ask(look)
  const isThere = facts.isRoot && facts.lacks === null && facts.engine !== null
  const lookAgain = () => lookHere({ ...planning, instanceId, isThere })
  const found = await lookAgain()
  const findings = judgeMove(facts, {
    ...{ host: nameOf(destination), groups: found.groups },
    images: found.images.reduce((sum, { size }) => sum + size, 0),
    data: dataSize(config),
    userNamespace: userNamespaceOf(info),
    hasContainerdStore: info.containerdStore,
    files,
  })
  const about = { layout, config, settings, destination, instanceId, facts, findings }
  return { ...about, ...found, look: lookAgain }
}

type Looking = Planning & { instanceId: string; isThere: boolean }

async function lookHere({ layout, choice, remote, instanceId, isThere }: Looking): Promise<Found> {
  const docker = connectDocker(localEngine)
  const contents = await withDatabase(layout, (db) => contentsOf({ db, docker, instanceId }))
  const groups = chooseVolumes(contents.groups, choice)
  const ids = contents.images.map(({ id }) => id)
  const { missing } = isThere ? await remote.ask({ ask: 'has', images: ids }) : { missing: ids }
  const images = contents.images.filter(({ id }) => missing.includes(id))
  return { contents, groups, images }
}

const dataSize = ({ dataDir }: Config) =>
  ['davit.db', 'davit.db-wal', 'logs.db', 'logs.db-wal']
    .map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
