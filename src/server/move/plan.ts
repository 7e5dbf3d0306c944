import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { installationIn } from '../../db/copy.ts'
import type { Db } from '../../db/index.ts'
import { refuseMissing } from '../../db/failures.ts'
import { planIn } from '../../doctor/current.ts'
import { connectDocker } from '../../docker/index.ts'
import { version } from '../../platform/root.ts'
import { ownPorts } from '../../addresses/host-ports.ts'
import { listServers } from '../../servers/store.ts'
import { asDavit } from '../accounts.ts'
import { settingsOf } from '../environment-file.ts'
import { configOf } from '../installed.ts'
import type { Layout } from '../layout.ts'
import { localEngine, refuseOtherEngine } from '../machine.ts'
import { chooseVolumes, contentsOf, sizeOf } from './contents.ts'
import type { Choice } from './contents.ts'
import { userNamespaceOf } from './facts.ts'
import { judgeOthers } from './judge.ts'
import { nameOf } from './remote.ts'
import type { Destination, Remote } from './remote.ts'
import { knownRepository } from './repository.ts'
import { settingFiles } from './settings.ts'
import { withDatabase } from './visit.ts'

export type MovePlan = Awaited<ReturnType<typeof planMove>>

type Planning = { layout: Layout; destination: Destination; choice: Choice; remote: Remote }

/** Inspects both servers; changes nothing. */
export async function planMove(planning: Planning) {
  const { layout, destination, remote } = planning
  const config = configOf(layout)
  refuseOtherEngine(config, 'davit move', 'Use davit backup here, and davit restore there.')
  refuseMissing(config.dataDir)
  const instanceId = asDavit(() => installationIn(join(config.dataDir, 'davit.db')))?.id ?? ''
  const info = await connectDocker(localEngine).info()
  const ports = await withDatabase(layout, (db) => portsOf(config, db))
  const settings = settingsOf(readFileSync(layout.settings, 'utf8'))
  /** Lists everything to copy: it may have changed since. */
  const look = () => listHere({ ...planning, instanceId })
  const listed = await look()
  const { images } = listed.contents
  const found = await remote.ask({
    ask: 'look',
    needs: {
      ...{ host: nameOf(destination), version, arch: process.arch, instanceId, ports },
      ...{ files: settingFiles(settings), repository: knownRepository(layout) },
      ...{ userNamespace: userNamespaceOf(info), hasContainerdStore: info.containerdStore },
      ...{ volumes: sizeOf(listed.groups), data: dataSize(config) },
      images: images.map(({ id, size, tag }) => ({ id, size, tag })),
    },
  })
  const others = await withDatabase(layout, (db) => listServers(db).slice(1))
  const findings = [...judgeOthers(others.map(({ name }) => name)), ...found.findings]
  return {
    ...{ layout, config, settings, destination, instanceId },
    ...{ found: { ...found, findings }, ...listed, look },
  }
}

/** Of Davit's Caddy, which a domain of an app needs too. The new server has its own setting for Davit's port. */
function portsOf(config: Config, db: Db) {
  const { hosts, listeners } = planIn(db, config)
  const isNeeded = config.edge === 'auto' && hosts.length + listeners.length > 0
  return isNeeded ? Object.values(config.edgePorts) : ownPorts(config).slice(1)
}

async function listHere({ layout, choice, instanceId }: Planning & { instanceId: string }) {
  const docker = connectDocker(localEngine)
  const contents = await withDatabase(layout, (db) => contentsOf({ db, docker, instanceId }))
  /** The same groups with only the chosen volumes. */
  const groups = chooseVolumes(contents.groups, choice)
  return { contents, groups }
}

const dataSize = ({ dataDir }: Config) =>
  ['davit.db', 'davit.db-wal', 'logs.db', 'logs.db-wal']
    .map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
