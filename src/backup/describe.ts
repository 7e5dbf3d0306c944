import { join } from 'node:path'
import type { Config } from '../config.ts'
import { installationIn } from '../db/copy.ts'
import { openExisting } from '../db/index.ts'
import type { Db } from '../db/index.ts'
import { lookForDeployments } from '../deployments/look-for-deployments.ts'
import type { ObservedDeployments } from '../deployments/look-for-deployments.ts'
import type { Deployment } from '../deployments/store.ts'
import { connectDocker, Engines } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { lookForServices } from '../services/recover.ts'
import { bytes, counted } from '../web/units.ts'
import type { FileName, Manifest } from './format.ts'

const shown = ['user', 'project', 'environment', 'variable', 'service', 'deployment']

/** Contains no secret. */
export function describeContents({ davit, createdAt, key, settings, files }: Manifest) {
  const rows = files.find(({ name }) => name === 'davit.db')?.rows ?? {}
  const names = Object.keys(settings)
  return [
    `  made      ${createdAt} by Davit ${davit}`,
    `  state     ${shown.map((name) => counted(rows[`${name}s`] ?? 0, name)).join(', ')}`,
    `  key       ${key === 'file' ? 'the key file' : describeKey(names)}`,
    `  settings  ${names.length > 0 ? names.join(', ') : 'none were set'}`,
    `  logs      ${sizeOf(files, 'logs.db')}`,
    `  https     ${sizeOf(files, 'certificates.tar')}`,
  ]
}

const describeKey = (settings: string[]) =>
  settings.includes('DAVIT_SECRET_KEY')
    ? 'the setting DAVIT_SECRET_KEY'
    : 'not included: it is set as DAVIT_SECRET_KEY'

function sizeOf(files: Manifest['files'], name: FileName) {
  const found = files.find((file) => file.name === name)
  return found ? bytes(found.size) : 'left out'
}

/** Describes what the next server will find still running, and what it will start. */
export async function describeOutlook({
  dataDir,
  dockerHost,
}: Pick<Config, 'dataDir' | 'dockerHost'>) {
  const path = join(dataDir, 'davit.db')
  const db = openExisting(path)
  using _ = db.$client
  const docker = connectDocker({ host: dockerHost })
  try {
    return await outlookOf({ db, docker, instanceId: installationIn(path)!.id })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [`  running containers are looked for at the start. ${error.message}`]
  }
}

export async function outlookOf(of: { db: Db; docker: Docker; instanceId: string }) {
  const look = { ...of, engines: new Engines([of.docker]) }
  const { seen } = await lookForDeployments(look)
  const services = await lookForServices(look)
  const lines = [...seen.flatMap(describeDeployment), ...services.flatMap(describeService)]
  return lines.length > 0 ? lines : ['  there is nothing to look for at the start']
}

function describeDeployment({ found }: ObservedDeployments) {
  if (!found) return []
  const { job, outlook } = found
  const name = `${job.project.name}, ${job.environment.name}`
  if (outlook.kind === 'coming') return []
  if (outlook.kind === 'away')
    return [`  unknown   ${name}: looked for on the other servers at the start`]
  if (outlook.kind !== 'again')
    return outlook.containers.map((container) => {
      const known = outlook.kind === 'found' ? container.state : 'newer than the backup'
      return `  found     ${name}: container ${container.name}, ${known}`
    })
  return [`  missing   ${name}: ${howAgain(job.deployment, outlook)}`]
}

/** Images aren't in a backup. */
function howAgain(
  { upload, pullReference, commitHash }: Deployment,
  { fromImage }: { fromImage: boolean },
) {
  if (fromImage) return 'deployed at the start, from its image'
  if (upload)
    return 'can’t be deployed, as its uploaded files are gone: send them with davit deploy'
  if (pullReference) return `deployed at the start, from ${pullReference}, if that can be pulled`
  const commit = commitHash && ` from commit ${commitHash.slice(0, 7)}, if its repository has that`
  return `deployed at the start, rebuilt${commit ?? ''}`
}

function describeService({
  service,
  isAway,
  at,
}: Awaited<ReturnType<typeof lookForServices>>[number]) {
  if (!service) return []
  const { name } = service
  if (isAway) return [`  unknown   service ${name}: looked for on the other servers at the start`]
  if (at !== null) return [`  found     service ${name}`]
  return [`  missing   service ${name}: created again, with the volumes that Docker has`]
}
